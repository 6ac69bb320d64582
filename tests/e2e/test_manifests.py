"""`tenantry diff --manifests` with the real git, kustomize and helm: every kind of source is fetched, and rendered as Flux does.

Only the sandbox's content server runs, so these tests take seconds.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tenantry.cli.app import run
from tenantry.sandbox import buckets, registry, repositories
from tenantry.sandbox.layout import Layout
from tenantry.sandbox.server import listen
from tenantry.tools import locate

pytestmark = pytest.mark.e2e

WEB = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data: {domain: "${DOMAIN}", color: COLOR}
"""
CHART = "apiVersion: v2\nname: app\nversion: VERSION\n"
DEPLOYMENT = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Release.Name }}-{{ .Chart.Version }}}
data: {size: {{ .Values.size | quote }}, home: {{ .Release.Namespace }}}
---
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: {{ randAlphaNum 20 | quote }}, size: {{ .Values.size | quote }}}
"""
OWN = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: own}
data: {values: {{ omit .Values "global" | toJson | quote }}, upgrade: {{ .Release.IsUpgrade | quote }}}
---
apiVersion: v1
kind: Pod
metadata: {name: test, annotations: {helm.sh/hook: test}}
"""
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec: {group: example.com, names: {kind: Thing, plural: things}, scope: Namespaced, versions: []}
"""


def write(root: Path, files: Mapping[str, str]) -> Path:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    return root


def chart(root: Path, version: str, **more: str) -> Path:
    files = {
        "Chart.yaml": CHART.replace("VERSION", version),
        "values.yaml": "size: 1\n",
        "templates/all.yaml": DEPLOYMENT,
    }
    return write(root / f"app-{version}", {**files, "crds/things.yaml": CRD, **more})


@dataclass
class Bench:
    """A fleet before and after, and the address of the content server."""

    root: Path
    url: str
    commit: str
    capsys: pytest.CaptureFixture[str]

    def fleet(self, sources: str, apps: str) -> str:
        port = self.url.rsplit(":", 1)[1]
        return (
            "apiVersion: tenantry/v1\n"
            "environments: {dev: {management: hub}}\n"
            f"clusters: {{hub: {{environments: [dev], variables: {{port: '{port}'}}}}}}\n"
            f"tenants:\n  rocky:\n    clusters: {{all: true}}\n    sources: {sources}\n    apps: {apps}\n"
        )

    def diff(self, before: str, after: str, *arguments: str) -> list[str]:
        """The lines of the section on manifests."""
        write(self.root, {"before.yaml": before, "tenants.yaml": after})
        code = run(["diff", "./before.yaml", "--manifests", *arguments])
        said, complaint = self.capsys.readouterr()
        assert code in (0, 1), complaint
        lines = said.splitlines()
        return lines[lines.index("what the manifests change") + 1 :]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address of the content server, and the first commit of its repository."""
    root = tmp_path_factory.mktemp("served")
    layout = Layout(root / "sandbox")
    source = write(
        root / "git/rocky/manifests",
        {
            "plain/web.yaml": WEB.replace("COLOR", "red"),
            "plain/.github/workflow.yaml": "on: push\n",
            "shared/kustomization.yaml": "resources: [../plain/web.yaml]\nnamePrefix: shared-\n",
            "outside/kustomization.yaml": "resources: [../../victim]\n",
            "built/base/web.yaml": WEB.replace("COLOR", "blue"),
            "built/base/kustomization.yaml": "resources: [web.yaml]\n",
            "remote/kustomization.yaml": "resources: ['https://example.com/x.yaml']\n",
            "patch/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\nnamePrefix: new-\n",
            "chart/Chart.yaml": CHART.replace("VERSION", "0.1.0"),
            "chart/templates/all.yaml": '{{ fail (printf "size %v" .Values.size) }}\n',
            "own/Chart.yaml": CHART.replace("VERSION", "0.2.0"),
            "own/values.yaml": "size: 1\nlost: true\n",
            "own/templates/all.yaml": OWN,
            "values/a.yaml": "size: 2\nmore: {one: a}\n",
            "values/b.yaml": "more: {two: b}\n",
            "leak/kustomization.yaml": "configMapGenerator: [{name: leak, files: [passwd]}]\n",
        },
    )
    (source / "leak/passwd").symlink_to("/etc/passwd")
    repositories.publish(root / "git", layout.git)
    repository = repositories.repository(layout.git, "rocky/manifests")
    first = git(repository.path, "rev-parse", "main")
    git(repository.path, "tag", "v1.0.0", first)
    repository.commit({"plain/web.yaml": WEB.replace("COLOR", "green")}, "green")
    git(repository.path, "tag", "-m", "annotated", "v1.1.0", "main")
    made = [chart(root / "charts", version) for version in ("1.0.0", "1.2.0", "2.0.0")]
    buckets.publish_charts(made, layout.charts)
    write(root / "oci/rocky/bundle", {"web.yaml": WEB.replace("COLOR", "grey")})
    registry.publish(made, root / "oci", layout.registry)
    with listen(layout, [0])[0] as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", first
        server.shutdown()
        thread.join()


