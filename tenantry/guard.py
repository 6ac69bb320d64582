"""The guard before the engine: what a run would take away is compared with what the management cluster really holds.

State can be lost and branches mixed up; the cluster is what people's workloads hang on. So before anything is registered,
its objects that carry the fleet's labels are held against the plan: what is there and not planned is a removal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tenantry.emptied import emptied
from tenantry.errors import Refused
from tenantry.kube import Manifest, ObjectId, object_id
from tenantry.objects.lifecycle import STATE_LABEL
from tenantry.objects.scope import TENANT_LABEL
from tenantry.occupied import check_occupied, installed_in
from tenantry.plan import Plan
from tenantry.suspended import is_suspended, left_behind

_LISTED = 20
"""How many removals a message names."""


@dataclass(frozen=True, slots=True, order=True)
class Removal:
    """One thing that would go.

    what: "tenant", "namespace" or "app", each counted by itself. clusters: where. leaving: an earlier run has given it up.
    suspended: Flux would delete what stands for it, and leave what it installed.
    """

    what: str
    tenant: str
    name: str
    clusters: tuple[str, ...]
    leaving: bool = field(default=False, compare=False)
    suspended: bool = field(default=False, compare=False)

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
    take over namespaces.
    """

    protected: bool
    deletions: int
    explicit: bool = False
    adopting: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Held:
    """What a management cluster holds of an environment.

    namespaces: (tenant, cluster, namespace) -> leaving. apps: identity -> (tenant, cluster, app, leaving).
    kubeconfigs: cluster -> where its kubeconfig lies, as (namespace, name). strangers: namespaces of others.
    suspended: apps that Flux leaves alone, but for those given up with their cluster. frozen: (tenant, cluster) with such
    a baseline. installed: where Flux has something of an app, by the app's identity.
    """

    namespaces: Mapping[tuple[str, str, str], bool]
    apps: Mapping[ObjectId, tuple[str, str, str, bool]]
    kubeconfigs: Mapping[str, tuple[str, str]]
    strangers: frozenset[str] = frozenset()
    suspended: frozenset[ObjectId] = frozenset()
    frozen: frozenset[tuple[str, str]] = frozenset()
    installed: Mapping[ObjectId, frozenset[str]] = field(default_factory=dict)


def held(manifests: Iterable[Manifest], environment: str) -> Held:
    """What Namespaces, Kustomizations and HelmReleases of an environment stand for; others are passed over."""
    namespaces: dict[tuple[str, str, str], bool] = {}
    apps: dict[ObjectId, tuple[str, str, str, bool]] = {}
    kubeconfigs: dict[str, tuple[str, str]] = {}
    strangers: set[str] = set()
    suspended: set[ObjectId] = set()
    frozen: set[tuple[str, str]] = set()
    installed: dict[ObjectId, frozenset[str]] = {}
    for manifest in manifests:
        labels = manifest["metadata"].get("labels") or {}
        tenant, cluster, app = (labels.get(key, "") for key in (TENANT_LABEL, "tenantry/cluster", "tenantry/app"))
        leaving = STATE_LABEL in labels
        if labels.get("tenantry/environment") != environment or not cluster:
            strangers |= {manifest["metadata"]["name"]} if manifest["kind"] == "Namespace" else set()
            continue
        if app:
            apps[object_id(manifest)] = (tenant, cluster, app, leaving)
            suspended |= {object_id(manifest)} if is_suspended(manifest) else set()
            installed[object_id(manifest)] = installed_in(manifest)
        else:
            own = _namespaces(manifest) if tenant else []
            namespaces |= {(tenant, cluster, name): leaving or given_up for name, given_up in own}
            frozen |= {(tenant, cluster)} if is_suspended(manifest) else set()
        if reference := _kubeconfig(manifest):
            kubeconfigs[cluster] = reference
    return Held(namespaces, apps, kubeconfigs, frozenset(strangers), frozenset(suspended), frozenset(frozen), installed)


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
            suspended = any((tenant, cluster) in now.frozen for cluster in clusters)
            yield Removal("tenant", tenant, tenant, tuple(sorted(clusters)), all(clusters.values()), suspended)


