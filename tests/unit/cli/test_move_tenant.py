"""`tenantry move tenant T --to FILE` makes the file, the `include` and the grants, and plans the same objects."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tenantry.cli.edit.apply import How, apply
from tenantry.edit.editor import Editor
from tenantry.edit.subjects.adding import Edit
from tenantry.load import load_fleet, plan_all
from tenantry.messages.errors import Refused
from tests.table import table
from tests.unit.cli.test_cli import Capture, tenantry

ROOT = Path(__file__).resolve().parents[3]
FILE = Path("tenants.yaml")
FLEET = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub, rollout: {waves: [{all: true}]}}
  test: {management: hub, namespace: "test-{tenant}"}
clusters:
  hub: {environments: [dev, test], labels: {tier: hub}}
  edge: {environments: [dev], labels: {tier: edge}, kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
defaults:
  clusters: {labels: {tier: edge}}
  grants: {environments: [test], sources: ["https://git.example.com/{tenant}/*"], limits: {retries: 5, apps: 9}}
tenants:
  # The first one.
  rocky:
    role: edit
    sources:
      own: {git: {url: "https://git.example.com/rocky/own", ref: {branch: main}, recurseSubmodules: true}}
      charts: {helm: {url: "https://charts.example.com", interval: 48h}}
    apps:
      # On the hub, too.
      web:
        clusters: {names: [hub, edge]}
        rollout: {waves: [{all: true}]}
        metadata: {labels: {team.example.com/name: rocky}}
        kustomize: {source: own, interval: 20s, timeout: 2h}
        overrides: {clusters: {hub: {metadata: {annotations: {team.example.com/on: hub}}}}}
      db:
        helm: {source: charts, chart: db, version: 1.0.0, install: {remediation: {retries: 7}}}
    alerts:
      chat: {provider: {type: slack, address: "https://hooks.example.com/rocky"}}
  movy:
    sources: {own: {git: {url: "https://git.example.com/movy/own", ref: {branch: main}}}}
    apps: {web: {kustomize: {source: own}}}
"""
GRANTS = """\
    grants:
      clusters: {names: [hub, edge]}
      environments: [test, dev]
      sources: ["https://git.example.com/{tenant}/*", https://charts.example.com]
      alerts:
        - https://hooks.example.com/rocky
      settings: [rollout, recurseSubmodules]
      labels: [team.example.com/]
      annotations: [team.example.com/]
      shortestInterval: 20s
      limits: {timeout: 2h, interval: 48h, retries: 7}
"""
TOLD = """\
  made tenants.d/rocky.yaml
  added to include: tenants.d/*.yaml
  granted clusters: hub, edge; clusters that are added later are not granted
  granted environments: dev
  granted sources: https://charts.example.com
  granted alerts: https://hooks.example.com/rocky
  granted settings: rollout, recurseSubmodules
  granted labels: team.example.com/
  granted annotations: team.example.com/
  granted shortestInterval: 20s
  granted limits.timeout: 2h
  granted limits.interval: 48h
  granted limits.retries: 7
  the platform decides everything else of 'rocky' in tenants.yaml
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    FILE.write_text(FLEET)


def move(capsys: Capture, tenant: str = "rocky", to: str = "tenants.d/rocky.yaml", *more: str) -> tuple[int, str, str]:
    return tenantry(capsys, "move", "tenant", tenant, "--to", to, *more)


def objects(file: Path = FILE) -> dict[str, dict[object, object]]:
    plans = plan_all(load_fleet(file))
    return {name: {each.id: each.manifest for each in plan.objects} for name, plan in plans.items()}


def test_a_tenant_gets_its_file_and_every_grant_that_it_needs(capsys: Capture) -> None:
    before = objects()
    code, out, err = move(capsys)
    assert (code, err) == (0, "")
    assert TOLD in out
    parts = FLEET.partition("    role: edit\n")[2].partition("  movy:")[0]
    assert Path("tenants.d/rocky.yaml").read_text() == f"tenants:\n  rocky:\n{parts}"
    left = FLEET.replace(parts, GRANTS).replace("v1\n", "v1\n\ninclude: [tenants.d/*.yaml]\n\n", 1)
    assert FILE.read_text().replace("\n\n", "\n") == left.replace("\n\n", "\n")
    assert objects() == before
    # The next one needs no more than the grants of everybody and the pattern that is there.
    code, out, _ = move(capsys, "movy", "tenants.d/movy.yaml")
    assert (code, "added to include" in out, "granted sources" in out) == (0, False, False)
    assert objects() == before


def test_a_dry_run_shows_the_new_file_as_git_takes_it_and_leaves_nothing(capsys: Capture) -> None:
    code, out, _ = move(capsys, "rocky", "tenants.d/rocky.yaml", "--dry-run")
    assert (code, FILE.read_text(), [each.name for each in Path().iterdir()]) == (0, FLEET, ["tenants.yaml"])
    assert "--- /dev/null\n+++ b/tenants.d/rocky.yaml\n@@ -0,0 +1,17 @@\n+tenants:\n+  rocky:\n" in out


@pytest.mark.parametrize(
    ("to", "include", "expected"),
    [
        ("rocky.yaml", "", ["rocky.yaml"]),
        ("teams/blue.yaml", "", [{"tenants": "teams/blue.yaml", "of": ["rocky"]}]),
        ("teams/a/rocky.yml", "", ["teams/a/*.yml"]),
        ("teams/blue.yaml", 'include: [{tenants: "teams/*", of: [rocky]}]', [{"tenants": "teams/*", "of": ["rocky"]}]),
        ("beside/rocky.yaml", "", ["beside/rocky.yaml"]),
    ],
)
def test_what_is_included(to: str, include: str, expected: list[object], capsys: Capture) -> None:
    Path("beside").mkdir()
    Path("beside/other.yaml").write_text("a: 1\n")
    Path("teams").mkdir()
    if include:  # a pattern has to match something
        FILE.write_text(FLEET.replace("tenants:\n", f"{include.replace('[rocky]', '[rocky, movy]')}\ntenants:\n", 1))
        Path("teams/movy.yaml").write_text("tenants: {movy: {}}\n")
        expected = [{"tenants": "teams/*", "of": ["rocky", "movy"]}]
    code, _, err = move(capsys, "rocky", to)
    assert (code, Editor.open(FILE).value(("include",))) == (0, expected), err


@pytest.mark.parametrize(
    ("to", "told"),
    [
        ("../rocky.yaml", "is not below the directory of tenants.yaml\n  fix: choose a file there\n"),
        ("notes.yaml", "error: notes.yaml is not one of the fleet's files: tenants.yaml"),
        (
            "teams/blue.yaml",
            "'include' of tenants.yaml takes teams/blue.yaml, but not for tenant 'rocky'\n"
            "  fix: name the file after it: teams/rocky.yaml\n",
        ),
    ],
)
def test_what_is_refused_leaves_every_file(to: str, told: str, capsys: Capture) -> None:
    text = FLEET.replace("tenants:\n", "include: [teams/*.yaml]\ntenants:\n", 1)
    FILE.write_text(text)
    Path("notes.yaml").write_text("a: 1\n")
    Path("teams").mkdir()
    Path("teams/movy.yaml").write_text("tenants: {movy: {}}\n")
    code, out, err = move(capsys, "rocky", to)
    assert (code, out, FILE.read_text()) == (2, "", text)
    assert told in err
    assert sorted(map(str, Path().rglob("*.yaml"))) == ["notes.yaml", "teams/movy.yaml", "tenants.yaml"]


def test_what_cannot_be_granted_is_refused_with_its_line(capsys: Capture) -> None:
    """In a file of its own, the app's list of environments is below that of the tenant."""
    text = FLEET.replace("    role: edit\n", "    role: edit\n    environments: [dev]\n").replace(
        "      db:\n", "      db:\n        clusters: {names: [hub]}\n        environments: [test]\n"
    )
    FILE.write_text(text)
    code, out, err = move(capsys)
    assert (code, out, FILE.read_text(), Path("tenants.d").exists()) == (2, "", text, False)
    assert "tenants.d/rocky.yaml:16:24: error[not-granted]: app 'db' of tenant 'rocky' names environment 'test'" in err


