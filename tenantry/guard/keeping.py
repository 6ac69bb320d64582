"""Namespaces that stay with their data when what is around them goes, and what exists already and a plan would take over.

On a remote cluster Helm keeps a namespace that its stored manifest marks. A run writes the mark into the release's values, and
only when the release is ready at that generation, Helm has stored it. The same holds for taking the mark away. On the management
cluster Pulumi's state has the mark; `components` reads it.

What the platform would take over refuses the run. What a tenant would take over blocks this tenant, and nobody else's objects:
otherwise an object that a tenant makes first, or a name that was in use before, would stop all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from tenantry.guard.claims import Kept
from tenantry.guard.held import Held, HeldNamespace
from tenantry.guard.places import label
from tenantry.guard.reading import held, is_settled, namespaces_of
from tenantry.kube.objects import Manifest, ObjectId, labels_of, readable_id
from tenantry.messages.errors import Problem, error
from tenantry.messages.text import lines_of
from tenantry.plan.objects.scope import APP_LABEL, ENVIRONMENT_LABEL
from tenantry.plan.plan import Plan


def left_behind(plan: Plan, now: Held) -> dict[tuple[str, str], str]:
    """The namespaces that a run leaves on their clusters, as (cluster, name) -> tenant; "" for those of add-ons.

    Without those of releases that have installed nothing: if there is such a namespace, it is somebody else's.
    """
    return {
        (cluster, name): tenant
        for (tenant, cluster, name), gone in _going(plan, now)
        if not gone.leaving and not (gone.mark and gone.mark.is_freed)
    }


def left_here(plan: Plan, now: Held) -> list[str]:
    """The names of those on the management cluster, which Pulumi leaves there if its state says so."""
    on_remotes = {key[1:] for key, held in now.namespaces.items() if held.mark}
    return sorted(place[1] for place in left_behind(plan, now) if place not in on_remotes)


def kept_after(plan: Plan, now: Held, time: datetime, blocked: Collection[tuple[str, str]] = ()) -> tuple[Kept, ...]:
    """What the stack's claim records from this run on. blocked: the planned namespaces that the run does not take over."""
    planned = {key[1:] for key in namespaces_of(plan)} - {*blocked}
    before = {place: kept for place, kept in now.kept.items() if kept.environment == plan.environment}
    since = time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    left = {
        (cluster, name): Kept(cluster, name, tenant, since, plan.environment)
        for (cluster, name), tenant in left_behind(plan, now).items()
    }
    # The first time stays, if it is still the same tenant's.
    again = {place: kept for place, kept in before.items() if place not in left or left[place].tenant == kept.tenant}
    return tuple(sorted(kept for place, kept in {**left, **again}.items() if place not in planned))


def keeping_problems(plan: Plan, now: Held) -> Iterator[Problem]:
    """Problems with namespaces that a run would leave or delete, or give to another tenant. plan: the stack's part."""
    yield from _others_data(plan, now)
    going = [(key[1:], gone.leaving, gone.mark) for key, gone in _going(plan, now) if gone.mark]
    unmarked = [place for place, leaving, mark in going if not leaving and not mark.is_kept]
    if unmarked:
        yield error(
            "not-marked-yet",
            "this run would remove what is around namespaces that Helm does not keep yet, and they would be deleted with their"
            f" data\n{_listed(unmarked)}",
            "put back what is missing and run `tenantry up`, which marks them; remove it when `tenantry status` shows everything"
            " ready; to delete them, set 'state: offboarding' instead",
        )
    kept = [place for place, leaving, mark in going if leaving and not mark.is_freed]
    if kept:
        yield error(
            "still-kept",
            "this run would remove what was off-boarded before Helm knows it, and these namespaces would stay behind\n"
            f"{_listed(kept)}",
            "put the entry back, wait until its clusters have it (`tenantry up` without another change, then `tenantry status`),"
            " and remove it then",
        )