def git(repository: Path, *arguments: str) -> str:
    variables = {**os.environ, **repositories.ISOLATED, **repositories.SIGNATURE}
    command = ["git", f"--git-dir={repository}", *arguments]
    return subprocess.run(command, env=variables, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def bench(
    served: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Bench:
    programs = locate.path_of("helm").parent  # in the cache that this test does not use
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TENANTRY_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return Bench(tmp_path, *served, capsys)


GIT = "{manifests: {git: {url: 'http://127.0.0.1:{port}/git/rocky/manifests.git', ref: REF}}}"
WEB_APP = "{web: {kustomize: {source: manifests, path: ./plain, postBuild: {substitute: {DOMAIN: a.example}}}}}"


@pytest.mark.parametrize("ref", ["{branch: main}", "{tag: v1.1.0}", "{semver: 1.x}", "{name: refs/tags/v1.1.0}"])
def test_every_ref_of_a_git_source_is_resolved_as_flux_does(bench: Bench, ref: str) -> None:
    before = bench.fleet(GIT.replace("REF", f"{{commit: {bench.commit}}}"), WEB_APP)
    assert bench.diff(before, bench.fleet(GIT.replace("REF", ref), WEB_APP)) == [
        "  ~ dev: app rocky/web on hub",
        "      ~ ConfigMap rocky/web",
        "          ~ data.color: red -> green",
    ]


def test_a_ref_that_does_not_exist_is_told(bench: Bench) -> None:
    before = bench.fleet(GIT.replace("REF", "{branch: main}"), WEB_APP)
    (line, fix) = bench.diff(before, bench.fleet(GIT.replace("REF", "{tag: v9}"), WEB_APP))
    assert line.startswith(
        "  ! dev: rocky/web cannot be compared: after the change, GitRepository 'rocky/manifests' cannot"
    )
    assert line.endswith("manifests.git has no tag 'v9'")
    assert fix == "      fix: name a local copy: --source rocky/manifests=DIRECTORY"


KUSTOMIZE = {
    "path": (
        "path: ./plain",
        ["~ ConfigMap rocky/web", "    ~ data.color: green -> blue"],
        "path: ./built/base",
    ),
    "files beside the path": (
        "path: ./plain",
        ["- ConfigMap rocky/web", "+ ConfigMap rocky/shared-web"],
        "path: ./shared",
    ),
    "components": (
        "path: ./built/base",
        ["- ConfigMap rocky/web", "+ ConfigMap rocky/new-web"],
        "path: ./built/base, components: [../../patch]",
    ),
    "patches": (
        "path: ./plain",
        ["~ ConfigMap rocky/web", "    ~ data.color: green -> pink"],
        "path: ./plain, patches: [{target: {kind: ConfigMap},"
        r' patch: "- op: replace\n  path: /data/color\n  value: pink\n"}]',
    ),
    "namespace": (
        "path: ./plain",
        ["~ ConfigMap rocky/web", "    + metadata.labels: {team: a}"],
        "path: ./plain, commonMetadata: {labels: {team: a}}",
    ),
    "variables": (
        "path: ./plain, postBuild: {substitute: {DOMAIN: one}}",
        ["~ ConfigMap rocky/web", "    ~ data.domain: one -> two"],
        "path: ./plain, postBuild: {substitute: {DOMAIN: two}}",
    ),
}


@pytest.mark.parametrize("case", KUSTOMIZE)
def test_settings_of_a_kustomization(bench: Bench, case: str) -> None:
    before, told, after = KUSTOMIZE[case]
    sources = GIT.replace("REF", "{branch: main}")
    fleets = [
        bench.fleet(sources, f"{{web: {{kustomize: {{source: manifests, {each}}}}}}}") for each in (before, after)
    ]
    assert bench.diff(*fleets)[1:] == [f"      {line}" for line in told]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (
            "./remote",
            "remote/kustomization.yaml: resources[0]: 'https://example.com/x.yaml' is not a file or directory of the source",
        ),
        (
            "./leak",
            "leak/kustomization.yaml: configMapGenerator[0].files[0]: 'passwd' is not a file or directory of the source",
        ),
        ("./outside", "outside/kustomization.yaml: resources[0]: '../../victim' leaves the source"),
        ("./none", "the source has no directory './none'"),
    ],
)
def test_what_leaves_the_source_is_refused(bench: Bench, path: str, said: str) -> None:
    sources = GIT.replace("REF", "{branch: main}")
    after = bench.fleet(sources, WEB_APP.replace("./plain", path))
    (line,) = bench.diff(bench.fleet(sources, WEB_APP), after)
    assert line.startswith(f"  ! dev: rocky/web cannot be rendered after the change: {said}")


