"""What a remote cluster has already under the names that the plan uses there."""

from __future__ import annotations

from typing import Any

from tenantry.load import plan_one
from tenantry.preflight.remotes import remotes
from tests.table import table
from tests.unit.preflight.clusters import TEXT, Edge
from tests.unit.preflight.test_remotes import BOOTSTRAP, told
from tests.unit.texts import fleet


def namespace(name: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **metadata}}


FLEETS = {"toolkit.fluxcd.io/tenant": "rocky", "tenantry/environment": "dev"}


@table("metadata", [{"labels": FLEETS}, {"annotations": {"meta.helm.sh/release-name": "rocky-baseline"}}])
def test_a_namespace_that_the_fleet_made_is_no_news(metadata: dict[str, Any]) -> None:
    edge = Edge()
    edge.objects["/api/v1/namespaces"] = {"items": [namespace("rocky", **metadata), namespace("monitoring")]}
    assert told(edge) == []


@table("labels", [{}, {**FLEETS, "tenantry/environment": "prod"}, {"toolkit.fluxcd.io/tenant": "rocky"}])
def test_a_namespace_of_somebody_else_is_told(labels: dict[str, str]) -> None:
    edge = Edge()
    edge.objects["/api/v1/namespaces"] = {"items": [namespace("rocky", labels=labels)]}
    assert told(edge) == [
        (
            "error",
            "foreign-namespace",
            "cluster 'edge': namespace 'rocky' exists on it and was not made for tenant 'rocky': its baseline cannot be installed",
            "rename the tenant, or set 'adopt: true' under tenants.rocky to take the namespace over",
        )
    ]


def test_the_namespace_of_a_tenant_that_adopts_is_no_news() -> None:
    adopting = fleet(TEXT.replace("  rocky:\n", "  rocky:\n    adopt: true\n"))
    (remote,) = remotes(adopting, plan_one(adopting, "dev"))
    assert remote.namespaces == {}


def test_a_service_account_under_the_name_that_flux_acts_as_is_told() -> None:
    edge = Edge()
    edge.objects["/api/v1/namespaces/kamaji/serviceaccounts"] = {"items": [namespace("rocky"), namespace("default")]}
    assert told(edge) == [
        (
            "error",
            "same-account",
            "cluster 'edge': it has service accounts of its own in namespace 'kamaji' called rocky: Flux would act with their"
            " rights",
            "keep the cluster's kubeconfig in a namespace that does not exist on it; or, if they are new, rename the tenants",
        )
    ]


def test_a_remote_without_the_policies_is_told() -> None:
    edge = Edge()
    for path in [each for each in edge.objects if "validatingadmission" in each]:
        del edge.objects[path]
    ((severity, code, message, fix),) = told(edge)
    assert (severity, code, fix) == ("warning", "no-policy", BOOTSTRAP)
    assert message.startswith("cluster 'edge': it has no ValidatingAdmissionPolicy tenantry-baselines, ")


def test_what_a_kubeconfig_may_not_read_is_not_told() -> None:
    edge = Edge()
    edge.refuse("GET", "/api/v1/namespaces", 403, "no")
    edge.refuse("GET", "/api/v1/namespaces/kamaji/serviceaccounts", 403, "no")
    edge.refuse("GET", "/api/v1/namespaces/kube-system", 403, "no")
    assert told(edge) == []
