"""What a remote cluster has already under the names that the plan uses there."""

from __future__ import annotations

from typing import Any

from tests.unit.preflight.clusters import Edge
from tests.unit.preflight.test_remotes import BOOTSTRAP, told


def namespace(name: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **metadata}}


def test_a_service_account_under_the_name_that_flux_acts_as_is_told() -> None:
    edge = Edge()
    edge.objects["/api/v1/namespaces/kamaji/serviceaccounts"] = {"items": [namespace("rocky"), namespace("default")]}
    assert told(edge) == [
        (
            "error",
            "same-account",
            "it has service accounts of its own in namespace 'kamaji' called rocky: Flux would act with their rights",
            "keep the cluster's kubeconfig in a namespace that does not exist on it; or, if they are new, rename the tenants",
        )
    ]


def test_a_remote_without_the_policies_is_told() -> None:
    edge = Edge()
    for path in [each for each in edge.objects if "validatingadmission" in each]:
        del edge.objects[path]
    ((severity, code, message, fix),) = told(edge)
    assert (severity, code, fix) == ("warning", "no-policy", BOOTSTRAP)
    assert message.startswith("it has no ValidatingAdmissionPolicy tenantry-baselines, ")


def test_what_a_kubeconfig_may_not_read_is_not_told() -> None:
    edge = Edge()
    edge.refuse("GET", "/api/v1/namespaces", 403, "no")
    edge.refuse("GET", "/api/v1/namespaces/kamaji/serviceaccounts", 403, "no")
    edge.refuse("GET", "/api/v1/namespaces/kube-system", 403, "no")
    assert told(edge) == []
