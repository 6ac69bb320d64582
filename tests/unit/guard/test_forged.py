"""What a tenant puts into its own namespace speaks for that tenant alone, whatever its labels say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tenantry.guard.check import RunLimits, check
from tenantry.guard.reading import held
from tenantry.guard.removals import removals
from tests.table import table
from tests.unit.guard.fleets import fleet, manifests, now, refusal, tenant
from tests.unit.texts import planned

pytestmark = pytest.mark.usefixtures("plans_once")

NOTHING, GUARDED = RunLimits(protected=False, deletions=0), RunLimits(protected=True, deletions=9)
ROCKY, MOVY, TINA = tenant("rocky", "web"), tenant("movy", "web"), tenant("tina", "web")
ALL, WITHOUT_MOVY = fleet(ROCKY, MOVY, TINA), fleet(ROCKY, TINA)


def labels(tenant: str, cluster: str, **more: str) -> dict[str, str]:
    return {
        "tenantry/environment": "dev",
        "tenantry/cluster": cluster,
        "toolkit.fluxcd.io/tenant": tenant,
        **{f"tenantry/{key}": value for key, value in more.items()},
    }


def release(name: str, labels: Mapping[str, str], namespace: str = "rocky", **spec: Any) -> dict[str, Any]:
    """A HelmRelease that tenant rocky makes in its own namespace on the management cluster."""
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return {"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "metadata": metadata, "spec": spec}


def baseline(of: str, cluster: str, state: str = "offboarding", **spec: Any) -> dict[str, Any]:
    """A forged baseline: it claims that a tenant's namespace on a cluster is marked for removal."""
    objects = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": of}}]
    return release(f"forged-{cluster}", labels(of, cluster, state=state), values={"objects": objects}, **spec)


FORGED = baseline("movy", "hub"), baseline("movy", "edge")


@pytest.mark.parametrize("limits", [NOTHING, GUARDED])
def test_two_forged_baselines_do_not_mark_a_neighbour_for_removal(limits: RunLimits) -> None:
    assert refusal(ALL, WITHOUT_MOVY, limits, *FORGED) == refusal(ALL, WITHOUT_MOVY, limits)


def test_a_forged_baseline_does_not_mark_a_tenant_s_own_namespace_for_removal() -> None:
    own = baseline("rocky", "hub"), baseline("rocky", "edge")
    assert refusal(ALL, fleet(MOVY, TINA), GUARDED, *own) == refusal(ALL, fleet(MOVY, TINA), GUARDED)


def test_a_forged_namespace_does_not_hide_that_every_namespace_would_be_removed() -> None:
    before, after = (fleet(tenant("rocky", "web", where=f"{{names: [{name}]}}")) for name in ("hub", "edge"))
    forged = baseline("rocky", "edge", kubeConfig={"secretRef": {"name": "mine"}})
    assert refusal(before, after, NOTHING, forged) == refusal(before, after, NOTHING)
    assert "this run would remove every namespace of environment 'dev'" in refusal(before, after, NOTHING, forged)


OF_MOVY = labels("movy", "hub", app="more")
ELSEWHERE = labels("rocky", "edge", app="more")


@table(
    "forged",
    [
        release("app", OF_MOVY),
        release("addon", {**labels("", "hub", app="dns")}),
        release("app", ELSEWHERE),
        release("app", labels("rocky", "hub", app="more"), kubeConfig={"secretRef": {"name": "mine"}}),
        baseline("movy", "edge", suspend=True),
        baseline("movy", "edge", kubeConfig={"secretRef": {"name": "mine"}}),
        baseline("new", "new", kubeConfig={"secretRef": {"name": "mine"}}),
    ],
    ids=["neighbour", "add-on", "elsewhere", "kubeconfig", "suspended", "remote", "unknown"],
)
def test_what_the_fleet_does_not_put_there_is_passed_over(forged: dict[str, Any]) -> None:
    """Not even a refusal comes of it: a tenant could otherwise stop every run."""
    honest = now(ALL)
    there = now(ALL, forged)
    assert (there.namespaces, there.apps, there.kubeconfigs, there.frozen) == (
        honest.namespaces,
        honest.apps,
        honest.kubeconfigs,
        honest.frozen,
    )
    check(planned(ALL), there, NOTHING)


def test_an_app_that_a_tenant_adds_with_the_fleet_s_labels_is_that_tenant_s() -> None:
    there = now(ALL, release("more", labels("rocky", "hub", app="more")))
    assert [str(each) for each in removals(planned(ALL), there)] == ["app 'more' of tenant 'rocky' on hub"]


def test_in_another_environment_s_tenant_s_namespace_no_label_speaks_for_this_one() -> None:
    theirs = [dict(each, metadata={**each["metadata"]}) for each in manifests(ALL) if each["kind"] == "Namespace"]
    for each in theirs:
        each["metadata"] |= {
            "name": "prod-rocky",
            "labels": {**each["metadata"]["labels"], "tenantry/environment": "prod"},
        }
    forged = release("more", labels("rocky", "hub", app="more"), "prod-rocky")
    assert held([*manifests(ALL), *theirs, forged], "dev").apps == now(ALL).apps


@pytest.mark.parametrize("limits", [NOTHING, GUARDED])
def test_before_the_fleet_has_labelled_a_namespace_that_it_adopts_nothing_speaks_for_tenants_from_there(
    limits: RunLimits,
) -> None:
    """The Namespace does not yet say whose it is."""
    before, after = (fleet(tenant("rocky", "web", where=f"{{names: [{name}]}}")) for name in ("hub", "edge"))
    forged = baseline("rocky", "edge"), baseline("rocky", "hub")
    for each in forged:
        each["metadata"]["namespace"] = "new"
    assert refusal(before, after, limits, *forged) == refusal(before, after, limits)
