"""`tenantry bootstrap`: what is applied to an API server in memory, the roles, and the chart."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tenantry.charts import OBJECTS
from tenantry.charts.package import files_of
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


def test_bootstrap_as_a_dry_run_says_what_would_be_done(capsys: Capture, remote: Memory) -> None:
    command = ("bootstrap", "edge", "--kubeconfig", "admin", "--context", "hub", "--dry-run")
    assert tenantry(capsys, *command) == (0, told("would be created", "would be created"), WHERE)
    assert {} == remote.objects


@pytest.mark.parametrize("option", [["--dry-run"], ["--context", "edge"]])
def test_options_of_applying_need_a_kubeconfig(capsys: Capture, option: list[str]) -> None:
    code, out, err = tenantry(capsys, "bootstrap", "edge", *option)
    assert (2, "") == (code, out)
    assert "--context and --dry-run need --kubeconfig: without it nothing is applied" in err


def test_a_kubeconfig_that_is_not_there_is_refused_with_what_helps_here(capsys: Capture) -> None:
    expected = (
        "error: kubeconfig nowhere cannot be read: No such file or directory\n"
        "  fix: name an administrator's kubeconfig and context for this cluster with --kubeconfig and --context\n"
    )
    assert tenantry(capsys, "bootstrap", "edge", "--kubeconfig", "nowhere") == (2, "", expected)


# --- without CLUSTER: the management cluster of the environment --------------------------------------------------


def test_without_a_cluster_it_is_the_environment_s_management_cluster(capsys: Capture) -> None:
    of_hub, of_edge = tenantry(capsys, "bootstrap", "hub")[1], tenantry(capsys, "bootstrap", "edge")[1]
    assert tenantry(capsys, "bootstrap", "-e", "dev") == (0, of_hub, "")
    assert of_hub != of_edge
    assert tenantry(capsys, "bootstrap")[0] == 2
    code, _, err = tenantry(capsys, "bootstrap", "-e", "dve")
    assert (code, "no environment 'dve'" in err) == (2, True)


def test_roles_are_for_a_management_cluster(capsys: Capture) -> None:
    code, _, err = tenantry(capsys, "bootstrap", "edge", "-e", "dev", "--roles", "deploy", "--for", "group:ops")
    assert (code, "'edge' is no management cluster of environment dev" in err) == (2, True)


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


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--roles", "preview"), "say who gets the roles: --for group:NAME, user:NAME or account:NAMESPACE/NAME"),
        *(
            (
                ("--roles", "preview", "--for", who),
                f"'{who}' is none of: group:NAME, user:NAME, account:NAMESPACE/NAME.",
            )
            for who in ("ops", "group:", "team:ops", "account:deployer", "account:/deployer", "account:ci/", "")
        ),
        (("--for", "group:ops"), "--for, --kubeconfigs and --secrets are for --roles"),
        (("--secrets",), "--for, --kubeconfigs and --secrets are for --roles"),
        (("--roles", "deploy", "--for", "user:jo", "--kubeconfig", "admin"), "--roles prints: pipe it to `kubectl"),
        (("edge", "--roles", "deploy", "--for", "user:jo"), "'edge' is no management cluster"),
        (("--roles", "all"), "'all' is not one of"),
    ],
)
def test_wrong_roles_are_refused(capsys: Capture, given: tuple[str, ...], words: str) -> None:
    code, out, err = tenantry(capsys, "bootstrap", "-e", "dev", *given)
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())


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


def test_what_of_the_chart_cannot_be_written_is_refused(capsys: Capture) -> None:
    Path("file").touch()
    refused = "error: file/charts cannot be written: Not a directory\n  fix: name another directory\n"
    assert tenantry(capsys, "bootstrap", "--chart", "file/charts") == (2, "", refused)
    assert "--chart writes the chart alone" in tenantry(capsys, "bootstrap", "edge", "--chart", "charts")[2]
