"""`tenantry diff --manifests` with local copies of the sources, and stand-ins for kustomize and helm."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tenantry.cli.app import run
from tenantry.manifests import cage
from tests.unit.manifests.programs import install
from tests.unit.texts import rocky

WEB = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {color: %s}\n"
APPS = """\
web: {kustomize: {source: manifests, path: ./one}}
cache: {helm: {source: charts, chart: valkey, version: 1.0.0, values: {size: 1}}}
"""
EVERYWHERE = "clusters: {all: true}"


class Bench:
    """A directory with a fleet before and after, and local copies of its sources."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.capsys = capsys
        self.log = install(root / "bin")
        for path, color in (("one", "red"), ("two", "blue")):
            self.write(f"manifests/{path}/all.txt", WEB % color)
        self.write("charts/valkey/Chart.yaml", "name: valkey\nversion: 1.0.0\n")
        self.write("charts/valkey/templates/all.txt", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cache}\n")

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def fleets(self, before: str, old: str, new: str) -> None:
        assert old in before
        self.write("before.yaml", before)
        self.write("tenants.yaml", before.replace(old, new, 1))

    def diff(self, *arguments: str, local: bool = True) -> tuple[int, str, str]:
        sources = [f"--source=rocky/{name}={self.root / name}" for name in ("manifests", "charts")] if local else []
        # The stand-ins are scripts, which cannot run in a cage.
        code = run(["diff", "./before.yaml", "--manifests", "--trust-sources", *sources, *arguments])
        return code, *self.capsys.readouterr()

    def section(self, *arguments: str, local: bool = True) -> str:
        code, out, _ = self.diff(*arguments, local=local)
        assert code == 1
        return out[out.index("what the manifests change") :]

    def calls(self) -> list[str]:
        return self.log.read_text().splitlines()


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENANTRY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "hunter2")
    return Bench(tmp_path, capsys)


def test_another_path_is_told_once_for_all_clusters(bench: Bench) -> None:
    bench.fleets(rocky(APPS, EVERYWHERE), "./one", "./two")
    assert bench.section() == (
        "what the manifests change\n"
        "  ~ dev: app rocky/web on hub, edge\n"
        "      ~ ConfigMap web\n"
        "          ~ data.color: red -> blue\n"
    )
    assert len(bench.calls()) == 2


def test_other_values_reach_helm_and_no_secret_does(bench: Bench) -> None:
    bench.fleets(rocky(APPS), "{size: 1}", "{size: 2}")
    assert bench.section().endswith(
        "~ dev: app rocky/cache on hub\n      ~ ConfigMap cache\n          ~ data.size: 1 -> 2\n"
    )
    assert all("PASSPHRASE=" == each[-len("PASSPHRASE=") :] for each in bench.calls())
    assert all(" --is-upgrade -- cache ./chart" in each for each in bench.calls())


def test_a_new_app_brings_its_objects_and_a_removed_one_takes_them(bench: Bench) -> None:
    bench.fleets(rocky(APPS), "web: {kustomize", "site: {kustomize")
    assert bench.section() == (
        "what the manifests change\n"
        "  ~ dev: app rocky/site on hub\n"
        "      + ConfigMap web\n"
        "  ~ dev: app rocky/web on hub\n"
        "      - ConfigMap web\n"
    )


def test_what_cannot_be_rendered_afterwards_is_told_with_the_message_of_the_program(bench: Bench) -> None:
    bench.write("manifests/two/broken", "Error: accumulating resources: no 'web.yaml'\n")
    bench.fleets(rocky(APPS), "./one", "./two")
    assert bench.section() == (
        "what the manifests change\n"
        "  ! dev: rocky/web cannot be rendered after the change: kustomize: accumulating resources: no 'web.yaml'\n"
    )


def test_a_path_that_does_not_exist_is_told(bench: Bench) -> None:
    bench.fleets(rocky(APPS), "./one", "./three")
    assert "cannot be rendered after the change: the source has no directory './three'\n" in bench.section()


def test_equal_results_are_one_line(bench: Bench) -> None:
    bench.write("manifests/two/all.txt", WEB % "red")
    bench.fleets(rocky(APPS), "./one", "./two")
    assert bench.section() == "what the manifests change\n  no difference in what these apps apply: rocky/web\n"


