"""What repositories and charts try against the machine that renders them, with the real kustomize and helm in every cage.

Beside the source lies a victim, and a server listens on loopback. Neither may show in what comes out, and the server hears nothing.
"""

from __future__ import annotations

import functools
import io
import tarfile
import tempfile
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tenantry.manifests import artifact, cage, helm, kustomize, programs
from tenantry.manifests.cage import OPEN, Cage
from tenantry.manifests.model import Inputs, NotRendered
from tenantry.tools import locate
from tests.processes.test_cage import NAMES, known
from tests.unit.importing.test_corpora import CORPORA

pytestmark = pytest.mark.e2e

STOLEN = "stolen-7f3a"


class _Handler(BaseHTTPRequestHandler):
    heard: list[str]

    def do_GET(self) -> None:
        self.heard.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"kind: ConfigMap\napiVersion: v1\nmetadata: {{name: {STOLEN}}}\n".encode())

    def log_message(self, *_: object) -> None:
        pass


class Machine:
    """A source, and beside its copy what must not be reached."""

    def __init__(self, root: Path, port: int, heard: list[str]) -> None:
        self.root = root
        self.source = root / "cache" / "source"
        self.heard = heard
        self.port = port
        self.programs = {
            "kustomize": (str(locate.path_of("kustomize")), "build"),
            "helm": (str(locate.path_of("helm")),),
        }
        victim = f"kind: ConfigMap\napiVersion: v1\nmetadata: {{name: {STOLEN}}}\n"
        files = {
            "a.yaml": victim,
            "kustomization.yaml": "resources: [a.yaml]\n",
            "schema.json": f'{{"const": "{STOLEN}"}}',
        }
        self.write(files, root / "victim")

    def write(self, files: Mapping[str, str], root: Path | None = None) -> None:
        for path, content in files.items():
            file = (root or self.source) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            text = content.replace("PORT", str(self.port)).replace("VICTIM", str(self.root / "victim"))
            file.write_text(text.replace("ROOT", str(self.root)))

    def build(self, by: Cage) -> str:
        """What kustomize says, in the output or in the message."""
        try:
            return kustomize.build(self.source, {"path": "app"}, self.programs["kustomize"], by).decode()
        except NotRendered as refused:
            return f"refused: {refused}"

    def template(self, by: Cage, values: Mapping[str, object] | None = None) -> str:
        spec = {"values": values or {}, "postRenderers": [{"kustomize": {"patches": []}}]}
        app = {"kind": "HelmRelease", "metadata": {"name": "app"}, "spec": spec}
        inputs = Inputs(app=app, chart=None, source={}, name="")
        try:
            return str(helm.render(self.source, self.source, inputs, self.programs, by, upgrade=False).objects)
        except NotRendered as refused:
            return f"refused: {refused}"


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Copies for rendering lie in `tmp_path/copies/tenantry-.../source`, so `../../../../victim` leads out of an app."""
    heard: list[str] = []
    handler = type("Handler", (_Handler,), {"heard": heard})
    (tmp_path / "copies").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "copies"))
    monkeypatch.setenv("LEAKED_TOKEN", STOLEN)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield Machine(tmp_path, server.server_address[1], heard)
        server.shutdown()
        thread.join()


@pytest.fixture(params=NAMES)
def each_cage(request: pytest.FixtureRequest) -> Cage:
    if request.param not in known():
        pytest.skip(f"{request.param} does not work on this machine")
    return known()[request.param]


def generator(*files: str, kind: str = "ConfigMapGenerator") -> str:
    listed = "".join(f"\n    - {each}" for each in files)
    return f"generators:\n- |\n  apiVersion: builtin\n  kind: {kind}\n  metadata: {{name: x}}\n  files:{listed}\n"


def transformer(kind: str, rest: str) -> str:
    return f"resources: [a.yaml]\ntransformers:\n- |\n  apiVersion: builtin\n  kind: {kind}\n  metadata: {{name: x}}\n  {rest}\n"


FUNCTION = """\
resources: [a.yaml]
transformers:
- |
  apiVersion: example.com/v1
  kind: Thing
  metadata:
    name: x
    annotations:
      config.kubernetes.io/function: |
        %s