def test_an_invalid_fleet_gets_no_new_file(capsys: Capture) -> None:
    FILE.write_text(FLEET.replace("role: edit", "rule: edit"))
    code, out, err = move(capsys)
    assert (code, out, "'rule' is not" in err, [each.name for each in Path().iterdir()]) == (2, "", True, [FILE.name])


def test_an_edit_that_may_change_no_object_is_refused_if_it_does() -> None:
    editor = Editor.open(FILE)
    editor.set(("tenants", "rocky", "role"), "view")
    with pytest.raises(Refused, match="moved it: other objects would be planned, so nothing is written"):
        apply(editor, How(dry_run=False, output="text"), ["moved it"], made=Edit("moved it", same_objects=True))
    assert FILE.read_text() == FLEET


@pytest.mark.parametrize(
    ("case", "tenant"),
    [
        ("tests/golden/sources", "rocky"),
        ("tests/golden/receivers", "rocky"),
        ("tests/golden/images", "rocky"),
        ("examples/rollout", "checkout"),
    ],
)
def test_any_tenant_can_move(case: str, tenant: str, capsys: Capture) -> None:
    here = Path(shutil.copytree(ROOT / case, "fleet"))
    before = objects(here / FILE)
    code, _, err = move(capsys, tenant, f"fleet/tenants.d/{tenant}.yaml", "--file", "fleet/tenants.yaml")
    assert (code, err) == (0, "")
    assert objects(here / FILE) == before
    assert tenant in load_fleet(here / FILE).source.fills


def test_the_schema_of_included_files_is_named_if_it_is_there(capsys: Capture) -> None:
    FILE.write_text(f"# yaml-language-server: $schema=tenants.schema.json\n{FLEET}")
    Path("tenants-included.schema.json").write_text("{}")
    assert move(capsys)[0] == 0
    first = Path("tenants.d/rocky.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=../tenants-included.schema.json"


@table(
    ("to", "says"),
    [
        (
            "edge",
            "error: 'edge' is a cluster, and --to takes a file such as tenants.d/rocky.yaml\n  fix: to move the tenant",
        ),
        ("edge-9", "fix: tenantry move tenant rocky --to edge-9.yaml"),
        ("tenants.d/rocky", "error: 'tenants.d/rocky' is not the name of a YAML file"),
        ("rocky.json", "error: 'rocky.json' is not the name of a YAML file"),
    ],
)
def test_a_cluster_is_no_file(capsys: Capture, to: str, says: str) -> None:
    code, _, err = tenantry(capsys, "move", "tenant", "rocky", "--to", to)
    assert (code, says in err, [str(each) for each in Path().iterdir()]) == (2, True, [str(FILE)])
