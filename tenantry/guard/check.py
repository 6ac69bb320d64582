"""Decides whether a run is allowed, from the plan and the objects on the management cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from tenantry.fleet.fleet import Fleet
from tenantry.guard.held import Held
from tenantry.guard.keeping import keeping_problems, taken
from tenantry.guard.reading import held_by
from tenantry.guard.reinstalls import REINSTALLS, Reinstall, lost, planned_targets, platform_problems, reinstalls
from tenantry.guard.removals import (
    Removal,
    emptied,
    handovers,
    kubeconfig_problems,
    occupied,
    removals,
    renamed,
)
from tenantry.guard.ways import CEILING, Declared, most_of, permitting, two_runs, unused
from tenantry.messages.errors import Problem, error, refuse, warning
from tenantry.messages.text import counted, lines_of, listed
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL
from tenantry.plan.plan import Plan, nothing_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """protected: nothing is removed that was not marked for removal in an earlier run.

    deletions: limit for each kind in one run: a number, or a share of what is there, such as "10%".

    allowed: what may be removed besides, by `Removal.permit`.
    adopting: tenants that may take over existing objects; adopting_addons: add-ons that may take over namespaces.
    declared: what the file declares, of all environments.
    """

    protected: bool
    deletions: int | str
    allowed: tuple[str, ...] = ()
    adopting: frozenset[str] = frozenset()
    adopting_addons: frozenset[str] = frozenset()
    declared: Declared = field(default_factory=Declared)


def limits_of(fleet: Fleet, environment: str, deletions: int | str | None, allowed: tuple[str, ...] = ()) -> RunLimits:
    """The limits for a run of an environment; deletions: the stack's own setting, None: the fleet's setting applies."""
    declared, tenants, addons = fleet.environments[environment], fleet.document.tenants, fleet.document.platform.addons
    return RunLimits(
        protected=declared.protected,
        deletions=declared.maxDeletions if deletions is None else deletions,
        allowed=allowed,
        adopting=frozenset(name for name, tenant in tenants.items() if tenant.adopt),
        adopting_addons=frozenset(name for name, addon in addons.items() if addon.adopt),
        declared=Declared(tenants, {name: cluster.environments for name, cluster in fleet.clusters.items()}),
    )


def check(plan: Plan, now: Held, limits: RunLimits) -> None:
    """Raises: Refused: the run would remove or take over what it may not. The message names all of it, and nothing is changed.

    What a single tenant would take over refuses no run: `taken` says what of the plan it blocks.
    """
    platforms = (
        stranger.problem
        for stranger in taken(plan, now, limits.adopting, limits.adopting_addons)
        if not stranger.tenant
    )
    refuse([*platforms, *_of_environment(plan, now, limits)])


def refusals(plan: Plan, now: Held, limits: RunLimits) -> Iterator[Problem]:
    """All that the guard refuses: the whole run, or objects of single tenants."""
    yield from (stranger.problem for stranger in taken(plan, now, limits.adopting, limits.adopting_addons))
    yield from _of_environment(plan, now, limits)


def _of_environment(plan: Plan, now: Held, limits: RunLimits) -> Iterator[Problem]:
    gone, again = removals(plan, now), reinstalls(plan, now)
    yield from kubeconfig_problems(plan, now)
    yield from occupied(plan, now)
    yield from handovers(plan, now)
    yield from keeping_problems(plan, now)
    yield from _suspended(gone, plan.environment)
    yield from platform_problems(again)
    apps = [reinstall for reinstall in again if not reinstall.of_platform]
    yield from _too_many(plan, now, [removal for removal in gone if removal.unasked], apps, limits)


def refusals_of_change(before: Plan, after: Plan, limits: RunLimits) -> Iterator[Problem]:
    """All reasons to refuse a run if the cluster holds exactly what the first plan says.

    A new management cluster is empty, so everything would be removed from the old one.
    """
    planned = after if before.management == after.management else nothing_of(after)
    now = replace(held_by(before), strangers=set(), targets=planned_targets(before))
    yield from refusals(planned, now, limits)


def doubts(plan: Plan, now: Held, limits: RunLimits) -> Iterator[Problem]:
    """Warnings about what the guard passed over, and about permissions that this run does not need."""
    if now.misplaced:
        yield warning(
            "misplaced",
            f"{_counted(now.misplaced)} with labels of environment '{plan.environment}' where the fleet has no such object:"
            f" {listed(sorted(now.misplaced))}. They count for nothing, and no run deletes what a tenant could have made",
            f"ask the tenant, or: kubectl label KIND NAME --namespace NAMESPACE {ENVIRONMENT_LABEL}-; if a run was interrupted,"
            " `tenantry up` with the file of that run takes them over",
        )
    if now.malformed:
        yield warning(
            "malformed",
            f"{_counted(now.malformed)} of environment '{plan.environment}' cannot be read in full:"
            f" {listed(sorted(now.malformed))}",
            "correct what is malformed; everything else was checked",
        )
    yield from unused((*removals(plan, now), *reinstalls(plan, now)), limits.allowed)


def _counted(items: Collection[object]) -> str:
    return counted(len(items), "object")


def _too_many(
    plan: Plan, now: Held, unasked: list[Removal], again: list[Reinstall], limits: RunLimits
) -> Iterator[Problem]:
    rest = [removal for removal in unasked if removal.permit not in limits.allowed]
    reinstalled = [reinstall for reinstall in again if reinstall.permit not in limits.allowed]
    if limits.protected and (unasked or reinstalled):
        yield from _protected(plan, now, unasked, reinstalled, limits)
    elif rest and (all_of := emptied(_kept(now, limits), plan.namespaces)):
        message = f"this run would remove {all_of} of environment '{plan.environment}'\n{lines_of(unasked)}"
        yield error("removals", message, f"if this is intended, {permitting(rest, limits.allowed)}; or {_PUT_BACK}")
    else:
        yield from _over(plan, now, rest, reinstalled, limits)


def _protected(
    plan: Plan, now: Held, unasked: list[Removal], again: list[Reinstall], limits: RunLimits
) -> Iterator[Problem]:
    # A renamed cluster is refused already, and has another way.
    others = {rename.before for rename in renamed(now, held_by(plan).kubeconfigs)} if unasked else set()
    unasked = [removal for removal in unasked if not others.issuperset(removal.clusters)]
    protected = f"environment '{plan.environment}' is protected, and this run would"
    if unasked:
        ways = two_runs(plan, now, unasked, limits.declared)
        yield error("removals", f"{protected} remove\n{lines_of(unasked)}", ways)
    if again:
        message = f"{protected} uninstall apps and install them anew: {lost(again)}\n{lines_of(again)}"
        yield error(REINSTALLS, message, f"{_PUT_BACK}; if this is intended, {permitting(again, limits.allowed)}")


def _kept(now: Held, limits: RunLimits) -> set[tuple[str, str, str]]:
    """Namespaces of tenants that neither an earlier run nor the stack gives up."""
    return {
        (tenant, cluster, name)
        for (tenant, cluster, name), held in now.namespaces.items()
        if tenant and not held.leaving and not held.marked
        if not {f"tenant/{tenant}", f"namespace/{cluster}/{name}"} & {*limits.allowed}
    }


def _over(
    plan: Plan, now: Held, unasked: list[Removal], again: list[Reinstall], limits: RunLimits
) -> Iterator[Problem]:
    """An app that is uninstalled and installed anew counts like one that is removed."""
    tenants = {removal.name: removal for removal in unasked if removal.what == "tenant"}
    # How many of each kind the cluster holds, of which a limit can be a share.
    owners = ({key[0] for key in now.namespaces} | {app.tenant for app in now.apps.values()}) - {""}
    there = {"tenant": len(owners), "namespace": len(now.namespaces), "app": len(now.apps)}
    for what, total in there.items():
        reinstalled = again if what == "app" else []
        removed = [removal for removal in unasked if removal.what == what and not removal.alone]
        count, most = len(removed) + len(reinstalled), most_of(limits.deletions, total)
        if what == "namespace" and len(tenants) <= most_of(limits.deletions, there["tenant"]):
            # A tenant on a hundred clusters is more than one.
            count += sum(tenant in tenants for tenant, _, _ in _kept(now, limits))
            removed = [*tenants.values(), *removed]
        if count <= most:
            continue
        over: list[Removal | Reinstall] = [*removed, *reinstalled]
        does = " or ".join(["remove"] * bool(removed) + ["uninstall and reinstall"] * bool(reinstalled))
        share = f": {limits.deletions} of {counted(total, what)}" if isinstance(limits.deletions, str) else ""
        whose = "the apps and rights of " if what == "namespace" else ""
        message = (
            f"this run would {does} {whose}{counted(count, what)}; the limit for '{plan.environment}' is {most}"
            f" (maxDeletions{share}){f': {lost(reinstalled)}' if reinstalled else ''}\n{lines_of(over)}"
        )
        raising = f"run `pulumi config set tenantry:maxDeletions {count}`"
        allowing = raising if count <= CEILING else permitting(over, limits.allowed)
        fix = f"{allowing}; or {_PUT_BACK}"
        if removed:
            fix = f"{two_runs(plan, now, removed, limits.declared)}\n  or {allowing}\n  or {_PUT_BACK}"
        yield error("removals", message, f"if this is intended, {fix}")


_PUT_BACK = "put back what changed"


def _suspended(gone: list[Removal], environment: str) -> Iterator[Problem]:
    """Flux deletes a suspended object without checking what it installed, and nobody would know about the leftovers."""
    if suspended := [removal for removal in gone if removal.suspended]:
        first = suspended[0]
        owner = first.tenant or "platform"
        what = f"{owner}/{first.name}" if first.what == "app" else owner
        yield error(
            "suspended",
            f"this run would remove suspended objects, and Flux would leave behind what they installed\n{lines_of(suspended)}",
            "undo this change and resume them first: remove 'state: paused' and run `tenantry up`, or, for what was suspended by"
            f" hand, do what `tenantry why {what} -e {environment}` says; if their cluster is gone, run `tenantry set"
            f" clusters.{first.clusters[0]}.state decommissioned`",
        )
