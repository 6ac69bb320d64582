"""Decides whether a run is allowed, from the plan and the objects on the management cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tenantry.fleet.fleet import Fleet
from tenantry.guard.held import Held, held
from tenantry.guard.occupied import occupied
from tenantry.guard.removals import Removal, emptied, kept_namespaces, planned_namespaces, removals
from tenantry.kube.objects import ObjectId
from tenantry.messages.problems import Problem, error, refuse
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL
from tenantry.plan.plan import Plan, nothing_of

_LISTED = 20
"""How many removals a message names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """protected: nothing is removed that was not marked for removal in an earlier run. deletions: limit for each kind in one run.

    explicit: the stack sets `deletions`, so its operator expects the removals. adopting: tenants that may take over
    existing objects.
    """

    protected: bool
    deletions: int
    explicit: bool = False
    adopting: frozenset[str] = frozenset()


def limits_of(fleet: Fleet, environment: str, deletions: int | None) -> RunLimits:
    """The limits for a run of an environment; deletions: the stack's own setting, None: the fleet's setting applies."""
    declared = fleet.environments[environment]
    adopting = frozenset(name for name, tenant in fleet.document.tenants.items() if tenant.adopt)
    if deletions is None:
        return RunLimits(protected=declared.protected, deletions=declared.maxDeletions, adopting=adopting)
    return RunLimits(protected=declared.protected, deletions=deletions, explicit=True, adopting=adopting)


def check(plan: Plan, now: Held, limits: RunLimits) -> None:
    """Raises: Refused: the run would remove or take over what it may not. The message names all of it, and nothing is changed."""
    refuse(refusals(plan, now, limits))


def refusals(plan: Plan, now: Held, limits: RunLimits) -> Iterator[Problem]:
    """All reasons to refuse a run."""
    gone = removals(plan, now)
    yield from _strangers(plan, now, limits.adopting)
    yield from _other_kubeconfigs(plan, now)
    yield from occupied(plan, now)
    yield from _suspended(gone)
    yield from _too_many(plan, now, [each for each in gone if not each.leaving], limits)


def refusals_of_change(before: Plan, after: Plan, limits: RunLimits) -> Iterator[Problem]:
    """All reasons to refuse a run if the cluster holds exactly what the first plan says.

    A new management cluster is empty, so everything would be removed from the old one.
    """
    there = held((each.manifest for each in before.objects), before.environment)
    planned = after if before.management == after.management else nothing_of(after)
    yield from refusals(planned, replace(there, strangers=frozenset()), limits)


def _too_many(plan: Plan, now: Held, unasked: list[Removal], limits: RunLimits) -> Iterator[Problem]:
    if not unasked:
        return
    if limits.protected:
        message = f"environment '{plan.environment}' is protected, and this run would remove\n{_listed(unasked)}"
        yield error("removals", message, _GIVE_UP)
    elif not limits.explicit and (all_of := emptied(kept_namespaces(now), planned_namespaces(plan))):
        message = f"this run would remove {all_of} of environment '{plan.environment}'\n{_listed(unasked)}"
        yield error("removals", message, f"if this is intended, {_ALLOW.format(len(unasked))}; or {_GIVE_UP}")
    else:
        yield from _over(plan.environment, unasked, limits.deletions)


def _over(environment: str, unasked: list[Removal], limit: int) -> Iterator[Problem]:
    for what in ("tenant", "namespace", "app"):
        over = [each for each in unasked if each.what == what]
        if len(over) > limit:
            message = (
                f"this run would remove {len(over)} {what}s, and {limit} may go at once in environment"
                f" '{environment}'\n{_listed(over)}"
            )
            yield error("removals", message, f"if this is intended, {_ALLOW.format(len(over))}; or {_GIVE_UP}")


_GIVE_UP = (
    "put back what is missing; to remove something, set 'state: offboarding' on it in tenants.yaml, run `pulumi up`,"
    " then delete its entry"
)
_ALLOW = "run `pulumi config set tenantry:maxDeletions {}`"


def _listed(found: Sequence[object]) -> str:
    lines = [f"    {each}" for each in found[:_LISTED]]
    return "\n".join([*lines, f"    and {len(found) - _LISTED} more"] if len(found) > _LISTED else lines)


def _suspended(gone: list[Removal]) -> Iterator[Problem]:
    """Flux deletes a suspended object without checking what it installed, and nobody would know about the leftovers."""
    if found := [each for each in gone if each.suspended]:
        yield error(
            "suspended",
            f"this run would remove suspended objects, and Flux would leave behind what they installed\n{_listed(found)}",
            "resume them first (remove 'state: paused' and run `pulumi up`, or run `flux resume` for what was suspended by hand);"
            " if their cluster is gone, set 'state: decommissioned' on it",
        )


def _strangers(plan: Plan, now: Held, adopting: frozenset[str]) -> Iterator[Problem]:
    """Applying would silently take over existing objects, and a later removal would delete them with all their content."""
    taken: dict[str, list[ObjectId]] = {}
    for planned in plan.objects:
        if planned.id in now.strangers and planned.owner.tenant not in adopting:
            taken.setdefault(planned.owner.tenant, []).append(planned.id)
    for tenant, ids in taken.items():
        one = len(ids) == 1
        exist, them = ("exists", "it") if one else ("exist", "them")
        what, listed = (str(ids[0]), "") if one else (f"{len(ids)} objects", f"\n{_listed(ids)}")
        who = f"tenant '{tenant}'" if tenant else "the platform"
        message = (
            f"{what} {exist} already on '{plan.management}' outside of environment '{plan.environment}':"
            f" {who} would take {them} over{listed}"
        )
        yield error("not-the-fleets", message, _own(tenant, plan.environment, them))


def _own(tenant: str, environment: str, them: str) -> str:
    if tenant:
        return f"to let the tenant take {them} over, set 'adopt: true' under tenants.{tenant}; or rename the tenant"
    return (
        f"to let Tenantry manage {them}: kubectl label KIND NAME --namespace NAMESPACE"
        f" {ENVIRONMENT_LABEL}={environment}; or delete {them}"
    )


def _other_kubeconfigs(plan: Plan, now: Held) -> Iterator[Problem]:
    """Another reference may lead to another cluster: Flux would leave behind what it installed on the first."""
    planned = held((each.manifest for each in plan.objects), plan.environment).kubeconfigs
    for cluster, reference in planned.items():
        before = now.kubeconfigs.get(cluster, reference)
        if before != reference:
            yield error(
                "other-kubeconfig",
                f"cluster '{cluster}' is reached through {'/'.join(before)} today, and would be reached through"
                f" {'/'.join(reference)}:"
                " everything on it would be removed and installed again",
                "remove everything from the cluster first (let no selector match it), or declare a new cluster beside"
                f" '{cluster}' and"
                " move tenants there",
            )