def _namespaces_gone(plan: Plan, now: Held) -> Iterator[Removal]:
    staying = {each.tenant for each in plan.placements}
    planned = planned_namespaces(plan)
    placed = {(each.tenant, each.cluster) for each in plan.placements}
    for (tenant, cluster, name), leaving in now.namespaces.items():
        if tenant in staying and (tenant, cluster, name) not in planned:
            # A baseline that stays removes the namespace when it is no longer suspended.
            suspended = (tenant, cluster) in now.frozen and (tenant, cluster) not in placed
            yield Removal("namespace", tenant, name, (cluster,), leaving, suspended)


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
            yield Removal("app", tenant, app, (cluster,), leaving, id in now.suspended)


def check(plan: Plan, now: Held, limits: Limits) -> None:
    """Raises: Refused: the run would take away more than may go; nothing has been changed then."""
    _check_strangers(plan, now, limits.adopting)
    _check_kubeconfigs(plan, now)
    check_occupied(plan, now.apps, now.installed, frozenset(now.namespaces) - planned_namespaces(plan))
    gone = removals(plan, now)
    if suspended := [each for each in gone if each.suspended]:
        raise left_behind(_listed(suspended))
    unasked = [each for each in gone if not each.leaving]
    if not unasked:
        return
    if limits.protected:
        raise Refused(
            f"environment '{plan.environment}' is protected, and this run would remove\n{_listed(unasked)}", _GIVE_UP
        )
    if not limits.explicit and (all_of := emptied(kept_namespaces(now), planned_namespaces(plan))):
        message = f"this run would remove {all_of} of environment '{plan.environment}'\n{_listed(unasked)}"
        raise Refused(message, f"if the file is right, {_GIVE_UP}; or allow it: {_ALLOW.format(len(unasked))}")
    for what in ("tenant", "namespace", "app"):
        over = [each for each in unasked if each.what == what]
        if len(over) > limits.deletions:
            message = (
                f"this run would remove {len(over)} {what}s, and {limits.deletions} may go at once in environment"
                f" '{plan.environment}'\n{_listed(over)}"
            )
            raise Refused(message, f"if that is meant, allow it: {_ALLOW.format(len(over))}; or {_GIVE_UP}")


_GIVE_UP = (
    "put back what is missing; what is to go gets 'state: offboarding' in tenants.yaml and one `pulumi up`,"
    " and is removed after that"
)
_ALLOW = "`pulumi config set tenantry:maxDeletions {}`"


def _listed(found: list[Removal]) -> str:
    lines = [f"    {each}" for each in found[:_LISTED]]
    return "\n".join([*lines, f"    and {len(found) - _LISTED} more"] if len(found) > _LISTED else lines)


def _check_strangers(plan: Plan, now: Held, adopting: frozenset[str]) -> None:
    """Applying would take over what is there without a word, and a later removal would delete it with all that is in it."""
    for planned in plan.objects:
        tenant = planned.owner.tenant
        if planned.id.kind == "Namespace" and planned.id.name in now.strangers and tenant not in adopting:
            raise Refused(
                f"namespace '{planned.id.name}' is on '{plan.management}' already, and is not the fleet's: tenant '{tenant}' would"
                " take it over",
                f"if it is to become the tenant's, set 'adopt: true' under tenants.{tenant}; or rename the tenant",
            )


def _check_kubeconfigs(plan: Plan, now: Held) -> None:
    """What lies under another reference may be another cluster: Flux would leave behind what it installed on the first."""
    planned = held((each.manifest for each in plan.objects), plan.environment).kubeconfigs
    for cluster, reference in planned.items():
        before = now.kubeconfigs.get(cluster, reference)
        if before != reference:
            raise Refused(
                f"cluster '{cluster}' is reached through {'/'.join(before)} today, and would be through {'/'.join(reference)}:"
                " everything on it would be removed, and installed again",
                f"take everything off the cluster first (no selector names it), or declare a new cluster beside '{cluster}' and"
                " move tenants there",
            )
