"""`tenantry preflight` on clusters in memory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenantry.cli import preflight as module
from tenantry.guard.claims import Claim, claim_object
from tenantry.preflight import remotes
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.memory import Memory
from tests.unit.preflight.clusters import MARKER, SECRET, TEXT, Edge, hub

NO_SECRET = (
    "error[no-secret]: cluster 'edge': there is no Secret kamaji/edge-admin-kubeconfig\n"
    "  fix: wait until it is created, or correct the cluster's 'kubeconfig' in tenants.yaml\n"
)
WITH_A_WARNING = TEXT.replace("  rocky:\n", "  rocky:\n    variables: {tag: 1.10}\n")
DEV = ("preflight", "--environment", "dev")


@pytest.fixture
def management(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """The management cluster of every environment."""
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(TEXT)
    memory = hub()
    monkeypatch.setattr(module, "connect_management", lambda *_, **__: memory.client())
    monkeypatch.setattr(remotes, "connect_remote", Edge().connect)
    return memory


@pytest.mark.usefixtures("management")
def test_nothing_in_the_way_is_fine(capsys: Capture) -> None:
    assert tenantry(capsys, *DEV) == (0, "dev: 13 objects for hub: nothing is in the way\n", "")


def test_an_error_is_exit_code_1(capsys: Capture, management: Memory) -> None:
    del management.objects[SECRET]
    assert tenantry(capsys, *DEV) == (1, f"{NO_SECRET}dev: 13 objects for hub: 1 error\n", "")


def test_json_says_the_same(capsys: Capture, management: Memory) -> None:
    del management.objects[SECRET]
    code, out, err = tenantry(capsys, *DEV, "--output", "json")
    problem = {
        "severity": "error",
        "code": "no-secret",
        "path": [],
        "notes": [],
        "message": "cluster 'edge': there is no Secret kamaji/edge-admin-kubeconfig",
        "fix": "wait until it is created, or correct the cluster's 'kubeconfig' in tenants.yaml",
    }
    report = {
        "environment": "dev",
        "management": "hub",
        "objects": 13,
        "fit": False,
        "refused": False,
        "problems": [problem],
        "adoptions": [],
    }
    told = {"apiVersion": "tenantry/v1", "kind": "Preflight", "environments": [report], "warnings": []}
    assert (1, told, "") == (code, json.loads(out), err)


@pytest.mark.usefixtures("management")
def test_the_warnings_of_the_file_are_printed_too(capsys: Capture) -> None:
    Path("tenants.yaml").write_text(WITH_A_WARNING)
    told = "dev: 13 objects for hub: nothing is in the way\n"
    code, out, err = tenantry(capsys, *DEV)
    assert (code, out, err.splitlines()[-1]) == (0, told, "Found 1 warning")
    assert err.startswith("tenants.yaml:10:22: warning[number-as-text]: '1.10' is a number in YAML, ")
    code, out, err = tenantry(capsys, *DEV, "--output", "json")
    assert (code, [each["code"] for each in json.loads(out)["warnings"]], err) == (0, ["number-as-text"], "")


def test_what_adopting_changes_is_shown(capsys: Capture, management: Memory) -> None:
    Path("tenants.yaml").write_text(TEXT.replace("  rocky:\n", "  rocky:\n    adopt: true\n"))
    there = {"metadata": {"name": "rocky", "labels": {"toolkit.fluxcd.io/tenant": "rocky", "app": "a"}}}
    management.objects["/api/v1/namespaces"]["items"] = [there]
    code, out, _ = tenantry(capsys, *DEV)
    assert code == 0
    assert out.splitlines() == [
        "tenant 'rocky' takes over 1 object, gets 9 new, and loses none",
        "  ~ Namespace rocky",
        '      + metadata.labels["pod-security.kubernetes.io/enforce"]: baseline',
        '      + metadata.labels["app.kubernetes.io/managed-by"]: tenantry',
        "      + metadata.labels.tenantry/environment: dev",
        "      + metadata.labels.tenantry/cluster: hub",
        '      + metadata.labels["toolkit.fluxcd.io/role"]: tenant',
        '      + metadata.labels["kustomize.toolkit.fluxcd.io/prune"]: disabled',
        "  + ServiceAccount rocky/rocky",
        "  + RoleBinding rocky/tenantry-reconciler-admin",
        "  + NetworkPolicy rocky/tenantry-isolated",
        "  + GitRepository rocky/manifests",
        "  + Kustomization rocky/web",
        "  + ServiceAccount kamaji/rocky",
        "  + HelmRelease kamaji/edge-rocky-baseline",
        "  + GitRepository kamaji/rocky.manifests.62305212",
        "  + Kustomization kamaji/edge-rocky-web",
        "dev: 13 objects for hub: nothing is in the way",
    ]


def test_the_stack_s_limit_of_deletions_counts(capsys: Capture, management: Memory) -> None:
    management.objects["/api/v1/namespaces"]["items"] = [
        {"metadata": {"name": f"t{index}", "labels": labels(f"t{index}")}} for index in range(4)
    ]
    code, out, _ = tenantry(capsys, *DEV)
    assert (4, True) == (code, "this run would remove 4 tenants; the limit for 'dev' is 3 (maxDeletions)" in out)
    Path("Pulumi.dev.yaml").write_text('config: {"tenantry:maxDeletions": "4"}\n')
    assert tenantry(capsys, *DEV)[0] == 0


def labels(tenant: str) -> dict[str, str]:
    return {"tenantry/environment": "dev", "tenantry/cluster": "hub", "toolkit.fluxcd.io/tenant": tenant}


def test_a_stack_that_is_told_to_be_another_environment_is_told(capsys: Capture, management: Memory) -> None:
    claims = [dict(claim_object("tenantry-system", Claim(each, f"fleet/{each}")).manifest) for each in ("dev", "qa")]
    management.objects["/api/v1/namespaces/tenantry-system/configmaps"] = {"metadata": {}, "items": claims}
    Path("Pulumi.dev.yaml").write_text("config: {}\n")
    assert tenantry(capsys, *DEV)[0] == 0
    Path("Pulumi.yaml").write_text("name: fleet\n")
    assert tenantry(capsys, *DEV)[0] == 0
    Path("Pulumi.dev.yaml").write_text("config: {tenantry:environment: qa}\n")
    code, out, _ = tenantry(capsys, *DEV)
    assert code == 1
    assert (
        "error[other-environment]: stack 'fleet/dev' runs environment 'dev', and would delete all of it for 'qa'" in out
    )
    assert "error[other-stack]: environment 'qa' is run by stack 'fleet/qa', and this is stack 'fleet/dev'" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-e", "dev", "prod"), "Two environments are named, dev and prod"),
        (("-e", "dve"), "tenants.yaml declares no environment 'dve' (declared: dev)"),
    ],
)
def test_bad_input_is_exit_code_2(capsys: Capture, management: Memory, options: tuple[str, ...], message: str) -> None:
    code, out, err = tenantry(capsys, "preflight", *options)
    assert (2, "", True) == (code, out, message in err)
    assert management.requests == []


def test_nothing_of_a_kubeconfig_is_printed(capsys: Capture, management: Memory) -> None:
    management.objects[MARKER]["data"] = {}
    for format in ("text", "json"):
        code, out, err = tenantry(capsys, *DEV, "--output", format)
        assert code == 1
        assert "marker" not in out + err
        assert "edge.example.com" not in out + err
