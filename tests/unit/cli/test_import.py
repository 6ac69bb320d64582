"""`tenantry import`: what it writes where, and what it refuses. The content is tested in tests/unit/importing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenantry.load import load_fleet, plan_all
from tests.unit.cli.test_cli import Capture, tenantry

CORPUS = Path(__file__).parents[1] / "importing" / "corpora" / "flux-create" / "input"


@pytest.fixture(autouse=True)
def _empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_file_is_valid_and_the_report_is_printed(capsys: Capture) -> None:
    code, out, _ = tenantry(capsys, "import", "-e", f"prod={CORPUS}")
    assert (code, out.splitlines()[0]) == (0, "9 objects read: 7 are in tenants.yaml")
    assert list(plan_all(load_fleet(Path("tenants.yaml")))) == ["prod"]
    assert [each.name for each in Path().iterdir()] == ["tenants.yaml"]


def test_nothing_is_overwritten(capsys: Capture) -> None:
    Path("tenants.yaml").write_text("mine\n")
    code, _, err = tenantry(capsys, "import", "-e", f"prod={CORPUS}")
    assert (code, Path("tenants.yaml").read_text()) == (2, "mine\n")
    assert "tenants.yaml exists already, and is not overwritten" in err


def test_without_anything_to_write_no_file_is(capsys: Capture) -> None:
    Path("in.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n")
    code, out, err = tenantry(capsys, "import", "-e", "prod=in.yaml", "--output", "json")
    assert err == "error: nothing that was read can be written: the report says why\n"
    assert (code, json.loads(out)["counts"]["left"], Path("tenants.yaml").exists()) == (2, 1, False)


REFUSED = {
    "no-source": (("-e", "prod"), "--environment prod: write NAME=SOURCE"),
    "bad-name": (("-e", "PROD=x"), "'PROD' cannot be the name of an environment"),
    "unknown-cluster": (("-e", "prod=x", "-c", "dev=hub"), "'--environment dev=SOURCE' is not given"),
    "nowhere": (("-e", "prod=nowhere"), "nowhere: no such directory"),
    "empty": (("-e", "prod=."), "no Kubernetes objects were found"),
    "no-context": (("-e", "prod=context:x", "--kubeconfig", "none"), "none"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused(capsys: Capture, name: str) -> None:
    arguments, message = REFUSED[name]
    code, _, err = tenantry(capsys, "import", *arguments)
    assert (code, list(Path().iterdir())) == (2, [])
    assert message in err


KUSTOMIZE = """\
#!/bin/sh
for directory; do :; done
/bin/cat "$directory"/all.yaml shared/*.yaml
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a directory that is built from two, and a stand-in for kustomize."""
    manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME, namespace: b}\n---\n"
    for path in ("prod/all.yaml", "shared/shared.yaml", "other/other.yaml"):
        (tmp_path / "tree" / path).parent.mkdir(parents=True)
        (tmp_path / "tree" / path).write_text(manifest.replace("NAME", Path(path).stem))
    (tmp_path / "tree" / ".git").mkdir()
    (tmp_path / "tree" / "prod" / "kustomization.yaml").write_text("resources: [all.yaml, ../shared/shared.yaml]\n")
    program = tmp_path / "bin" / "kustomize"
    program.parent.mkdir()
    program.write_text(KUSTOMIZE)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    return tmp_path / "tree"


@pytest.mark.usefixtures("tree")
def test_a_directory_is_built_from_its_repository(capsys: Capture) -> None:
    code, out, err = tenantry(capsys, "import", "-e", "prod=tree/prod", "--output", "json")
    assert (code, json.loads(out)["counts"]["read"]) == (2, 2), err


def test_a_tree_that_leaves_its_source_is_refused_with_the_place(capsys: Capture, tree: Path) -> None:
    command = ("import", "-e", "prod=tree/prod")
    (tree / "prod" / "kustomization.yaml").write_text("resources: [all.yaml, ../../victim]\n")
    assert tenantry(capsys, *command) == (
        2,
        "",
        "error: tree/prod: prod/kustomization.yaml: resources[1]: '../../victim' leaves the source\n"
        "  fix: correct it, and import again; what is there is not in the file\n",
    )
    (tree / ".git").rmdir()
    (tree / "prod" / "kustomization.yaml").write_text("resources: [all.yaml, ../shared]\n")
    code, _, err = tenantry(capsys, *command)
    assert (code, err) == (
        2,
        "error: tree/prod: kustomization.yaml: resources[1]: '../shared' leaves the source\n"
        "  fix: correct it, and import again; what is there is not in the file\n",
    )


def test_a_link_out_of_a_source_costs_the_link(capsys: Capture, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: secret}\n")
    (tree / "other" / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (tree / "other" / "inside.yaml").symlink_to("../shared/shared.yaml")
    code, out, _ = tenantry(capsys, "import", "-e", "prod=tree/other", "--output", "json")
    found = json.loads(out)
    assert (code, found["counts"]["read"]) == (2, 2)
    assert [(each["place"], each["reason"]) for each in found["unread"]] == [
        ("tree/other/link.yaml", "the link leaves the source")
    ]


def test_clusters_that_differ_are_named_one_by_one(capsys: Capture) -> None:
    for name in ("blue", "green"):
        (Path("fleet") / name / "flux-system").mkdir(parents=True)
        (Path("fleet") / name / "flux-system" / "gotk-sync.yaml").write_text(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\n"
            f"spec: {{interval: 1m, url: 'https://git.example.com/{name}'}}\n"
        )
    code, _, err = tenantry(capsys, "import", "-e", "prod=fleet")
    assert (code, err) == (
        2,
        "error: fleet/green/flux-system/gotk-sync.yaml:1: GitRepository flux-system/flux-system is declared differently at"
        " fleet/blue/flux-system/gotk-sync.yaml:1\n"
        "  fix: keep one of them, or name the directory of one cluster for each environment\n",
    )