def test_a_source_that_is_not_fetched_is_told_with_what_to_type(bench: Bench) -> None:
    with_bucket = rocky(APPS).replace(
        "manifests: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}",
        "manifests: {bucket: {endpoint: minio.example.com, bucketName: rocky}}",
    )
    bench.fleets(with_bucket, "./one", "./two")
    assert bench.section(local=False) == (
        "what the manifests change\n"
        "  ! dev: rocky/web cannot be compared: Bucket 'rocky/manifests' cannot be fetched: Tenantry does not fetch sources"
        " of this kind (Bucket)\n"
        "      fix: name a local copy: --source rocky/manifests=DIRECTORY\n"
    )


def test_two_local_copies_are_compared_without_any_change_of_the_file(bench: Bench) -> None:
    bench.fleets(rocky(APPS), "./one", "./one")
    bench.write("old/one/all.txt", WEB % "green")
    code, out, _ = bench.diff("--source-before", f"rocky/manifests={bench.root / 'old'}")
    assert code == 0
    assert out.endswith("~ dev: app rocky/web on hub\n      ~ ConfigMap web\n          ~ data.color: green -> red\n")


def test_encrypted_content_is_noted(bench: Bench) -> None:
    secret = (
        "kind: Secret\napiVersion: v1\nmetadata: {name: login}\ndata: {a: 'ENC[AES256_GCM,data:%s]'}\nsops: {mac: %s}\n"
    )
    for path in ("one", "two"):
        bench.write(f"manifests/{path}/all.txt", secret % (path, path))
    bench.fleets(rocky(APPS), "./one", "./two")
    assert bench.section() == (
        "what the manifests change\n"
        "  ~ dev: app rocky/web on hub\n"
        "      encrypted with SOPS, and compared without decryption: Secret login\n"
        "      ~ Secret login\n"
        "          ~ data.a: (hidden) -> (hidden, changed)\n"
        "          ~ sops.mac: one -> two\n"
    )


def test_as_json(bench: Bench) -> None:
    bench.fleets(rocky(APPS), "./one", "./two")
    code, out, _ = bench.diff("--output", "json")
    assert code == 1
    assert json.loads(out)["manifests"] == {
        "renderings": 2,
        "cage": None,
        "apps": [
            {
                "environment": "dev",
                "tenant": "rocky",
                "app": "web",
                "clusters": ["hub"],
                "changes": [
                    {
                        "effect": "changed",
                        "apiVersion": "v1",
                        "kind": "ConfigMap",
                        "namespace": None,
                        "name": "web",
                        "fields": [{"path": ["data", "color"], "before": "red", "after": "blue"}],
                    }
                ],
                "unchanged": 0,
                "notes": [],
                "problems": [],
            }
        ],
        "notRendered": [],
    }


def test_as_markdown_it_is_folded_and_nothing_in_it_comes_alive(bench: Bench) -> None:
    bench.write("manifests/two/all.txt", WEB % '"@all ![x](http://x) <b> ```"')
    bench.fleets(rocky(APPS), "./one", "./two")
    _, out, _ = bench.diff("--output", "markdown")
    assert out.endswith(
        "<details><summary>what the manifests change: 1 app</summary>\n"
        "\n"
        "```diff\n"
        "! dev: app rocky/web on hub\n"
        "!   ConfigMap web\n"
        "!     data.color: red -> @all ![x](http://x) <b> ```\n"
        "```\n"
        "\n"
        "</details>\n"
    )


