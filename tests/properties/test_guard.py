"""Whatever a tenant puts into its own namespace: the guard refuses no less because of it, and no command ends with a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from tenantry.cluster.leftovers import leftovers, stuck
from tenantry.cluster.states import states_of
from tenantry.guard.check import RunLimits, doubts, refusals
from tenantry.guard.places import Places
from tenantry.guard.reading import held
from tenantry.guard.removals import removals
from tenantry.kube.objects import readable_id
from tenantry.plan.plan import Plan
from tests.drawn import given
from tests.properties.promises import plans
from tests.strategies import Data, fleets

_API = {"Kustomization": "kustomize.toolkit.fluxcd.io/v1", "HelmRelease": "helm.toolkit.fluxcd.io/v2"}
_ODD = st.sampled_from([None, "text", 7, [], ["text"], {}, {"name": []}])


@st.composite
def hostile(draw: st.DrawFn, before: Plan, after: Plan, *elsewhere: str) -> dict[str, Any]:
    """An object in a tenant's namespace on the management cluster, with the names of everything that is there.

    elsewhere: more namespaces that it can be in.
    """
    tenants = sorted({each.tenant for each in before.placements})
    clusters = sorted({each.owner.cluster for each in (*before.objects, *after.objects)} - {""})
    namespaces = sorted({name for each in (*before.placements, *after.placements) for name in each.namespaces})
    apps = sorted({each.name for each in (*before.apps, *after.apps)} | {"more"})
    homes = sorted(
        {name for each in before.placements if each.cluster == before.management for name in each.namespaces}
    )
    kubeconfigs = sorted({reference.name for _, reference in held(manifests(before), before.environment).kubeconfigs})
    state = st.sampled_from(["offboarding", "decommissioned", ""])
    labels = st.fixed_dictionaries(
        {"tenantry/environment": st.sampled_from([before.environment, before.environment, "other"])},
        optional={
            "tenantry/cluster": st.sampled_from(clusters),
            "toolkit.fluxcd.io/tenant": st.sampled_from(tenants),
            "tenantry/app": st.sampled_from(apps),
            "tenantry/state": state,
        },
    )
    namespace = st.fixed_dictionaries(
        {"kind": st.just("Namespace")},
        optional={
            "metadata": _or_odd(
                st.fixed_dictionaries(
                    {"name": _or_odd(st.sampled_from(namespaces))},
                    optional={"labels": _or_odd(st.fixed_dictionaries({"tenantry/state": state}))},
                )
            )
        },
    )
    secret = st.fixed_dictionaries({"name": _or_odd(st.sampled_from([*kubeconfigs, "mine"]))})
    spec = st.fixed_dictionaries(
        {},
        optional={
            "suspend": st.booleans(),
            "kubeConfig": _or_odd(
                st.fixed_dictionaries({}, optional={"secretRef": _or_odd(secret), "configMapRef": secret})
            ),
            "values": _or_odd(st.fixed_dictionaries({"objects": _or_odd(st.lists(_or_odd(namespace), max_size=2))})),
        },
    )
    entry = st.fixed_dictionaries({"id": _or_odd(st.sampled_from(namespaces).map("{}_x__ConfigMap".format))})
    status = st.fixed_dictionaries(
        {},
        optional={
            "inventory": _or_odd(st.fixed_dictionaries({"entries": _or_odd(st.lists(entry, max_size=2))})),
            "conditions": _or_odd(st.lists(_or_odd(st.just({"type": "Ready"})), max_size=2)),
            "history": _or_odd(st.lists(_or_odd(st.just({"status": "deployed"})), max_size=1)),
        },
    )
    kind = draw(st.sampled_from(sorted(_API)))
    metadata = {
        "name": draw(st.sampled_from([*apps, "forged"])),
        "namespace": draw(st.sampled_from([*homes, *elsewhere])),
        "labels": draw(_or_odd(labels)),
        **draw(st.sampled_from([{}, {"deletionTimestamp": "2026-01-01T00:00:00Z"}])),
    }
    rest = {"spec": draw(_or_odd(spec)), "status": draw(_or_odd(status))}
    return {"apiVersion": _API[kind], "kind": kind, "metadata": metadata, **rest}


def _or_odd(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Mostly as it should be."""
    return st.one_of(strategy, strategy, strategy, _ODD)


def manifests(plan: Plan) -> list[dict[str, Any]]:
    return [dict(each.manifest) for each in plan.objects]


@given(fleets(), fleets(), st.data())
def test_no_object_in_a_tenant_s_namespace_makes_the_guard_refuse_less(
    one: Data, other: Data, data: st.DataObject
) -> None:
    for before, after, limits in _runs(one, other, data):
        there = manifests(before)
        forged = [*there, *_added(data, before, after)]
        honest, now = held(there, before.environment), held(forged, before.environment)
        assert now.namespaces == honest.namespaces
        assert now.kubeconfigs == honest.kubeconfigs
        assert now.others_kubeconfigs == honest.others_kubeconfigs
        counted = {(each, each.leaving, each.suspended) for each in removals(after, honest)}
        assert counted <= {(each, each.leaving, each.suspended) for each in removals(after, now)}
        codes = [each.code for each in refusals(after, honest, limits)]
        said = [each.code for each in refusals(after, now, limits)]
        assert all(said.count(code) >= codes.count(code) for code in codes)
        _reads(after, forged, limits)


@given(fleets(), fleets(), st.data())
def test_nor_does_one_in_a_namespace_that_nobody_has_labelled(one: Data, other: Data, data: st.DataObject) -> None:
    """As that of a tenant who took the labels off, or of somebody whom the fleet does not know."""
    for before, after, limits in _runs(one, other, data):
        there = manifests(before)
        forged = [*there, *_added(data, before, after, "unlabelled")]
        refused = any(refusals(after, held(there, before.environment), limits))
        assert not refused or any(refusals(after, held(forged, before.environment), limits))
        _reads(after, forged, limits)


def _runs(one: Data, other: Data, data: st.DataObject) -> Iterator[tuple[Plan, Plan, RunLimits]]:
    """What the cluster holds, what is planned, and what may go, for each environment with tenants on its management cluster."""
    for tenant in one["tenants"].values():
        tenant["state"] = data.draw(st.sampled_from(["active", "paused", "removing", "offboarding"]))
    held_before, planned = plans(one), plans(other)
    for name in held_before.keys() & planned.keys():
        before, after = held_before[name], planned[name]
        if any(each.cluster == before.management for each in before.placements):
            names = [each.permit for each in removals(after, held(manifests(before), name))]
            yield (
                before,
                after,
                RunLimits(
                    protected=data.draw(st.booleans()),
                    deletions=data.draw(st.sampled_from([0, 1, 2, 3, "10%", "50%"])),
                    allowed=tuple(data.draw(st.lists(st.sampled_from(names), unique=True)) if names else ()),
                ),
            )


def _added(data: st.DataObject, before: Plan, after: Plan, *elsewhere: str) -> list[dict[str, Any]]:
    """Objects beside those that are there."""
    existing = {each.id for each in before.objects}
    drawn = data.draw(st.lists(hostile(before, after, *elsewhere), min_size=1, max_size=12))
    return [each for each in drawn if readable_id(each) not in existing]


def _reads(plan: Plan, there: list[dict[str, Any]], limits: RunLimits) -> None:
    """What the guard warns of, and what the commands read of the same objects."""
    list(doubts(plan, held(there, plan.environment), limits))
    states_of(plan, there, datetime(2026, 1, 1, tzinfo=UTC))
    list(stuck(there, Places(there)))
    leftovers(plan, there)
