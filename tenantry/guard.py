"""The guard before the engine: what a run would take away is compared with what the management cluster really holds.

State can be lost and branches mixed up; the cluster is what people's workloads hang on. So before anything is registered,
its objects that carry the fleet's labels are held against the plan: what is there and not planned is a removal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tenantry.emptied import emptied
from tenantry.errors import Refused, raise_refused
from tenantry.fleet import Fleet
from tenantry.kube import Manifest, ObjectId, object_id
from tenantry.objects.lifecycle import STATE_LABEL
from tenantry.objects.scope import TENANT_LABEL
from tenantry.plan import Plan
from tenantry.problems import Problem, error

_LISTED = 20
"""How many removals a message names."""


@dataclass(frozen=True, slots=True, order=True)
class Removal:
    """One thing that would go.

    what: "tenant", "namespace" or "app", each counted by itself. clusters: where. leaving: an earlier run has given it up.
    """

    what: str
    tenant: str
    name: str
    clusters: tuple[str, ...]
    leaving: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        where = ", ".join(self.clusters)
        match self.what:
            case "tenant":
                return f"tenant '{self.name}' with everything it has on {where}"
            case "namespace":
                return f"namespace '{self.name}' of tenant '{self.tenant}' on {where}"
            case _:
                whose = f"app '{self.name}' of tenant '{self.tenant}'" if self.tenant else f"add-on '{self.name}'"
                return f"{whose} on {where}"


@dataclass(frozen=True, slots=True)
class Limits:
    """protected: nothing goes that was not given up before. deletions: how many of each kind may go in one run.

    explicit: whoever runs it has set `deletions` for this stack, and so knows what is coming. adopting: tenants that may
    take over what is there.
    """

    protected: bool
    deletions: int
    explicit: bool = False
    adopting: frozenset[str] = frozenset()


def limits_of(fleet: Fleet, environment: str, deletions: int | None) -> Limits:
    """What holds for a run of an environment; deletions: what its stack says, None: what the fleet says."""
    declared = fleet.environments[environment]
    adopting = frozenset(name for name, tenant in fleet.document.tenants.items() if tenant.adopt)
    if deletions is None:
        return Limits(declared.protected, declared.maxDeletions, adopting=adopting)
    return Limits(declared.protected, deletions, explicit=True, adopting=adopting)


@dataclass(frozen=True, slots=True)
class Held:
    """What a management cluster holds of an environment.

    namespaces: (tenant, cluster, namespace) -> leaving. apps: identity -> (tenant, cluster, app, leaving).
    kubeconfigs: cluster -> where its kubeconfig lies, as (namespace, name). strangers: what is not the environment's.
    """

    namespaces: Mapping[tuple[str, str, str], bool]
    apps: Mapping[ObjectId, tuple[str, str, str, bool]]
    kubeconfigs: Mapping[str, tuple[str, str]]
    strangers: frozenset[ObjectId] = frozenset()


def held(manifests: Iterable[Manifest], environment: str) -> Held:
    """What Namespaces, Kustomizations and HelmReleases of an environment stand for; of others only who they are."""
    namespaces: dict[tuple[str, str, str], bool] = {}
    apps: dict[ObjectId, tuple[str, str, str, bool]] = {}
    kubeconfigs: dict[str, tuple[str, str]] = {}
    strangers: set[ObjectId] = set()
    for manifest in manifests:
        labels = manifest["metadata"].get("labels") or {}
        tenant, cluster, app = (labels.get(key, "") for key in (TENANT_LABEL, "tenantry/cluster", "tenantry/app"))
        leaving = STATE_LABEL in labels
        if labels.get("tenantry/environment") != environment:
            strangers.add(object_id(manifest))
        if labels.get("tenantry/environment") != environment or not cluster:
            continue
        if app:
            apps[object_id(manifest)] = (tenant, cluster, app, leaving)
        else:
            own = _namespaces(manifest) if tenant else []
            namespaces |= {(tenant, cluster, name): leaving or given_up for name, given_up in own}
        if reference := _kubeconfig(manifest):
            kubeconfigs[cluster] = reference
    return Held(namespaces, apps, kubeconfigs, frozenset(strangers))


def _namespaces(manifest: Manifest) -> list[tuple[str, bool]]:
    """Those that an object is or, as a baseline's release, installs; and whether each by itself was given up."""
    if manifest["kind"] == "Namespace":
        return [(manifest["metadata"]["name"], False)]
    objects = ((manifest.get("spec") or {}).get("values") or {}).get("objects")
    installed = objects if isinstance(objects, list) else []
    found = (each["metadata"] for each in installed if isinstance(each, dict) and each.get("kind") == "Namespace")
    return [(each["name"], STATE_LABEL in (each.get("labels") or {})) for each in found]


def _kubeconfig(manifest: Manifest) -> tuple[str, str] | None:
    references: Mapping[str, Any] = (manifest.get("spec") or {}).get("kubeConfig") or {}
    named = references.get("secretRef") or references.get("configMapRef")
    return (manifest["metadata"]["namespace"], named["name"]) if named else None


def removals(plan: Plan, now: Held) -> list[Removal]:
    """What the cluster holds and the plan does not; a tenant that goes stands for all it has."""
    return sorted((*_tenants(plan, now), *_namespaces_gone(plan, now), *_apps_gone(plan, now)))