"""
BUILDS: dict[str, Mapping[str, str]] = {
    "a directory beside the source": {"kustomization.yaml": 'resources: ["../../../../victim"]'},
    "a file by its path": {"kustomization.yaml": "resources: [VICTIM/a.yaml]"},
    "a generator in a generator": {"kustomization.yaml": generator("../../../../victim/a.yaml")},
    "by its path": {"kustomization.yaml": generator("VICTIM/a.yaml")},
    "a generator of Secrets": {"kustomization.yaml": generator("VICTIM/a.yaml", kind="SecretGenerator")},
    "in one line": {
        "kustomization.yaml": 'generators: ["{apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: x}, files:'
        ' [VICTIM/a.yaml]}"]',
    },
    "in a file": {
        "kustomization.yaml": "generators: [g.yaml]",
        "g.yaml": "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: x}\nfiles: [VICTIM/a.yaml]\n",
    },
    "in a directory": {
        "kustomization.yaml": "generators: [d]",
        "d/kustomization.yaml": "resources: [g.yaml]",
        "d/g.yaml": "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: x}\nenvs: [VICTIM/a.yaml]\n",
    },
    "a generated generator": {
        "kustomization.yaml": "generators: [d]",
        "d/kustomization.yaml": "generators:\n- |\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n"
        "  metadata: {name: x}\n  files: [VICTIM/a.yaml]\n",
    },
    "its environment": {"kustomization.yaml": generator("/proc/self/environ")},
    "the environment of its parent": {"kustomization.yaml": generator("/proc/self/root/proc/1/environ")},
    "the working directory of others": {"kustomization.yaml": generator("/proc/self/cwd/../../../../victim/a.yaml")},
    "an open file": {"kustomization.yaml": generator("/proc/self/fd/1", "/dev/stdin")},
    "the password file": {"kustomization.yaml": generator("/etc/passwd", "/etc/hostname")},
    "a device": {"kustomization.yaml": generator("/dev/zero")},
    "loopback": {"kustomization.yaml": generator("http://127.0.0.1:PORT/x")},
    "loopback by name": {"kustomization.yaml": generator("http://localhost:PORT/x")},
    "loopback by IPv6": {"kustomization.yaml": generator("http://[::ffff:127.0.0.1]:PORT/x")},
    "loopback by a patch": {"kustomization.yaml": transformer("PatchTransformer", "path: http://127.0.0.1:PORT/x")},
    "loopback by a replacement": {
        "kustomization.yaml": transformer(
            "ReplacementTransformer", "replacements: [{path: 'http://127.0.0.1:PORT/x'}]"
        ),
    },
    "loopback by a merge": {
        "kustomization.yaml": transformer("PatchStrategicMergeTransformer", "paths: ['http://127.0.0.1:PORT/x']"),
    },
    "loopback by a base in a transformer": {
        "kustomization.yaml": "resources: [a.yaml]\ntransformers: [t]",
        "t/kustomization.yaml": "resources: ['http://127.0.0.1:PORT/x']",
    },
    "a repository": {"kustomization.yaml": "resources: ['git::http://127.0.0.1:PORT/x']"},
    "a file by a patch": {"kustomization.yaml": transformer("PatchTransformer", "path: VICTIM/a.yaml")},
    "a schema": {"kustomization.yaml": "openapi: {path: 'VICTIM/schema.json'}"},
    "a chart": {
        "kustomization.yaml": "helmCharts: [{name: x, repo: 'http://127.0.0.1:PORT'}]\nhelmGlobals: {chartHome: VICTIM}",
    },
    "a chart in a generator": {
        "kustomization.yaml": "generators:\n- |\n  apiVersion: builtin\n  kind: HelmChartInflationGenerator\n"
        "  metadata: {name: x}\n  name: x\n  repo: http://127.0.0.1:PORT\n",
    },
    "a program": {"kustomization.yaml": FUNCTION % "exec: {path: ./run.sh}", "run.sh": "#!/bin/sh\ntouch ROOT/ran\n"},
    "a container": {"kustomization.yaml": FUNCTION % "container: {image: x, network: true}"},
    "a plugin": {
        "kustomization.yaml": "generators: [p.yaml]",
        "p.yaml": "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x}\n",
        "kustomize/plugin/example.com/v1/thing/Thing": "#!/bin/sh\ntouch ROOT/ran\n",
    },
}


@pytest.mark.parametrize("attack", BUILDS)
def test_a_repository_reaches_nothing_beside_it(machine: Machine, each_cage: Cage, attack: str) -> None:
    own = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: own}\n"
    machine.write({"app/a.yaml": own, **{f"app/{path}": content for path, content in BUILDS[attack].items()}})
    for path in machine.source.rglob("*"):
        path.chmod(0o755)
    said = machine.build(each_cage)
    assert said.startswith("refused: "), said
    harmless(machine, said)


def harmless(machine: Machine, said: str) -> None:
    assert STOLEN not in said
    assert "root:" not in said
    assert machine.heard == []
    assert not (machine.root / "ran").exists()


CHART = {"Chart.yaml": "apiVersion: v2\nname: app\nversion: 1.0.0\n", "templates/a.yaml": "# nothing\n"}


def schema(reference: str) -> dict[str, str]:
    return {"values.schema.json": f'{{"properties": {{"a": {{"$ref": "{reference}"}}}}}}'}


def template(text: str) -> dict[str, str]:
    return {
        "templates/a.yaml": f"kind: ConfigMap\napiVersion: v1\nmetadata: {{name: a}}\ndata: {{a: {{{{ {text} | quote }}}}}}\n"
    }


TEMPLATES: dict[str, Mapping[str, str]] = {
    "a schema of a file": schema("file://VICTIM/schema.json"),
    "a schema by a path": schema("VICTIM/schema.json"),
    "a schema by a way out": schema("../../../victim/schema.json"),
    "a schema of a server": schema("http://127.0.0.1:PORT/schema.json"),
    "a schema of a schema": {
        **schema("file:values.schema.json"),
        "other.json": '{"$ref": "file://VICTIM/schema.json"}',
        "charts/sub/Chart.yaml": "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
        "charts/sub/values.schema.json": '{"allOf": [{"$ref": "http://localhost:PORT/x"}]}',
    },
    "a schema by its name": {"values.schema.json": '{"$schema": "http://127.0.0.1:PORT/x"}'},
    "a schema of its environment": schema("file:///proc/self/environ"),
    "a file": template('.Files.Get "../../../victim/a.yaml"'),
    "files": template('toString (.Files.Glob "../../../victim/**").AsConfig'),
    "a file by its path": template('.Files.Get "VICTIM/a.yaml"'),
    "lines": template('toString (.Files.Lines "/proc/self/environ")'),
    "a name": template('getHostByName "localhost"'),
    "a variable": template('env "LEAKED_TOKEN"'),
    "an expanded variable": template('expandenv "$LEAKED_TOKEN"'),
    "a cluster": template('toString (lookup "v1" "Secret" "" "")'),
    "a dependency": {
        "Chart.yaml": f"{CHART['Chart.yaml']}dependencies: [{{name: x, version: 1.0.0, repository: 'file://VICTIM'}}]\n",
    },
    "a dependency of a server": {
        "Chart.yaml": f"{CHART['Chart.yaml']}dependencies: [{{name: x, version: 1.0.0, repository: 'http://127.0.0.1:PORT'}}]\n",
    },
    "a plugin": {
        "plugins/x/plugin.yaml": "name: x\nversion: 1.0.0\ncommand: touch ROOT/ran\nhooks: {install: touch ROOT/ran}\n",
        **template('print "x"'),
    },
}


@pytest.mark.parametrize("attack", TEMPLATES)
def test_a_chart_reaches_nothing_beside_it(machine: Machine, each_cage: Cage, attack: str) -> None:
    machine.write({**CHART, **TEMPLATES[attack]})
    said = machine.template(each_cage, {"a": "b"})
    assert "127.0.0.1'" not in said
    harmless(machine, said)


def test_without_a_cage_they_would_reach_it(machine: Machine) -> None:
    """The same attacks succeed if the user trusts the sources, so the tests above can fail."""
    machine.write({f"app/{path}": content for path, content in BUILDS["loopback"].items()})
    assert STOLEN in machine.build(OPEN)
    machine.write({f"app/{path}": content for path, content in BUILDS["by its path"].items()})
    assert STOLEN in machine.build(OPEN)
    machine.write({**CHART, **TEMPLATES["a schema of a server"]})
    machine.template(OPEN, {"a": "b"})
    machine.write({**CHART, **TEMPLATES["a schema of a file"]})
    assert STOLEN in machine.template(OPEN, {"a": "b"})
    assert machine.heard == ["/x", "/schema.json"]


ENDLESS = {
    "a loop": "{{ range $i := until 2000000000 }}{{ end }}",
    "loops": "{{ range $i := until 30000 }}{{ range $j := until 30000 }}{{ end }}{{ end }}",
    "a recursion": '{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}',
    "much text": '{{ range $i := until 100000 }}{{ repeat 100000 "x" }}{{ end }}',
    "one text": '{{ repeat 2000000000 "xxxxxxxxxx" }}',
}


@pytest.mark.parametrize("text", ENDLESS)
def test_a_template_without_end_ends(
    machine: Machine, each_cage: Cage, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cage.programs, "run", functools.partial(programs.run, seconds=1.5))
    machine.write({**CHART, "templates/a.yaml": f"a: {ENDLESS[text]}\n"})
    assert machine.template(each_cage).startswith("refused: helm: ")


def test_a_packed_chart_that_unpacks_to_very_much_is_refused(machine: Machine, each_cage: Cage) -> None:
    machine.write(CHART)
    (machine.source / "charts").mkdir()
    with tarfile.open(machine.source / "charts" / "sub-1.0.0.tgz", "w:gz", compresslevel=9) as made:
        content = tarfile.TarInfo("sub/Chart.yaml")
        text = b"apiVersion: v2\nname: sub\nversion: 1.0.0\n"
        content.size = len(text)
        made.addfile(content, io.BytesIO(text))
        for number in range(40):
            bomb = tarfile.TarInfo(f"sub/files/{number}")
            bomb.size = 4 * 2**20
            made.addfile(bomb, io.BytesIO(bytes(bomb.size)))
    assert "refused: helm: " in machine.template(each_cage)


def test_links_of_a_source_are_not_taken(machine: Machine, each_cage: Cage) -> None:
    """Neither those of a repository nor, if they came with it, those in the copy that is rendered."""
    own = {
        "a.yaml": "kind: ConfigMap\napiVersion: v1\nmetadata: {name: own}\n",
        "kustomization.yaml": "resources: [a.yaml, l]",
    }
    machine.write({f"app/{path}": content for path, content in own.items()})
    (machine.source / "app" / "l").symlink_to(machine.root / "victim")
    assert machine.build(each_cage) == (
        "refused: app/kustomization.yaml: resources[1]: 'l' is not a file or directory of the source; links and remote"
        " bases are not followed"
    )
    taken = machine.root / "taken"
    artifact.take(machine.source, taken, None, ("git",))
    assert not (taken / "app" / "l").exists()
    # A link that is there all the same leads nowhere in a cage.
    (machine.source / "app" / "kustomization.yaml").write_text("resources: [a.yaml]\n")
    command = [*machine.programs["kustomize"], "--load-restrictor=LoadRestrictionsNone", "app/l"]
    with pytest.raises(NotRendered) as refused:
        each_cage.run(command, machine.source, {})
    harmless(machine, str(refused.value))


def test_files_of_the_source_are_reached_wherever_they_are(machine: Machine, each_cage: Cage) -> None:
    """As Flux allows it: a patch, a file of a generator and a resource from another directory of the source."""
    machine.write(
        {
            "app/kustomization.yaml": "resources: [../shared/own.yaml]\npatches: [{path: ../shared/patch.yaml}]\n"
            "configMapGenerator: [{name: made, files: [../shared/text]}]\n",
            "shared/own.yaml": "kind: ConfigMap\napiVersion: v1\nmetadata: {name: own}\n",
            "shared/patch.yaml": "kind: ConfigMap\napiVersion: v1\nmetadata: {name: own}\ndata: {a: patched}\n",
            "shared/text": "hello",
        }
    )
    said = machine.build(each_cage)
    assert "a: patched" in said
    assert "text: hello" in said


BUILT = [
    (case, file.stem)
    for case in ("flux2-multi-tenancy", "course")
    for file in sorted((CORPORA / case / "built").glob("*.yaml"))
]


@pytest.mark.parametrize(("case", "name"), BUILT)
def test_import_builds_in_a_cage_what_kustomize_builds_without(case: str, name: str) -> None:
    source = CORPORA / case / "input"
    (directory,) = (each for each in source.rglob("*") if "_".join(each.relative_to(source).parts) == name)
    program = (str(locate.path_of("kustomize")), "build")
    built = kustomize.build_part(source, directory, program, cage.working_cage())
    assert built == (CORPORA / case / "built" / f"{name}.yaml").read_bytes()