REFUSED: dict[str, tuple[list[str], str]] = {
    "without": (["--source=a/b=."], "error: --source does nothing without --manifests\n  fix: add --manifests\n"),
    "trust without": (
        ["--trust-sources"],
        "error: --trust-sources does nothing without --manifests\n  fix: add --manifests\n",
    ),
    "malformed": (
        ["--manifests", "--source=manifests=."],
        "error: 'manifests=.' does not name a source\n  fix: write TENANT/SOURCE=DIRECTORY or platform/ADDON=DIRECTORY\n",
    ),
    "missing": (
        ["--manifests", "--source=rocky/manifests=none"],
        "error: none: no such directory\n  fix: name the root of a local copy of the source\n",
    ),
    "names": (
        ["--manifests", "--output=names"],
        "error: --output names cannot show manifests\n  fix: use --output text, markdown or json\n",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_options_are_refused(bench: Bench, case: str) -> None:
    arguments, said = REFUSED[case]
    bench.fleets(rocky(APPS), "./one", "./two")
    assert run(["diff", "./before.yaml", *arguments]) == 2
    assert bench.capsys.readouterr().err == said


def test_links_out_of_a_source_are_left_out(bench: Bench) -> None:
    secret: Any = bench.write("secret", WEB % "secret")
    (bench.root / "manifests/two/more.txt").symlink_to(secret)
    bench.fleets(rocky(APPS), "./one", "./two")
    assert "secret" not in bench.section()


def test_without_a_cage_nothing_is_fetched_or_rendered(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cage, "_objection", lambda _: "no")
    cage.working_cage.cache_clear()
    bench.fleets(rocky(APPS), "./one", "./two")
    assert run(["diff", "./before.yaml", "--manifests"]) == 2
    out, err = bench.capsys.readouterr()
    assert (out, bench.calls(), (bench.root / "cache").exists()) == ("", [], False)
    assert err.startswith("error: what a source contains is rendered in a cage, and none works here (bubblewrap: ")
    cage.working_cage.cache_clear()


def test_a_program_that_cannot_run_in_a_cage_is_told(bench: Bench) -> None:
    if not cage.every_cage():
        pytest.skip("no cage works on this machine")
    bench.fleets(rocky(APPS), "./one", "./two")
    assert run(["diff", "./before.yaml", "--manifests", f"--source=rocky/manifests={bench.root / 'manifests'}"]) == 1
    out = bench.capsys.readouterr().out
    assert out.endswith(
        f"  ! dev: rocky/web cannot be compared: {bench.root}/bin/kustomize is a script or of another machine, which cannot"
        " run in the cage\n"
        "      fix: put the program itself before it on PATH, or add --trust-sources if you trust everyone who can change a"
        " source with your files and your network\n"
    )


def many_clusters(apps: str) -> str:
    """A fleet of 30 clusters in three zones, each with a domain of its own."""
    clusters = "".join(
        f"  edge-{number}: {{environments: [dev], variables: {{zone: z{number % 3}, domain: d{number}}}, kubeconfig: "
        f"{{kamaji: {{controlPlane: edge-{number}, namespace: kamaji}}}}}}\n"
        for number in range(30)
    )
    return rocky(apps, "clusters: {labels: {tier: edge}}").replace(
        "  edge: {environments: [dev], labels: {tier: edge}, kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}}\n",
        clusters.replace("variables:", "labels: {tier: edge}, variables:"),
    )


def test_clusters_with_the_same_inputs_are_rendered_once(bench: Bench) -> None:
    fleet = many_clusters(
        "web: {kustomize: {source: manifests, path: ./one, postBuild: {substitute: {COLOR: '{zone}'}}}}"
    )
    for path, color in (("one", "a"), ("two", "b")):
        bench.write(f"manifests/{path}/all.txt", WEB % f"'{color}-${{COLOR}}'")
    bench.fleets(fleet, "path: ./one", "path: ./two")
    shown = bench.section()
    for zone in range(3):
        assert f"on 10 clusters\n      ~ ConfigMap web\n          ~ data.color: a-z{zone} -> b-z{zone}\n" in shown
    assert len(bench.calls()) == 2


def test_a_release_with_other_values_on_very_many_clusters_is_rendered_for_some(bench: Bench) -> None:
    fleet = many_clusters(
        "cache: {helm: {source: charts, chart: valkey, version: 1.0.0, values: {size: 1, host: '{domain}'}}}"
    )
    bench.fleets(fleet, "size: 1", "size: 2")
    assert bench.section() == (
        "what the manifests change\n"
        "  ~ dev: app rocky/cache on 10 clusters\n"
        "      ~ ConfigMap cache\n"
        "          ~ data.size: 1 -> 2\n"
        "  dev: rocky/cache has other values on 20 more clusters, where it is not rendered; --all renders it there\n"
    )
    assert len(bench.calls()) == 20
    assert "not rendered" not in bench.section("--all")
    assert len(bench.calls()) == 20 + 60
