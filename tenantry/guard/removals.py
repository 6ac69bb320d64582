"""What a run would remove: tenants, namespaces and apps, Flux objects that would change hands, and what is reached otherwise."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import NamedTuple

from tenantry.guard.held import Held, HeldApp, Reference
from tenantry.guard.reading import held_by, namespaces_of
from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Problem, error
from tenantry.messages.text import grouped, listed
from tenantry.plan.plan import Plan


@dataclass(frozen=True, slots=True, order=True)
class Removal:
    """One thing that would go.

    what: "tenant", "namespace" or "app", each counted by itself. tenant: "" for what is an add-on's.
    clusters: where. leaving: an earlier run has given it up, and what can hold data goes with it.
    marked: an earlier run has announced that it goes. unapplied: Flux has never applied anything for it.
    suspended: Flux would delete what stands for it, and leave what it installed.
    alone: nothing else goes with it: a namespace that stays with its data, of a placement or an add-on that stays.
    """

    what: str
    tenant: str
    name: str
    clusters: tuple[str, ...]
    leaving: bool = field(default=False, compare=False)
    suspended: bool = field(default=False, compare=False)
    alone: bool = field(default=False, compare=False)
    marked: bool = field(default=False, compare=False)
    unapplied: bool = field(default=False, compare=False)

    @property
    def unasked(self) -> bool:
        """Whether it counts: nobody has announced it, and something goes with it."""
        return not (self.leaving or self.marked or self.unapplied)

    @property
    def permit(self) -> str:
        """The name under which `tenantry:allowDeletions` permits it, such as app/edge/rocky/web."""
        if self.what == "tenant":
            return f"tenant/{self.name}"
        (cluster,) = self.clusters
        if self.what == "namespace":
            return f"namespace/{cluster}/{self.name}"
        return f"app/{cluster}/{self.tenant}/{self.name}" if self.tenant else f"addon/{cluster}/{self.name}"

    def __str__(self) -> str:
        where = ", ".join(self.clusters)
        match self.what:
            case "tenant":
                stays = "with everything it has" if self.leaving else "with its apps and rights, but not its data,"
                return f"tenant '{self.name}' {stays} on {where}"
            case "namespace":
                whose = f"tenant '{self.tenant}'" if self.tenant else "an add-on"
                stays = "" if self.leaving else ", which stays there with its data"
                return f"namespace '{self.name}' of {whose} on {where}{stays}"
            case _:
                whose = f"app '{self.name}' of tenant '{self.tenant}'" if self.tenant else f"add-on '{self.name}'"
                return f"{whose} on {where}"


def removals(plan: Plan, now: Held) -> list[Removal]:
    """What the cluster holds and the plan does not. A removed tenant stands for everything it has."""
    return sorted((*_tenants(plan, now), *_namespaces(plan, now), *_apps(plan, now)))


def _tenants(plan: Plan, now: Held) -> Iterator[Removal]:
    staying, behind = {tenant for tenant, _ in plan.placed}, _left_behind(now)
    tenants = ((key[:2], held) for key, held in now.namespaces.items() if key[0])
    parts = [(*key, held.leaving, held.leaving or held.marked) for key, held in tenants]
    parts += [(app.tenant, app.cluster, app.leaving, app.leaving) for app in _without_namespaces(now)]
    for tenant, held_parts in grouped(parts, itemgetter(0)).items():
        if tenant not in staying:
            clusters = grouped(held_parts, itemgetter(1))
            suspended = any(
                (tenant, cluster) in behind[all(part[2] for part in own)] for cluster, own in clusters.items()
            )
            leaving, marked = (all(part[index] for part in held_parts) for index in (2, 3))
            yield Removal("tenant", tenant, tenant, tuple(sorted(clusters)), leaving, suspended, marked=marked)


def _without_namespaces(now: Held) -> list[HeldApp]:
    """The apps of tenants where nothing says which namespaces there are: somebody has deleted the baseline."""
    known = {(tenant, cluster) for tenant, cluster, _ in now.namespaces}
    return [app for app in now.apps.values() if app.tenant and (app.tenant, app.cluster) not in known]


def _namespaces(plan: Plan, now: Held) -> Iterator[Removal]:
    placed, planned, behind = plan.placed, namespaces_of(plan), _left_behind(now)
    staying = {"", *(tenant for tenant, _ in placed)}
    for key, held in now.namespaces.items():
        tenant, cluster, name = key
        if tenant in staying and key not in planned:
            # A baseline that stays removes the namespace when it is no longer suspended. An add-on's goes by itself.
            stays, leaving = not tenant or (tenant, cluster) in placed, held.leaving
            suspended = not stays and (tenant, cluster) in behind[leaving]
            alone = stays and not leaving
            yield Removal("namespace", tenant, name, (cluster,), leaving, suspended, alone, marked=held.marked)


def _left_behind(now: Held) -> Mapping[bool, Collection[tuple[str, str]]]:
    """Placements as (tenant, cluster) of which Flux leaves behind what it installed, by whether they go with their namespaces.

    What a suspended app has installed stays with the namespace.
    """
    return {
        True: now.frozen,
        False: now.frozen | {(app.tenant, app.cluster) for app in now.apps.values() if app.suspended},
    }


def _apps(plan: Plan, now: Held) -> Iterator[Removal]:
    planned, placed = {app.id for app in plan.apps}, plan.placed
    staying = {tenant for tenant, _ in placed}
    # Where a whole placement is removed, its namespaces are listed already, and a tenant stands for all of its apps.
    counted = placed | {(app.tenant, app.cluster) for app in _without_namespaces(now) if app.tenant in staying}
    for id, app in now.apps.items():
        if id not in planned and (not app.tenant or (app.tenant, app.cluster) in counted):
            gone = Removal("app", app.tenant, app.name, (app.cluster,), app.leaving, app.suspended)
            yield replace(gone, unapplied=app.unapplied)


def never_applied(plan: Plan, now: Held) -> list[ObjectId]:
    """The objects that a run removes without having been announced, because Flux has never applied anything for them."""
    planned = {app.id for app in plan.apps}
    return sorted(id for id, app in now.apps.items() if app.unapplied and not app.leaving and id not in planned)


def emptied(before: Iterable[tuple[str, str, str]], after: Iterable[tuple[str, str, str]]) -> str:
    """What an environment would lose completely: "every tenant", "every namespace" of tenants that stay, or "".

    Namespaces are given as (tenant, cluster, name).
    """
    before, after = set(before), set(after)
    if not after:
        return "every tenant" if before else ""
    staying = {tenant for tenant, _, _ in after}
    theirs = {placement for placement in before if placement[0] in staying}
    return "every namespace" if theirs and theirs.isdisjoint(after) else ""


def handovers(plan: Plan, now: Held) -> Iterator[Problem]:
    """One problem for each planned app whose object stands for another app on the cluster."""
    for app in plan.apps:
        held_app = now.apps.get(app.id)
        if held_app and (held_app.tenant, held_app.name) != (app.tenant, app.name):
            owner, other = (
                f"app '{of.name}' of tenant '{of.tenant}'" if of.tenant else f"add-on '{of.name}'"
                for of in (held_app, app)
            )
            yield error(
                "other-owner",
                f"{app.id} belongs to {owner}, and would become that of {other}",
                f"leave it to {owner}; or give the second another name; or, if what is installed may go with its data, remove the"
                " first in one `tenantry up`, and add the second in the next one",
            )


def occupied(plan: Plan, now: Held) -> Iterator[Problem]:
    """One problem for each namespace that still contains an app.

    A placement that is removed as a whole is removed in the right order.
    """
    leaving, placed, planned = now.namespaces.keys() - plan.namespaces, plan.placed, {app.id for app in plan.apps}
    occupants = sorted(
        ((app.tenant, app.cluster, namespace), app.name)
        for id, app in now.apps.items()
        if (app.tenant, app.cluster) in placed and (app.cluster != plan.management or id in planned)
        for namespace in app.installed
        if (app.tenant, app.cluster, namespace) in leaving
    )
    for (tenant, cluster, namespace), apps in grouped(occupants, itemgetter(0)).items():
        names = ", ".join(f"'{name}'" for _, name in apps)
        yield error(
            "occupied",
            f"namespace '{namespace}' of tenant '{tenant}' would leave {cluster} before what is installed there (app {names}),"
            " and Flux could not clean up any more",
            "keep the namespace for one `tenantry up` in which these apps are removed or moved, and remove it when they are gone"
            " from there",
        )


# --- kubeconfigs that a plan gives to other clusters than today --------------------------------------------------------


class Renamed(NamedTuple):
    """A remote cluster under another name; the kubeconfig is the same, and so the cluster is."""

    before: str
    after: str
    reference: Reference


def renamed(now: Held, planned: Iterable[tuple[str, Reference]]) -> Iterator[Renamed]:
    """Clusters of a plan that are reached through the kubeconfig of another one; no two clusters of a plan share one.

    Not those whose former objects were all decommissioned: these leave what they installed.
    """
    for cluster, reference in planned:
        for (other, used), abandoned in (*now.kubeconfigs.items(), *now.others_kubeconfigs.items()):
            if used == reference and other != cluster and not abandoned:
                yield Renamed(other, cluster, reference)


def kubeconfig_problems(plan: Plan, now: Held) -> Iterator[Problem]:
    """A problem for each cluster that is reached otherwise than today, or whose kubeconfig is another cluster's today."""
    planned = held_by(plan).kubeconfigs
    yield from _others(now, planned)
    renames = dict.fromkeys(renamed(now, planned))
    if not renames:
        yield from _installed_again(plan, now)
    for before, after, reference in renames:
        yield error(
            "renamed-cluster",
            f"cluster '{after}' would be reached through {reference}, which is the kubeconfig of cluster '{before}' today: Flux"
            f" would remove everything that it installed for '{before}', namespaces with their data included",
            f"put the name '{before}' back; to rename the cluster, set 'state: decommissioned' on '{before}', run `tenantry up`"
            " of all of its environments, then rename it and remove the state; if it is another cluster, remove"
            f" '{before}' in a run of its own first",
        )