def unfreed(manifests: Iterable[Manifest], environment: str) -> list[str]:
    """What Helm and Flux would still keep of an environment whose tenants and add-ons were all given up, in words.

    manifests: as for `held`.
    """
    objects = list(manifests)
    now = held(objects, environment)
    addons = {id for id, app in now.apps.items() if not app.tenant}
    unsettled = [
        str(id) for manifest in objects if (id := readable_id(manifest)) in addons and not is_settled(manifest)
    ]
    return [
        *(
            f"namespace '{name}' on {cluster}"
            for (_, cluster, name), held_namespace in sorted(now.namespaces.items(), key=_by_place)
            if held_namespace.mark and not held_namespace.mark.is_freed
        ),
        *sorted(unsettled),
    ]


def _others_data(plan: Plan, now: Held) -> Iterator[Problem]:
    owners = {(cluster, name): tenant for tenant, cluster, name in now.namespaces if tenant}
    for (tenant, cluster, name), _ in sorted(namespaces_of(plan).items(), key=_by_place):
        if tenant and (owner := owners.get((cluster, name), tenant)) != tenant:
            yield error(
                "others-data",
                f"namespace '{name}' on {cluster} holds the data of tenant '{owner}', and tenant '{tenant}' would get it",
                f"choose another name; to delete the data for good, off-board tenant '{owner}' first",
            )


def _going(plan: Plan, now: Held) -> list[tuple[tuple[str, str, str], HeldNamespace]]:
    """Namespaces that are there and not planned. Without those whose suspended release goes, which the guard refuses anyway."""
    planned, thawed = {key[1:] for key in namespaces_of(plan)}, now.frozen - plan.placed
    gone = (item for item in now.namespaces.items() if item[0][1:] not in planned and item[0][:2] not in thawed)
    return sorted(gone, key=_by_place)


def _by_place(item: tuple[tuple[str, str, str], object]) -> tuple[str, str]:
    (_, cluster, name), _ = item
    return cluster, name


def _listed(places: list[tuple[str, str]]) -> str:
    return lines_of(f"namespace '{name}' on {cluster}" for cluster, name in places)


# --- what exists already -----------------------------------------------------------------------------------------------


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
    # Namespaces that were left with their data.
    for (tenant, cluster, name), addon in sorted(namespaces_of(plan).items(), key=_by_place):
        entry = now.kept.get((cluster, name))
        if entry is None or now.holds(tenant, cluster, name):
            continue
        owner = f"tenant '{tenant}'" if tenant else f"add-on '{addon}'"
        holds = f"namespace '{name}' on {cluster} holds the data of {entry.owner}, kept since {entry.since}"
        if entry.tenant != tenant:
            problem = error(
                "others-data",
                f"{holds}, and {owner} would get it",
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
        yield Taken(tenant, problem, tuple(objects), (cluster, name))


def _strangers(plan: Plan, now: Held, adopting: Collection[str], adopting_addons: frozenset[str]) -> Iterator[Taken]:
    """Applying would silently take over existing objects, and a later removal would delete them with all their content."""
    strangers: dict[str, list[ObjectId]] = {}
    strange = now.strangers - _of_addons(plan, adopting_addons)
    for planned in plan.objects:
        if planned.id in strange and planned.owner.tenant not in adopting:
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
        if not tenant and _of_addons(plan, {app.name for app in plan.apps if not app.tenant}).issuperset(ids):
            fix = f"set 'adopt: true' on the add-on; or {fix}"
        yield Taken(tenant, error("not-the-fleets", message, fix), tuple(ids))


def _of_addons(plan: Plan, addons: Collection[str]) -> set[ObjectId]:
    """What add-ons take over: their own objects, what is in their namespaces, and the sources, charts and accounts that they use,
    which have no label of an app.
    """
    platform = {object.id: object for object in plan.objects if not object.owner.tenant}
    # The add-on that each is made for; "" for what several share.
    names = {id: label(labels_of(object.manifest), APP_LABEL) for id, object in platform.items()}
    homes = {id.name: names[id] for id in platform if id.kind == "Namespace"}
    found = {id for id in platform if (names[id] or homes.get(id.namespace, "")) in addons}
    pending = [*found]
    while pending:
        shared = {id for id in platform[pending.pop()].depends_on if id in platform and not names[id]} - found
        found |= shared
        pending += shared
    return found
