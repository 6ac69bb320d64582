"""What is told of objects that an earlier run deleted and that are still there, and of what Flux does not know that it has."""

from __future__ import annotations

from typing import Any

from tenantry.cluster.leftovers import stuck
from tenantry.guard.places import Places
from tests.table import table

NO_TENANTS = Places(())
SINCE = "2026-01-01T00:00:00Z"
WAIT = "wait until Flux has cleaned up, then run `tenantry up` again"
GONE = (
    "If 'edge' is gone for good: restore the removed entries in the file, set 'state: decommissioned' on"
    " 'edge', run `tenantry up`, then remove the entries again"
)


def deleted(kind: str = "HelmRelease", app: str = "web", tenant: str = "movy", **rest: Any) -> dict[str, Any]:
    labels = {"tenantry/cluster": "edge", "tenantry/app": app, "toolkit.fluxcd.io/tenant": tenant}
    metadata = {"namespace": "clusters", "name": "edge-web", "deletionTimestamp": SINCE}
    metadata["labels"] = {key: value for key, value in labels.items() if value}  # type: ignore[assignment]
    return {"apiVersion": "v2", "kind": kind, "metadata": metadata, "spec": {"kubeConfig": {}}, **rest}


def test_what_flux_can_not_clean_up_is_named_with_the_cluster_the_reason_and_what_to_do() -> None:
    condition = {"type": "Ready", "status": "False", "message": "kubernetes cluster unreachable"}
    assert list(stuck([deleted(status={"conditions": [condition]})], NO_TENANTS)) == [
        f"HelmRelease clusters/edge-web (app 'web' of tenant 'movy' on edge) has been deleting since {SINCE};"
        f" waiting for Flux to clean up on edge: kubernetes cluster unreachable\n  fix: {WAIT}. {GONE}"
    ]


def test_a_baseline_and_an_add_on_are_called_so() -> None:
    names = [
        each.partition("(")[2].partition(")")[0] for each in stuck([deleted(app=""), deleted(tenant="")], NO_TENANTS)
    ]
    assert names == ["the baseline of tenant 'movy' on edge", "add-on 'web' on edge"]


def test_on_the_management_cluster_no_cluster_can_be_given_up() -> None:
    assert list(stuck([deleted("Kustomization", spec={})], None)) == [
        f"Kustomization clusters/edge-web (app 'web' of tenant 'movy' on edge) has been deleting since {SINCE};"
        f" waiting for Flux to clean up on edge\n  fix: {WAIT}"
    ]


def test_nothing_is_told_of_what_stays_of_namespaces_and_of_others() -> None:
    stays, other = deleted(), deleted()
    del stays["metadata"]["deletionTimestamp"]
    other["metadata"]["labels"] = None
    assert list(stuck([stays, other, deleted("Namespace")], NO_TENANTS)) == []


def installed(**status: Any) -> dict[str, Any]:
    """A release as helm-controller leaves it that could not keep what it had done."""
    lost = {
        "conditions": [
            {"type": "Ready", "status": "Unknown", "reason": "Progressing", "message": "Running 'install' action"}
        ],
        "history": [{"status": "deployed"}],
        "observedGeneration": 1,
    }
    release = deleted(status={**lost, **status})
    del release["metadata"]["deletionTimestamp"]
    release["metadata"]["generation"] = 1
    return release


def test_a_release_that_flux_lost_sight_of_is_named_with_the_command_that_helps() -> None:
    assert list(stuck([installed()], NO_TENANTS)) == [
        "HelmRelease clusters/edge-web (app 'web' of tenant 'movy' on edge) is installed, but Flux lost track of"
        " the release and will never report it ready; what depends on it waits\n"
        "  fix: flux reconcile helmrelease edge-web --namespace clusters --force"
    ]


@table(
    "status",
    [
        {"conditions": [*installed()["status"]["conditions"], {"type": "Reconciling", "status": "True"}]},
        {"conditions": [*installed()["status"]["conditions"], {"type": "Released", "status": "True"}]},
        {"conditions": [{"type": "Ready", "status": "True", "reason": "InstallSucceeded"}]},
        {"conditions": []},
        {"history": [{"status": "failed"}]},
        {"history": None},
        {"observedGeneration": 0},
    ],
)
def test_a_release_that_is_at_work_or_known_is_not(status: dict[str, Any]) -> None:
    assert list(stuck([installed(**status)], NO_TENANTS)) == []


def test_a_release_that_is_suspended_is_not() -> None:
    assert list(stuck([{**installed(), "spec": {"suspend": True}}], NO_TENANTS)) == []


def test_what_a_tenant_makes_up_in_its_own_namespace_is_passed_over() -> None:
    """It would lead an operator to give up a cluster."""
    labels = {"tenantry/environment": "dev", "tenantry/cluster": "hub", "toolkit.fluxcd.io/tenant": "movy"}
    tenants = Places([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "clusters", "labels": labels}}])
    assert list(stuck([deleted(), installed()], tenants)) == []


@table("status", [None, "text", {"history": "text"}, {"history": ["text"]}, {"conditions": ["text", {}]}])
def test_a_malformed_status_ends_nothing(status: Any) -> None:
    assert (
        list(stuck([{**installed(), "status": status}, {"kind": "HelmRelease"}, {"metadata": None}], NO_TENANTS)) == []
    )


def test_flux_s_message_controls_no_terminal() -> None:
    condition = {"type": "Ready", "status": "False", "message": "\x1b[2Jfailed\nto\tclean"}
    (message,) = stuck([deleted(status={"conditions": [condition]})], NO_TENANTS)
    assert "clean up on edge: \\x1b[2Jfailed to clean\n  fix:" in message