CHARTS = {
    "helm": "{charts: {helm: {url: 'http://127.0.0.1:{port}/charts'}}}",
    "helm-oci": "{charts: {helm: {type: oci, insecure: true, url: 'oci://127.0.0.1:{port}/charts'}}}",
}
RELEASE = "{app: {helm: {source: charts, chart: app, version: VERSION, values: {size: SIZE}}}}"


@pytest.mark.parametrize("kind", CHARTS)
def test_another_version_and_other_values_of_a_chart(bench: Bench, kind: str) -> None:
    before = bench.fleet(CHARTS[kind], RELEASE.replace("VERSION", "1.x").replace("SIZE", "3"))
    after = bench.fleet(CHARTS[kind], RELEASE.replace("VERSION", "2.0.0").replace("SIZE", "4"))
    assert bench.diff(before, after) == [
        "  ~ dev: app rocky/app on hub",
        "      - ConfigMap app-1.2.0",
        "      + ConfigMap app-2.0.0",
        "      ~ Secret login",
        "          ~ stringData.size: (hidden) -> (hidden, changed)",
    ]


def test_a_chart_of_an_oci_repository(bench: Bench) -> None:
    source = "{app: {oci: {url: 'oci://127.0.0.1:{port}/charts/app', insecure: true, ref: REF}}}"
    release = "{app: {helm: {source: app}}}"
    fleets = [bench.fleet(source.replace("REF", ref), release) for ref in ("{tag: 1.0.0}", "{semver: '>=1.2 <2'}")]
    assert bench.diff(*fleets)[1:] == ["      - ConfigMap app-1.0.0", "      + ConfigMap app-1.2.0"]


def test_manifests_of_an_oci_repository(bench: Bench) -> None:
    source = "{manifests: {oci: {url: 'oci://127.0.0.1:{port}/oci/rocky/bundle', insecure: true, ref: {tag: latest}}}}"
    before = bench.fleet(GIT.replace("REF", "{branch: main}"), WEB_APP)
    after = bench.fleet(source, WEB_APP.replace("./plain", "./"))
    assert bench.diff(before, after)[1:] == ["      ~ ConfigMap rocky/web", "          ~ data.color: green -> grey"]


