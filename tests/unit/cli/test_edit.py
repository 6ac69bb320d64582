"""`tenantry set`: what it writes, prints and refuses."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.unit.cli.test_cli import Capture, tenantry

ROOT = Path(__file__).resolve().parents[3]
FLEET = (ROOT / "tenants.yaml").read_text()
FILE = Path("tenants.yaml")


@pytest.fixture(autouse=True)
def _fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    FILE.write_text(FLEET)


DIFFERENCE = """\
--- a/tenants.yaml
+++ b/tenants.yaml
@@ -63,6 +63,7 @@
 tenants:
   # Deploys what is pushed to its repository.
   rocky:
+    quota: {pods: 60}
     sources:
       manifests: {git: {url: "{git}/rocky/manifests.git", ref: {branch: main}}}
     apps:
"""
REVIEW = """\
tenants.yaml: set tenants.rocky.quota.pods to 60

dev, prod: 1 tenant on all 5 clusters
  ~ tenant rocky on all 5 clusters
      ~ quota.pods: 40 -> 60  # tenants.yaml:66:19 (tenant)

objects
  dev: 2 changed
  prod: 3 changed
"""
SET = FLEET.replace("  rocky:\n", "  rocky:\n    quota: {pods: 60}\n")


def test_set_writes_a_value_and_says_what_changes(capsys: Capture) -> None:
    asked = ("set", "tenants.rocky.quota.pods", "60")
    assert tenantry(capsys, *asked, "--dry-run") == (0, DIFFERENCE, f"{REVIEW}dry run: nothing is written\n")
    assert FILE.read_text() == FLEET
    assert tenantry(capsys, *asked) == (0, REVIEW, "")
    assert FILE.read_text() == SET
    assert tenantry(capsys, *asked) == (0, "nothing to do: tenants.yaml says so already\n", "")


def test_null_removes_the_entry_and_warns_of_what_its_absence_does(capsys: Capture) -> None:
    FILE.write_text(SET)
    assert tenantry(capsys, "set", "tenants.rocky.quota.pods", "null") == (
        0,
        """\
tenants.yaml: removed tenants.rocky.quota.pods

! dev, prod: quota: tenant rocky on all 5 clusters: its quota is lowered: pods 60 -> 40

dev, prod: 1 tenant on all 5 clusters
  ~ tenant rocky on all 5 clusters
      ~ quota.pods: 60 -> 40  # tenants.yaml:58:17 (defaults)

objects
  dev: 2 changed
  prod: 3 changed
""",
        "",
    )
    assert FILE.read_text() == FLEET


REFUSED = {
    ("set", "tenants.rokcy.role", "edit"): """\
error: there is no 'tenants.rokcy'
  fix: declared: movy, rocky (closest: rocky)
""",
    ("set", "tenants.rocky.rol", "edit"): """\
nothing is written, because the edited file would be invalid (lines as edited):
tenants.yaml:81:5: error[unknown-key]: key 'rol' is not known here
    81 |     rol: ...
       |     ^^^
  at tenants.rocky.rol
  fix: write 'role'
Found 1 error
""",
    ("set", "tenants.movy.clusters.all.of", "4"): """\
nothing is written, because the edited file would be invalid (lines as edited):
tenants.yaml:84:21: error[bad-value]: a mapping is not allowed here
    84 |     clusters: {all: {of: 4}}
       |                     ^
  at tenants.movy.clusters.all
  allowed: true
  fix: write true
Found 1 error
""",
    ("set", "tenants.movy.apps.web.clusters.edge-1.helm.version", "5"): """\