def _installed_again(plan: Plan, now: Held) -> Iterator[Problem]:
    """Releases that go while others install the same namespaces through the same kubeconfig: the cluster was renamed, together with
    the labels of its live objects. A release's name and its kubeconfig still tell it.
    """
    planned = {object.id for object in plan.objects}
    going = {place: gone for place, ids in now.installers.items() if (gone := [id for id in ids if id not in planned])}
    wanted = held_by(plan).installers if going else {}
    both = {place: (gone, after) for place, gone in sorted(going.items()) if (after := wanted.get(place))}
    for reference, (gone, after) in {place[0]: releases for place, releases in both.items()}.items():
        yield error(
            "renamed-cluster",
            f"what {listed(map(str, gone))} has installed on the cluster behind {reference} would be installed by"
            f" {listed(map(str, after))}: Flux would remove everything that the first has installed there, namespaces with their"
            " data included",
            "put the former name of the cluster back, in the file and in the labels of its objects; to rename a cluster, set"
            " 'state: decommissioned' on it and run `tenantry up`, then rename it, remove 'state', and run `tenantry up` again",
        )


def _others(now: Held, planned: Iterable[tuple[str, Reference]]) -> Iterator[Problem]:
    """Another reference may lead to another cluster: Flux would leave behind what it installed on the first."""
    for cluster, reference in planned:
        before = sorted(other for name, other in now.kubeconfigs if name == cluster and other != reference)
        if before:
            yield error(
                "other-kubeconfig",
                f"cluster '{cluster}' is reached through {listed(before)} today, and would be reached through {reference}:"
                " everything on it would be removed and installed again",
                f"to rotate the kubeconfig, replace the content of {listed(before)} and leave the file as it is; if it is another"
                " cluster, remove everything from the cluster first (let no selector match it), or declare a new cluster beside"
                f" '{cluster}' and"
                " move tenants there",
            )
