"""Edits of files that are unusual: a whole edit that leaves every other byte, or a refusal that leaves all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tenantry.cli import editing
from tests.unit.cli.test_cli import Capture, tenantry

pytestmark = pytest.mark.usefixtures("plans_once")
FLEET = (Path(__file__).resolve().parents[3] / "tests" / "golden" / "tasks" / "fleet.yaml").read_bytes()
FILE = Path("tenants.yaml")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    FILE.write_bytes(FLEET)


FORMS = {
    "LF": FLEET,
    "CRLF": FLEET.replace(b"\n", b"\r\n"),
    "BOM": b"\xef\xbb\xbf" + FLEET,
    "BOM and CRLF": b"\xef\xbb\xbf" + FLEET.replace(b"\n", b"\r\n"),
    "no line break at the end": FLEET.rstrip(b"\n"),
    "CRLF, but not at the end": FLEET.rstrip(b"\n").replace(b"\n", b"\r\n"),
    "empty lines at the end": FLEET + b"\n\n",
}
ANCHORED = FLEET.replace(b"  rocky:\n    clusters: {", b"  rocky:\n    clusters: &edges {")
ANCHORED = ANCHORED.replace(b"  tina:\n", b"  tina: &tina\n")
TABS = FLEET.replace(b"  tina:\n", b"  tina:\t# the one\twith jobs\n")
WRITTEN: dict[str, tuple[bytes, str, tuple[bytes, bytes]]] = {
    "beside an anchor": (
        ANCHORED,
        "set tenants.movy.apps.shop.helm.values.replicas 3",
        (b"replicas: 2}", b"replicas: 3}"),
    ),
    "tabs": (
        TABS,
        "set tenants.tina.clusters.names[hub-dev] null",
        (b"names: [hub-dev, hub-prod]", b"names: [hub-prod]"),
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_an_edit_changes_its_place_alone(name: str, capsys: Capture) -> None:
    before, edit, (old, new) = WRITTEN[name]
    FILE.write_bytes(before)
    code, _, err = tenantry(capsys, *edit.split())
    assert (code, FILE.read_bytes()) == (0, before.replace(old, new)), err


ALIASED = ANCHORED.replace(b"  movy:\n    clusters: {labels: {tier: edge}}", b"  movy:\n    clusters: *edges")
REFUSED: dict[str, tuple[bytes, str]] = {
    "an alias": (ALIASED, "set tenants.movy.clusters.labels.region eu"),
    "an anchor": (ALIASED, "remove tenant rocky"),
    "a tab that YAML does not take": (FLEET.replace(b"  tina:\n", b"\ttina:\n"), "add tenant nora"),
    "no YAML": (FLEET + b"  {", "add tenant nora"),
    "no UTF-8": (FLEET + b"# \xff\n", "add tenant nora"),
    "an unknown name": (FLEET, "remove tenant nora"),
    "a name that is taken": (FLEET, "add tenant movy"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_edit_that_cannot_be_whole_leaves_every_byte(name: str, capsys: Capture) -> None:
    before, edit = REFUSED[name]
    FILE.write_bytes(before)
    code, out, err = tenantry(capsys, *edit.split())
    assert (code, out, FILE.read_bytes()) == (2, "", before), (out, err)
    assert err.startswith("error: ") or "Found 1 error" in err


def test_a_symlink_stays_and_a_read_only_file_is_left_alone(capsys: Capture) -> None:
    Path("fleet").mkdir()
    target = FILE.rename("fleet/real.yaml")
    FILE.symlink_to(target)
    assert tenantry(capsys, "add", "tenant", "nora")[0] == 0
    assert FILE.is_symlink()
    assert b"  nora: {}\n" in target.read_bytes()
    target.chmod(0o444)
    code, out, err = tenantry(capsys, "remove", "tenant", "nora")
    assert (code, out) == (2, "")
    assert (
        err
        == f"error: {FILE} is read-only, so nothing was written\n  fix: allow writing: chmod u+w {target.resolve()}\n"
    )
    assert [each.name for each in target.parent.iterdir()] == ["real.yaml"]


def test_a_concurrent_edit_is_not_lost(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    check_both = editing.check_both

    def meanwhile(editor: Any) -> Any:
        FILE.write_bytes(FLEET + b"# somebody's\n")
        return check_both(editor)

    monkeypatch.setattr(editing, "check_both", meanwhile)
    said = "tenants.yaml changed while it was edited, so nothing was written\n  fix: run the command again\n"
    assert tenantry(capsys, "add", "tenant", "nora") == (2, "", f"error: {said}")
    assert FILE.read_bytes() == FLEET + b"# somebody's\n"


MALFORMED = (
    "add tenant nora role",
    "add tenant nora =edit",
    "add tenant nora quota.pods",
)


@pytest.mark.parametrize("edit", MALFORMED)
def test_a_malformed_pair_is_a_wrong_usage(edit: str, capsys: Capture) -> None:
    code, out, _ = tenantry(capsys, *edit.split(), "--output", "json")
    assert (code, '"code": "usage"' in out, "is not KEY=VALUE" in out) == (2, True, True), out
    assert FILE.read_bytes() == FLEET


INCLUDING = """\
apiVersion: tenantry/v1
include:
  - tenants.d/*.yaml
  - {files: "teams/*.yaml"}
  - {files: "clusters.d/*.yaml"}
environments: {dev: {management: hub}}
clusters: {hub: {environments: [dev]}}
platform: {chart: {helm: {url: https://charts.example.com, version: 0.1.0}}}
defaults: {clusters: {names: [hub]}, grants: {sources: ["https://git.example.com/*"]}}
tenants:
  # The one with jobs.
  tina:
    role: edit
    sources:
      jobs: {git: {url: https://git.example.com/tina/jobs, ref: {branch: main}}}
    apps:
      # Every night.
      reports: {kustomize: {source: jobs}}
  rocky: {}
"""
ROCKY = """\
tenants:
  rocky:
    sources:
      own: {git: {url: https://git.example.com/rocky/own, ref: {branch: main}}}
    apps:
      web: {kustomize: {source: own}}
"""

NORA = """\
tenants:
  nora:
    sources:
      own:
        git: {url: https://git.example.com/nora/own, ref: {branch: main}}
    apps:
      web: {kustomize: {source: own, path: ./web}}
"""


@pytest.fixture
def _including() -> None:
    FILE.write_text(INCLUDING)
    for name, text in (("tenants.d/rocky", ROCKY), ("teams/all", "tenants: {}\n"), ("clusters.d/eu", "clusters: {}\n")):
        Path(name).parent.mkdir()
        Path(f"{name}.yaml").write_text(text)


@pytest.mark.usefixtures("_including")
def test_new_entries_go_to_the_file_of_their_tenant(capsys: Capture) -> None:
    Path("teams/all.yaml").write_text("tenants:\n  nora: {}\n")
    for edit in (
        "add source nora/own git.url=https://git.example.com/nora/own git.ref.branch=main",
        "add app nora/web kustomize.source=own kustomize.path=./web",
    ):
        assert tenantry(capsys, *edit.split())[0] == 0, edit
    assert FILE.read_text() == INCLUDING
    assert Path("teams/all.yaml").read_text() == NORA
    there = {each: each.read_bytes() for each in Path().rglob("*.yaml")}
    assert tenantry(capsys, *["add", "app", "nora/web", "kustomize.source=own", "kustomize.path=./other"])[0] == 2
    assert {each: each.read_bytes() for each in Path().rglob("*.yaml")} == there
