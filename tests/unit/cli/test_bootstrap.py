"""`tenantry bootstrap`: what is applied to an API server in memory, the roles, and the chart."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tenantry.charts import OBJECTS, files_of
from tenantry.cli import bootstrap as module
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.memory import Memory
from tests.unit.texts import FRAME, rocky

NAMESPACE = "/api/v1/namespaces/tenantry-system"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(FRAME)


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Memory:
    memory = Memory()
    monkeypatch.setattr(module, "connect", lambda *_: memory.client())
    return memory


WHERE = "cluster https://hub.example.com, context 'hub'\n"


def told(first: str, second: str) -> str:
    policies = (
        f"{kind} {name}: {second}\n"
        for name in ("tenantry-baselines", "tenantry-namespaces", "tenantry-labels")
        for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
    )
    others = f"ClusterRoleBinding tenantry-platform-kamaji: {second}\nConfigMap tenantry-system/tenantry: {second}\n"
    return "".join([f"Namespace tenantry-system: {first}\n", others, *policies])


def test_bootstrap_with_a_kubeconfig_applies_and_says_where_and_what(capsys: Capture, remote: Memory) -> None:
    command = ("bootstrap", "edge", "--kubeconfig", "admin")
    assert tenantry(capsys, *command) == (0, told("created", "created"), WHERE)
    assert tenantry(capsys, *command) == (0, told("unchanged", "unchanged"), WHERE)
    del remote.objects[NAMESPACE]["metadata"]["labels"]
    assert tenantry(capsys, *command) == (0, told("changed", "unchanged"), WHERE)


# --- without CLUSTER: the management cluster of the environment --------------------------------------------------


def test_without_a_cluster_it_is_the_environment_s_management_cluster(capsys: Capture) -> None:
    of_hub, of_edge = tenantry(capsys, "bootstrap", "hub")[1], tenantry(capsys, "bootstrap", "edge")[1]
    assert tenantry(capsys, "bootstrap", "-e", "dev") == (0, of_hub, "")
    assert of_hub != of_edge
    assert tenantry(capsys, "bootstrap")[0] == 2
    code, _, err = tenantry(capsys, "bootstrap", "-e", "dve")
    assert (code, "no environment 'dve'" in err) == (2, True)


# --- the roles ----------------------------------------------------------------------------------------------------

SIMPLE = "web: {kustomize: {source: manifests}}"


@pytest.mark.parametrize(
    ("who", "subject"),
    [
        ("group:ops", {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "ops"}),
        ("user:system:jo", {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:jo"}),
        ("account:ci/deployer", {"kind": "ServiceAccount", "namespace": "ci", "name": "deployer"}),
    ],
)
def test_every_binding_is_for_who_is_named(capsys: Capture, who: str, subject: dict[str, str]) -> None:
    Path("tenants.yaml").write_text(rocky(SIMPLE))
    code, out, _ = tenantry(capsys, "bootstrap", "-e", "dev", "--roles", "deploy", "--for", who)
    bindings = [each for each in yaml.safe_load_all(out) if each["kind"].endswith("Binding")]
    assert code == 0
    assert {each["metadata"].get("namespace", "") for each in bindings} == {"", "rocky", "tenantry-system"}
    assert all(each["subjects"] == [subject] for each in bindings)


def test_wide_rights_of_the_fleet_s_own_roles_are_told_beside_the_yaml(capsys: Capture) -> None:
    rules = "{apiGroups: ['*'], resources: ['*'], verbs: ['*']}"
    role = f"{{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, rules: [{rules}]}}"
    rest = f"clusters: {{names: [hub]}}\nclusterAdmin: true\nobjects: {{all: {role}}}"
    Path("tenants.yaml").write_text(rocky(SIMPLE, rest))
    code, _, shown = tenantry(capsys, "bootstrap", "-e", "dev", "--roles", "deploy", "--for", "group:ops")
    assert code == 0
    assert "wide: Role rocky/all of the fleet has wide rights" in shown


# --- the chart of baselines -----------------------------------------------------------------------------------------


def test_the_chart_is_written_without_a_fleet_and_says_what_to_write(capsys: Capture) -> None:
    Path("tenants.yaml").unlink()
    assert tenantry(capsys, "bootstrap", "--chart", "charts/objects") == (
        0,
        "charts/objects: tenantry-objects 0.3.0, 4 files written\n",
        "commit and push it, then write in tenants.yaml:\n"
        "  platform: {chart: {git: {url: ..., ref: {branch: main}, path: charts/objects}}}\n",
    )
    assert files_of(Path("charts/objects")) == files_of(OBJECTS)
    again = "charts/objects: tenantry-objects 0.3.0, nothing to write\n"
    assert tenantry(capsys, "bootstrap", "--chart", "charts/objects")[:2] == (0, again)
    Path("charts/objects/templates/mine.yaml").touch()
    code, _, err = tenantry(capsys, "bootstrap", "--chart", "charts/objects")
    assert (code, "templates/mine.yaml was not written by tenantry; nothing was written" in err) == (2, True), err