def _tenants(plan: Plan, now: Held) -> Iterator[Removal]:
    staying = {each.tenant for each in plan.placements}
    here: dict[str, dict[str, bool]] = {}
    for (tenant, cluster, _), leaving in now.namespaces.items():
        on = here.setdefault(tenant, {})
        on[cluster] = on.get(cluster, True) and leaving
    for tenant, cluster, _, leaving in now.apps.values():
        if tenant:
            here.setdefault(tenant, {}).setdefault(cluster, leaving)
    for tenant, clusters in here.items():
        if tenant not in staying:
            yield Removal("tenant", tenant, tenant, tuple(sorted(clusters)), all(clusters.values()))


def _namespaces_gone(plan: Plan, now: Held) -> Iterator[Removal]:
    staying = {each.tenant for each in plan.placements}
    planned = planned_namespaces(plan)
    for (tenant, cluster, name), leaving in now.namespaces.items():
        if tenant in staying and (tenant, cluster, name) not in planned:
            yield Removal("namespace", tenant, name, (cluster,), leaving)


def planned_namespaces(plan: Plan) -> set[tuple[str, str, str]]:
    """Namespaces that a plan wants, as (tenant, cluster, name)."""
    return {(each.tenant, each.cluster, name) for each in plan.placements for name in each.namespaces}


def kept_namespaces(now: Held) -> set[tuple[str, str, str]]:
    """Namespaces that are there, and that no earlier run has given up."""
    return {key for key, leaving in now.namespaces.items() if not leaving}


def _apps_gone(plan: Plan, now: Held) -> Iterator[Removal]:
    planned = {each.id for each in plan.apps}
    placed = {(each.tenant, each.cluster) for each in plan.placements}
    for id, (tenant, cluster, app, leaving) in now.apps.items():
        # Where a whole placement goes, its namespaces say so already.
        if id not in planned and (not tenant or (tenant, cluster) in placed):
            yield Removal("app", tenant, app, (cluster,), leaving)


def check(plan: Plan, now: Held, limits: Limits) -> None:
    """Raises: Refused: the run would take away or take over what it may not; names all of it, and changes nothing."""
    raise_refused(Refused(each.message, each.fix) for each in refusals(plan, now, limits))


def refusals(plan: Plan, now: Held, limits: Limits) -> Iterator[Problem]:
    """Everything that a run has to be refused for."""
    yield from _strangers(plan, now, limits.adopting)
    yield from _other_kubeconfigs(plan, now)
    yield from _too_many_removals(plan, now, limits)


def _too_many_removals(plan: Plan, now: Held, limits: Limits) -> Iterator[Problem]:
    unasked = [each for each in removals(plan, now) if not each.leaving]
    if not unasked:
        return
    if limits.protected:
        message = f"environment '{plan.environment}' is protected, and this run would remove\n{_listed(unasked)}"
        yield error("removals", message, _GIVE_UP)
    elif not limits.explicit and (all_of := emptied(kept_namespaces(now), planned_namespaces(plan))):
        message = f"this run would remove {all_of} of environment '{plan.environment}'\n{_listed(unasked)}"
        yield error(
            "removals", message, f"if the file is right, {_GIVE_UP}; or allow it: {_ALLOW.format(len(unasked))}"
        )
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
            yield error("removals", message, f"if that is meant, allow it: {_ALLOW.format(len(over))}; or {_GIVE_UP}")


_GIVE_UP = (
    "put back what is missing; what is to go gets 'state: offboarding' in tenants.yaml and one `pulumi up`,"
    " and is removed after that"
)
_ALLOW = "`pulumi config set tenantry:maxDeletions {}`"


def _listed(found: Sequence[object]) -> str:
    lines = [f"    {each}" for each in found[:_LISTED]]
    return "\n".join([*lines, f"    and {len(found) - _LISTED} more"] if len(found) > _LISTED else lines)


def _strangers(plan: Plan, now: Held, adopting: frozenset[str]) -> Iterator[Problem]:
    """Applying would take over what is there without a word, and a later removal would delete it with all that is in it."""
    taken: dict[str, list[ObjectId]] = {}
    for planned in plan.objects:
        if planned.id in now.strangers and planned.owner.tenant not in adopting:
            taken.setdefault(planned.owner.tenant, []).append(planned.id)
    for tenant, ids in taken.items():
        one = len(ids) == 1
        are, it = ("is", "it") if one else ("are", "them")
        what, listed = (str(ids[0]), "") if one else (f"{len(ids)} objects", f"\n{_listed(ids)}")
        who = f"tenant '{tenant}'" if tenant else "the platform"
        message = (
            f"{what} {are} on '{plan.management}' already, and not of environment '{plan.environment}':"
            f" {who} would take {it} over{listed}"
        )
        yield error("not-the-fleets", message, _own(tenant, plan.environment, "it is" if one else "they are"))


def _own(tenant: str, environment: str, they_are: str) -> str:
    if tenant:
        return f"if {they_are} to become the tenant's, set 'adopt: true' under tenants.{tenant}; or rename the tenant"
    return (
        f"if {they_are} to become the fleet's: kubectl label KIND NAME --namespace NAMESPACE"
        f" tenantry/environment={environment}; or remove what is in the way"
    )


def _other_kubeconfigs(plan: Plan, now: Held) -> Iterator[Problem]:
    """What lies under another reference may be another cluster: Flux would leave behind what it installed on the first."""
    planned = held((each.manifest for each in plan.objects), plan.environment).kubeconfigs
    for cluster, reference in planned.items():
        before = now.kubeconfigs.get(cluster, reference)
        if before != reference:
            yield error(
                "other-kubeconfig",
                f"cluster '{cluster}' is reached through {'/'.join(before)} today, and would be through {'/'.join(reference)}:"
                " everything on it would be removed, and installed again",
                f"take everything off the cluster first (no selector names it), or declare a new cluster beside '{cluster}' and"
                " move tenants there",
            )