def test_a_new_release_brings_the_crds_of_its_chart(bench: Bench) -> None:
    release = RELEASE.replace("VERSION", "1.0.0").replace("SIZE", "1")
    assert bench.diff(bench.fleet(CHARTS["helm"], "{}"), bench.fleet(CHARTS["helm"], release))[1:] == [
        "      + CustomResourceDefinition things.example.com",
        "      + Secret login",
        "      + ConfigMap app-1.0.0",
    ]


HELM = {
    "values files": (
        "valuesFiles: [./values/a.yaml]",
        "valuesFiles: [./values/a.yaml, ./values/b.yaml]",
        """~ data.values: {"more":{"one":"a"},"size":2} -> {"more":{"one":"a","two":"b"},"size":2}""",
    ),
    "missing values files": (
        "valuesFiles: [./own/values.yaml, ./values/none.yaml], ignoreMissingValuesFiles: true",
        "ignoreMissingValuesFiles: true, values: {size: 7}",
        """~ data.values: {"lost":true,"size":1} -> {"lost":true,"size":7}""",
    ),
    "post renderers": (
        "interval: 5m",
        "postRenderers: [{kustomize: {patches: [{target: {kind: ConfigMap},"
        r' patch: "- op: add\n  path: /data/x\n  value: new\n"}]}}]',
        "+ data.x: new",
    ),
    "metadata": ("interval: 5m", "commonMetadata: {annotations: {team: a}}", "+ metadata.annotations: {team: a}"),
}


@pytest.mark.parametrize("case", HELM)
def test_settings_of_a_release_from_git(bench: Bench, case: str) -> None:
    before, after, told = HELM[case]
    sources = GIT.replace("REF", "{branch: main}")
    app = "{app: {helm: {source: manifests, chart: ./own, SETTINGS}}}"
    fleets = [bench.fleet(sources, app.replace("SETTINGS", each)) for each in (before, after)]
    assert bench.diff(*fleets)[1:] == ["      ~ ConfigMap own", f"          {told}"]


@pytest.mark.parametrize("upgrade", ["upgrade: {crds: CreateReplace}", "interval: 5m"])
def test_crds_of_an_upgrade_are_shown_if_flux_creates_them(bench: Bench, upgrade: str) -> None:
    release = "{app: {helm: {source: charts, chart: app, version: 1.0.0, SETTINGS}}}"
    skipped = "install: {crds: Skip}, upgrade: {crds: Skip}"
    fleets = [bench.fleet(CHARTS["helm"], release.replace("SETTINGS", each)) for each in (skipped, upgrade)]
    assert bench.diff(*fleets)[1:] == ["      + CustomResourceDefinition things.example.com"]


def test_a_chart_that_fails_is_told_with_its_own_words(bench: Bench) -> None:
    sources = GIT.replace("REF", "{branch: main}")
    app = "{app: {helm: {source: manifests, chart: ./chart, values: {size: 5}}}}"
    (line,) = bench.diff(bench.fleet(sources, "{}"), bench.fleet(sources, app))
    assert line.startswith("  ! dev: rocky/app cannot be rendered after the change: helm: ")
    assert line.endswith("size 5")


def test_a_server_that_is_not_there_is_told_and_a_copy_on_disk_helps(bench: Bench, tmp_path: Path) -> None:
    away = GIT.replace("REF", "{branch: main}").replace("{port}", "1")
    fleets = [bench.fleet(away, WEB_APP.replace("./plain", path)) for path in ("./one", "./two")]
    line, fix = bench.diff(*fleets)
    assert "GitRepository 'rocky/manifests' cannot be fetched: git: unable to access 'http://127.0.0.1:1/" in line
    assert fix == "      fix: name a local copy: --source rocky/manifests=DIRECTORY"
    copy = write(tmp_path / "copy", {f"{each}/web.yaml": WEB.replace("COLOR", each) for each in ("one", "two")})
    assert bench.diff(*fleets, f"--source=rocky/manifests={copy}")[-1] == "          ~ data.color: one -> two"