nothing is written, because the edited file would be invalid (lines as edited):
tenants.yaml:91:42: error[unknown-key]: key 'edge-1' is not known here
    91 |         clusters: {labels: {tier: edge}, edge-1: ...
       |                                          ^^^^^^
  at tenants.movy.apps.web.clusters.edge-1
  known: all, exclude, labels, names
  fix: remove it
Found 1 error
""",
    ("set", "tenants.movy.apps.web.overrides[0].state", "5"): """\
nothing is written, because the edited file would be invalid (lines as edited):
tenants.yaml:100:13: error[unknown-key]: key 'state' is not known here
   100 |             state: ...
       |             ^^^^^
  at tenants.movy.apps.web.overrides[0].state
  known: dependsOn, helm, kustomize, metadata, when
  fix: remove it
Found 1 error
""",
    ("set", "tenants.movy.apps.web.state", "paused", "-e", "prod"): """\
nothing is written, because the edited file would be invalid (lines as edited):
tenants.yaml:98:44: error[unknown-key]: key 'state' is not known here
    98 |           - {when: {environments: [prod]}, state: ...
       |                                            ^^^^^
  at tenants.movy.apps.web.overrides[0].state
  known: dependsOn, helm, kustomize, metadata, when
  fix: remove it
Found 1 error
""",
    ("set", "tenants.movy.apps.web.overrides.environments.prod.helm.version", "5"): """\
error: 'tenants.movy.apps.web.overrides' is a list, so it has no 'environments'
  fix: name an entry by its index: 'tenants.movy.apps.web.overrides[0]'
""",
    ("set", "tenants.movy.apps.wep.helm.version", "5", "-e", "prod"): """\
error: there is no 'tenants.movy.apps.wep'
  fix: declared: web, worker (closest: web)
""",
    ("set", "tenants.movy.apps.web.helm.version", "null", "-e", "dev"): """\
error: no override sets 'tenants.movy.apps.web.helm.version' for environment dev
""",
    ("set", "tenants.movy.quota.pods", "null", "--clusters", "tier=edge", "-e", "dev", "-e", "prod"): """\
error: no override sets 'tenants.movy.quota.pods' for environment dev or prod, tier=edge
""",
    ("set", "tenants.rocky.apps.web.dependsOn[]", "db", "-e", "prod"): """\
error: an override replaces the list 'tenants.rocky.apps.web.dependsOn' as a whole
  fix: set all of its entries: 'tenants.rocky.apps.web.dependsOn'
""",
    ("set", "environments.prod.timeout", "5m", "-e", "prod"): """\
error: 'environments.prod.timeout' is the same in all environments and on all clusters
  fix: name a value of a tenant, an app, an add-on, the platform, `defaults` or a template
""",
    ("set", "tenants.rocky.podSecurity.version", "v1.30"): """\
error: tenants.yaml:66:18: 'tenants.rocky.podSecurity' is 'baseline', not a mapping or a list
  fix: set it as a whole: tenantry set tenants.rocky.podSecurity VALUE
""",
    ("set", "tenants.rocky.quota[", "4"): """\
error: 'tenants.rocky.quota[' is not a path: character 20 is not expected
  fix: write it as messages do: tenants.rocky.quota["requests.cpu"], tenants.rocky.owners[0]
""",
    ("set", "tenants.rocky.role", "{a"): """\
error: VALUE:1:1: this '{' is never closed
  fix: add the closing '}', or use --string to take it as a text
""",
    ("set", "tenants.rocky.adopt", "5"): """\
nothing is written, because the edited file would be invalid (lines as edited):
tenants.yaml:81:12: error[wrong-type]: expected true or false, found the number 5
    81 |     adopt: 5
       |            ^
  at tenants.rocky.adopt
  fix: write true or false
Found 1 error
""",
    ("set", "tenants.rocky.owners[1].group", "a"): """\
error: there is no 'tenants.rocky.owners', so there is no [1]
  fix: begin with [0]
""",
    ("set", "tenants.rocky.apps.web.dependsOn[2]", "a"): """\
error: 'tenants.rocky.apps.web.dependsOn' has 1 value, so there is no [2]
  fix: the next one is [1]
""",
    ("set", "tenants.rocky.podSecurities", "null"): """\
error: there is no 'tenants.rocky.podSecurities'
  fix: declared: apps, podSecurity, sources (closest: podSecurity)
""",
    ("set", "tenants.rocky.apps.web.dependsOn[1]", "null"): """\
error: there is no 'tenants.rocky.apps.web.dependsOn[1]'
  fix: 'tenants.rocky.apps.web.dependsOn' has 1 value, counted from [0]
""",
}


@pytest.mark.parametrize("asked", REFUSED, ids=" ".join)
def test_an_edit_that_cannot_be_meant_is_refused(asked: tuple[str, ...], capsys: Capture) -> None:
    before = FLEET.replace("  rocky:\n", "  rocky:\n    podSecurity: baseline\n")
    if "'baseline'" not in REFUSED[asked]:
        before = before.replace("baseline\n", "{enforce: baseline}\n")
    FILE.write_text(before)
    assert tenantry(capsys, *asked) == (2, "", REFUSED[asked])
    assert FILE.read_text() == before


def test_an_invalid_fleet_can_be_corrected_step_by_step(capsys: Capture) -> None:
    wrong = FLEET.replace("role: edit", "role: 5").replace("retryInterval: 2m", "retryInterval: 2")
    FILE.write_text(wrong)
    code, out, err = tenantry(capsys, "set", "tenants.movy.role", "edit")
    said = "tenants.yaml was invalid before, and still is (1 error): see `tenantry validate`\n"
    assert (code, out, err) == (0, f"tenants.yaml: set tenants.movy.role to edit\n{said}", "")
    assert FILE.read_text() == FLEET.replace("retryInterval: 2m", "retryInterval: 2")
    assert tenantry(capsys, "set", "defaults.quota", "5")[0] == 2


def test_values_come_from_stdin_and_as_texts(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("replicas: 3\nhost: a\n"))
    assert tenantry(capsys, "set", "tenants.movy.apps.web.helm.values", "-")[0] == 0
    assert 'values: {host: "a", replicas: 3}\n' in FILE.read_text()
    assert tenantry(capsys, "set", "tenants.movy.apps.web.helm.values.host", "--string", "1.10")[0] == 0
    assert 'values: {host: "1.10", replicas: 3}\n' in FILE.read_text()


@pytest.mark.parametrize(
    ("key", "value", "written"),
    [
        ("tag", "1.10", '"1.10"'),
        ("tag", "1234e56", '"1234e56"'),
        ("tag", "6801028", '"6801028"'),
        ("tag", "0123", '"0123"'),
        ("tag", "0x1f", '"0x1f"'),
        ("tag", "3", "3"),
        ("replicas", "7000000", "7000000"),
        ("ratio", "0.50", "0.5"),
    ],
)
def test_a_number_that_would_come_out_as_another_text_stays_as_it_was_typed(
    capsys: Capture, key: str, value: str, written: str
) -> None:
    assert tenantry(capsys, "set", f"tenants.movy.apps.web.helm.values.{key}", value)[0] == 0
    assert f"{key}: {written}" in FILE.read_text()


def test_null_removes_where_a_text_fits_and_as_a_text_it_stays(capsys: Capture) -> None:
    before = FLEET.replace("  rocky:\n", "  rocky:\n    labels: {team: a, floor: b}\n")
    FILE.write_text(before)
    assert tenantry(capsys, "set", "tenants.rocky.labels.floor", "null")[0] == 0
    assert FILE.read_text() == before.replace("{team: a, floor: b}", "{team: a}")
    assert tenantry(capsys, "set", "tenants.rocky.labels.team", "--string", "null")[0] == 0
    assert FILE.read_text() == before.replace("{team: a, floor: b}", '{team: "null"}')
    assert tenantry(capsys, "set", "tenants.rocky.labels.team", "~")[0] == 0
    assert FILE.read_text() == before.replace("{team: a, floor: b}", "{}")


def test_null_takes_an_entry_off_a_list_by_its_text(capsys: Capture) -> None:
    before = FLEET.replace("  rocky:\n", "  rocky:\n    clusters: {names: [hub-dev, edge-1, hub-prod]}\n")
    FILE.write_text(before)
    assert tenantry(capsys, "set", "tenants.rocky.clusters.names[edge-1]", "null")[0] == 0
    assert FILE.read_text() == before.replace("[hub-dev, edge-1, hub-prod]", "[hub-dev, hub-prod]")
    assert tenantry(capsys, "set", "tenants.rocky.clusters.names[]", "null")[0] == 2


def test_a_null_inside_of_a_value_is_written(capsys: Capture) -> None:
    assert tenantry(capsys, "set", "tenants.movy.apps.web.helm.values", "{debug: null}")[0] == 0
    assert "values: {debug: null}" in FILE.read_text()


def test_an_environment_is_added_and_removed_by_hand(capsys: Capture) -> None:
    test = "  test: {management: hub-dev, namespace: 'test-{tenant}', after: dev}\n"
    FILE.write_text(FLEET.replace("clusters:\n", f"{test}clusters:\n", 1))
    assert tenantry(capsys, "remove", "environment", "test")[0] == 2
    assert tenantry(capsys, "set", "environments.test.after", "null")[0] == 0
    assert "namespace: 'test-{tenant}'}" in FILE.read_text()
