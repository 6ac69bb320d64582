"""`tenantry rbac`: what is asked, and what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.texts import rocky

SIMPLE = "web: {kustomize: {source: manifests}}"
SEVERAL = """\
apiVersion: tenantry/v1
environments:
  dev: {management: [eu, us]}
clusters:
  eu: {environments: [dev]}
  us: {environments: [dev]}
"""
_WHO = "say who gets the role: --group NAME, --user NAME or --account NAMESPACE/NAME"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(rocky(SIMPLE))


SUBJECTS = [
    (("--group", "ops"), {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "ops"}),
    (("--user", "jo"), {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jo"}),
    (("--account", "ci/deployer"), {"kind": "ServiceAccount", "namespace": "ci", "name": "deployer"}),
]


@pytest.mark.parametrize(("who", "subject"), SUBJECTS)
def test_every_binding_is_for_who_is_named(capsys: Capture, who: tuple[str, ...], subject: dict[str, str]) -> None:
    code, out, _ = tenantry(capsys, "rbac", "--role", "deploy", *who)
    printed = list(yaml.safe_load_all(out))
    bindings = [each for each in printed if each["kind"].endswith("Binding")]
    assert code == 0
    assert {each["metadata"].get("namespace", "") for each in bindings} == {"", "rocky", "tenantry-system"}
    assert all(each["subjects"] == [subject] for each in bindings)


@pytest.mark.parametrize(
    ("who", "words"),
    [
        ((), _WHO),
        (("--group", "ops", "--user", "jo"), _WHO),
        (("--account", "deployer"), "'deployer' is no service account: write --account NAMESPACE/NAME"),
    ],
)
def test_who_gets_the_role_is_said_once(capsys: Capture, who: tuple[str, ...], words: str) -> None:
    code, out, shown = tenantry(capsys, "rbac", "--role", "preview", *who)
    assert (code, out) == (2, "")
    assert words in " ".join(shown.split())


def test_wide_rights_of_the_fleet_s_own_roles_are_told_beside_the_yaml(capsys: Capture) -> None:
    rules = "{apiGroups: ['*'], resources: ['*'], verbs: ['*']}"
    rest = f"clusters: {{names: [hub]}}\nclusterAdmin: true\nrole: all\nroles: {{all: {{rules: [{rules}]}}}}"
    Path("tenants.yaml").write_text(rocky(SIMPLE, rest))
    code, _, shown = tenantry(capsys, "rbac", "--role", "deploy", "--group", "ops")
    assert code == 0
    assert "wide: Role rocky/all of the fleet has wide rights" in shown


def test_each_of_several_management_clusters_has_roles_of_its_own(capsys: Capture) -> None:
    Path("tenants.yaml").write_text(SEVERAL)
    asked = ("rbac", "--role", "deploy", "--group", "ops")
    code, _, shown = tenantry(capsys, *asked)
    assert code == 2
    assert "environment 'dev' has several management clusters" in shown
    assert "name one: --hub eu (there are eu, us)" in shown
    assert tenantry(capsys, *asked, "--hub", "us")[0] == 0
    code, _, shown = tenantry(capsys, *asked, "--hub", "nowhere")
    assert code == 2
    assert "'nowhere' is no management cluster" in shown
