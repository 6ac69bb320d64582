"""What exists already and a plan would take over: objects that are not the environment's, and data that somebody left.

For the platform it refuses the run. For a tenant it blocks what this tenant would take over, and nobody else's objects: otherwise
an object that a tenant makes first, or a name that was in use before, would stop all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from tenantry.guard.held import Held
from tenantry.guard.keeping import namespaces_of
from tenantry.guard.places import label
from tenantry.kube.objects import ObjectId, labels_of
from tenantry.messages.errors import Problem, error
from tenantry.messages.text import lines_of
from tenantry.plan.objects.scope import APP_LABEL, ENVIRONMENT_LABEL
from tenantry.plan.plan import Plan


class Taken(NamedTuple):
    """tenant: who would take it over; "": the platform. objects: the planned ones that may not be applied.

    place: the cluster and the namespace whose data it would get; None: other objects.
    """

    tenant: str
    problem: Problem
    objects: tuple[ObjectId, ...]
    place: tuple[str, str] | None = None


def taken(plan: Plan, now: Held, adopting: Collection[str], adopting_addons: frozenset[str]) -> Iterator[Taken]:
    """What the owners of a plan would take over. adopting, adopting_addons: the tenants and add-ons that may."""
    yield from _strangers(plan, now, adopting, adopting_addons)
    yield from _kept(plan, now, adopting, adopting_addons)


def _kept(plan: Plan, now: Held, adopting: Collection[str], adopting_addons: Collection[str]) -> Iterator[Taken]:
    """Namespaces that were left with their data."""
    for place, (tenant, addon) in sorted(namespaces_of(plan).items()):
        entry = now.kept.get(place)
        if entry is None or now.holds(tenant, *place):
            continue
        cluster, name = place
        holds = f"namespace '{name}' on {cluster} holds the data of {entry.owner}, kept since {entry.since}"
        if entry.tenant != tenant:
            problem = error(
                "others-data",
                f"{holds}, and {_in_words(tenant, addon)} would get it",
                f"choose another name; to delete the data for good, declare {entry.owner} again with 'adopt: true' and"
                " 'state: offboarding', run `tenantry up`, then remove it",
            )
        elif tenant not in adopting if tenant else addon not in adopting_addons:
            at = f"tenants.{tenant}" if tenant else f"platform.addons.{addon}"
            problem = error("kept-data", holds, f"to go on with this data: tenantry set {at}.adopt true")
        else:
            continue
        objects = (
            object.id for object in plan.objects if (object.owner.tenant, object.owner.cluster) == (tenant, cluster)
        )
        yield Taken(tenant, problem, tuple(objects), place)


def _in_words(tenant: str, addon: str) -> str:
    return f"tenant '{tenant}'" if tenant else f"add-on '{addon}'"


def _strangers(plan: Plan, now: Held, adopting: Collection[str], adopting_addons: frozenset[str]) -> Iterator[Taken]:
    """Applying would silently take over existing objects, and a later removal would delete them with all their content."""
    strangers: dict[str, list[ObjectId]] = {}
    addons = _addons_with(plan)
    for planned in plan.objects:
        adopted = planned.owner.tenant in adopting or not adopting_addons.isdisjoint(addons[planned.id])
        if planned.id in now.strangers and not adopted:
            strangers.setdefault(planned.owner.tenant, []).append(planned.id)
    for tenant, ids in strangers.items():
        is_single = len(ids) == 1
        exist, them = ("exists", "it") if is_single else ("exist", "them")
        what, lines = (str(ids[0]), "") if is_single else (f"{len(ids)} objects", f"\n{lines_of(ids)}")
        who = f"tenant '{tenant}'" if tenant else "the platform"
        message = (
            f"{what} {exist} already on '{plan.management}' outside of environment '{plan.environment}':"
            f" {who} would take {them} over{lines}"
        )
        fix = f"to let the tenant take {them} over, set 'adopt: true' under tenants.{tenant}; or, if it is new, rename the tenant"
        if not tenant:
            label_as = f"{ENVIRONMENT_LABEL}={plan.environment}"
            fix = f"to let Tenantry manage {them}: kubectl label KIND NAME --namespace NAMESPACE {label_as}"
        if all(addons[id] for id in ids):
            fix = f"set 'adopt: true' on the add-on; or {fix}"
        yield Taken(tenant, error("not-the-fleets", message, fix), tuple(ids))


def _addons_with(plan: Plan) -> dict[ObjectId, set[str]]:
    """The add-ons that take each object of the platform over: their own objects, what is in their namespaces, and the sources,
    charts and accounts that they use, which have no label of an app. Empty for a tenant's objects.
    """
    platform = {object.id: object for object in plan.objects if not object.owner.tenant}
    # The add-on that each is made for; "" for what several share.
    names = {id: label(labels_of(object.manifest), APP_LABEL) for id, object in platform.items()}
    homes = {id.name: names[id] for id in platform if id.kind == "Namespace"}
    addons: dict[ObjectId, set[str]] = {object.id: set() for object in plan.objects}
    for id in platform:
        pending = {id: names[id] or homes.get(id.namespace, "")}
        while pending:
            at, addon = pending.popitem()
            if addon and addon not in addons[at]:
                addons[at].add(addon)
                pending |= {
                    dependency: addon
                    for dependency in platform[at].depends_on
                    if dependency in platform and not names[dependency]
                }
    return addons
