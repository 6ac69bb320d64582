"""One edit of a drawn fleet: a dangerous one is told with its kind, a harmless one is not told."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
from hypothesis import assume, reject
from hypothesis import strategies as st

from tenantry.facts.dangers import DangerKind
from tenantry.messages.errors import InvalidFleet
from tests.drawn import given, one_in
from tests.properties.promises import planned, reviewed
from tests.strategies import Data, fleets

Edit = Callable[[Data, Data], None]
"""Changes a fleet, and a tenant of it."""


def sets(**settings: object) -> Edit:
    return lambda _, tenant: tenant.update(copy.deepcopy(settings))


def each_environment(**settings: object) -> Edit:
    def edit(fleet: Data, _: Data) -> None:
        for environment in fleet["environments"].values():
            environment.update(settings)

    return edit


def other_namespaces(fleet: Data, _: Data) -> None:
    for environment in fleet["environments"].values():
        environment["namespace"] = f"moved-{environment['namespace']}"


def everywhere(_: Data, tenant: Data) -> None:
    tenant.pop("environments", None)
    tenant["clusters"] = {"all": True}
    for app in tenant["apps"].values():
        app.pop("clusters", None)


def other_kubeconfigs(fleet: Data, tenant: Data) -> None:
    everywhere(fleet, tenant)
    remote = [each for each in fleet["clusters"].values() if "kubeconfig" in each]
    assume(remote)
    for number, cluster in enumerate(remote):
        cluster["kubeconfig"] = {"secret": {"name": f"other-{number}", "namespace": "clusters", "key": "value"}}


def no_tenant(fleet: Data, tenant: Data) -> None:
    fleet["tenants"] = {name: each for name, each in fleet["tenants"].items() if each is not tenant}


def nothing(fleet: Data, tenant: Data) -> None:
    """The fleet as it is."""


DANGEROUS: dict[str, tuple[Edit, Edit, DangerKind]] = {
    "role": (sets(role="view"), sets(role="edit"), DangerKind.RIGHTS),
    "cluster-admin": (
        sets(role="edit", clusterAdmin=True),
        sets(role="cluster-admin", clusterAdmin=True),
        DangerKind.RIGHTS,
    ),
    "owner": (sets(owners=[]), sets(owners=[{"user": "eve", "role": "edit"}]), DangerKind.RIGHTS),
    "quota": (sets(quota={"pods": "10"}), sets(quota={"pods": "5"}), DangerKind.QUOTA),
    "limits": (sets(limits={"max": {"cpu": "4"}}), sets(limits={"max": {"cpu": "500m"}}), DangerKind.LIMITS),
    "network": (sets(network="isolated"), sets(network="open"), DangerKind.NETWORK),
    "less-strict-network": (sets(network="strict"), sets(network="isolated"), DangerKind.NETWORK),
    "pod-security": (
        sets(podSecurity={"enforce": "restricted"}),
        sets(podSecurity={"enforce": "privileged"}),
        DangerKind.POD_SECURITY,
    ),
    "adoption": (sets(adopt=False), sets(adopt=True), DangerKind.ADOPTION),
    "protection": (each_environment(protected=True), each_environment(protected=False), DangerKind.PROTECTION),
    "namespace": (nothing, other_namespaces, DangerKind.NAMESPACE),
    "kubeconfig": (everywhere, other_kubeconfigs, DangerKind.KUBECONFIG),
    "tenant-removed": (nothing, no_tenant, DangerKind.DELETION),
}
HARMLESS: dict[str, tuple[Edit, Edit]] = {
    "interval": (sets(interval="10m"), sets(interval="20m")),
    "label": (nothing, sets(labels={"team.example.com/name": "a"})),
    "more-quota": (sets(quota={"pods": "10", "memory": "1Gi"}), sets(quota={"pods": "20", "memory": "1024Mi"})),
    "less-role": (sets(role="admin"), sets(role="view")),
    "higher-pod-security": (sets(podSecurity={"enforce": "baseline"}), sets(podSecurity={"enforce": "restricted"})),
    "closed-network": (sets(network="open"), sets(network="isolated")),
    "stricter-network": (sets(network="isolated"), sets(network="strict")),
}


def kinds(data: st.DataObject, first: Edit, second: Edit) -> set[DangerKind]:
    """The kinds of the dangers between a drawn fleet after the first edit, and the same after the second."""
    fleet = data.draw(fleets())
    assume(fleet["tenants"])
    name = data.draw(st.sampled_from(sorted(fleet["tenants"])))
    tenant = fleet["tenants"][name]
    for part in (tenant, fleet["defaults"], *fleet.get("templates", {}).get("tenants", {}).values()):
        # They win over what an edit sets.
        part.pop("overrides", None)
        part.pop("state", None)
    for key in ("namespaces", "namespace"):
        tenant.pop(key, None)
    before, after = copy.deepcopy(fleet), copy.deepcopy(fleet)
    first(before, before["tenants"][name])
    second(after, after["tenants"][name])
    try:
        old, new = planned(before), planned(after)
    except InvalidFleet:  # an app may need what the edit takes away
        reject()
    assume(any(each.tenant == name for plan in old.plans.values() for each in plan.placements))
    return {danger.kind for each in reviewed(old, new) for danger in each.dangers}


@pytest.mark.parametrize("edit", DANGEROUS)
@one_in(8)
@given(st.data())
def test_a_dangerous_edit_is_told_with_its_kind(edit: str, data: st.DataObject) -> None:
    first, second, kind = DANGEROUS[edit]
    assert kind in kinds(data, first, second)


@pytest.mark.parametrize("edit", HARMLESS)
@one_in(8)
@given(st.data())
def test_a_harmless_edit_is_not_told(edit: str, data: st.DataObject) -> None:
    assert kinds(data, *HARMLESS[edit]) == set()
