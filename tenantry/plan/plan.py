"""The plan: all objects of one environment, in the order of their dependencies. Every command uses the same plan.

It is a pure function of the fleet and the environment. It uses no clock and no network, and its order is that of the file.
Plans of several environments are compared: what two of them would create belongs to neither stack.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.placement import apps_by_cluster, matches, tenant_barrier
from tenantry.fleet.settings import main_namespace, namespace_template, tenant_states
from tenantry.grants.grants import is_filled
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.errors import Path, Problem, collecting
from tenantry.messages.text import joined, require
from tenantry.model.durations import seconds_of
from tenantry.plan.engine_order import in_engine_order
from tenantry.plan.namespaces import Territory, owned_namespaces
from tenantry.plan.objects.lifecycle import STATE_LABEL
from tenantry.plan.placements import PlacementPlanner, PlannedPlacement
from tenantry.plan.planned_apps import Gathering, PlannedApp
from tenantry.plan.platform import PlatformPlanner
from tenantry.rollout.waves import After, Rollout, Wave, after_of, apps_at_once, members, rollout_of


@dataclass(frozen=True, slots=True)
class Plan:
    """objects: dependencies come before what depends on them; every identity occurs once.

    apps: tenants' apps, and add-ons with the tenant "". origins: the part of the document that each object comes from.
    rollout: None if the environment has none. members: the wave of each object, for `wave_of`.
    off: the full names of the apps that are in no wave; it may name apps that are not in the plan.
    after: the gate to the environment before; None: there is no gate.
    management: the management cluster.
    timeout: seconds that Flux has for a change, and Pulumi for a deletion.
    derived: what others work out of the plan, once.
    """

    environment: str
    management: str
    objects: tuple[KubeObject, ...]
    placements: tuple[PlannedPlacement, ...]
    apps: tuple[PlannedApp, ...]
    origins: Mapping[ObjectId, Path] = field(default_factory=dict)
    rollout: Rollout | None = None
    members: Mapping[ObjectId, Wave] = field(default_factory=dict)
    off: frozenset[str] = frozenset()
    after: After | None = None
    timeout: int = 600
    derived: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def placed(self) -> set[tuple[str, str]]:
        """Each placement as (tenant, cluster)."""
        return {(placement.tenant, placement.cluster) for placement in self.placements}

    @property
    def namespaces(self) -> set[tuple[str, str, str]]:
        """The tenants' namespaces, as (tenant, cluster, name)."""
        return {(place.tenant, place.cluster, name) for place in self.placements for name in place.namespaces}

    def wave_of(self, id: ObjectId) -> Wave | None:
        """The wave that an object belongs to; None: the object is in no wave and waits for none."""
        return self.members.get(id)


def nothing_of(plan: Plan) -> Plan:
    """An empty plan of the same environment."""
    return Plan(plan.environment, plan.management, (), (), ())


def check_declared(fleet: Fleet, environment: str) -> None:
    """Raises: Refused: the environment is not declared, or a frame."""
    fleet.check_stack(environment)
    require("environment", environment, fleet.environments, fleet.source.file)


@dataclass(frozen=True, slots=True)
class Part:
    """What is planned of an environment. tenant: None for all tenants, "" for none of them; cluster: None for all.

    The add-ons and alerts of its clusters are always planned.
    """

    tenant: str | None = None
    cluster: str | None = None


def plan(fleet: Fleet, environment: str, part: Part | None = None) -> Plan:
    """Plan the objects of an environment.

    Args:   part: plan only this part, in the same way; None: all. What conflicts with other parts is not found then.
    Shape:  per tenant on the management cluster 1 service account + sources + charts + apps, and in each of its
            namespaces 2 objects + owners' and extra bindings + quota, limits and network policies;
            per placement on a remote 1 + apps; per namespace of kubeconfigs 1 for each service account, 2 for the objects chart,
            and for each author 1 for each content of a source, of a chart, and for each credential;
            per remote whose token or kubeconfig the fleet describes 1.
    Raises: InvalidFleet: with all problems of this environment alone; Refused: the environment is not declared.
    """
    check_declared(fleet, environment)
    gathered = Gathering(fleet.source)
    placements = _planned(fleet, environment, part or Part(), gathered)
    if (findings := gathered.findings) or findings.skipped:
        assert findings or fleet.known_problems, f"nothing explains why {findings.skipped} is left out"
        raise fleet.invalid(joined(findings))
    objects = tuple(in_engine_order(gathered.objects.values(), gathered.awaited))
    protected = fleet.environments[environment].protected
    rollout = rollout_of(fleet, environment)
    off = frozenset(apps_at_once(fleet)) if rollout else frozenset[str]()
    return Plan(
        environment,
        fleet.environments[environment].management,
        tuple(map(_protected, objects)) if protected else objects,
        tuple(placements),
        tuple(gathered.apps),
        gathered.origins,
        rollout,
        members(objects, {app.id: app.full_name for app in gathered.apps}, rollout, off),
        off,
        after_of(fleet, environment),
        math.ceil(seconds_of(fleet.environments[environment].timeout)),
    )


def _planned(fleet: Fleet, environment: str, part: Part, gathered: Gathering) -> list[PlannedPlacement]:
    """Plan a part of an environment into `gathered`: clusters, add-ons, then tenants. Returns: the tenants' placements."""
    clusters = tuple(name for name in clusters_of(fleet, environment) if part.cluster in (None, name))
    platform = PlatformPlanner(fleet, environment, gathered)
    for cluster in clusters:
        platform.alerts(cluster)
        platform.addons(cluster)
    placements = PlacementPlanner(fleet, environment, gathered, platform, Territory(fleet, environment))
    for tenant in fleet.document.tenants:
        if part.tenant in (None, tenant):
            with collecting(gathered.findings):
                placed = apps_by_cluster(fleet, environment, tenant, clusters)
                for cluster in clusters:
                    if cluster in placed or _is_given_up(fleet, environment, tenant, cluster):
                        with collecting(gathered.findings):
                            placements.add(tenant, cluster, placed.get(cluster, []))
            fleet.shared.clear()
    return placements.placements


def _is_given_up(fleet: Fleet, environment: str, tenant: str, cluster: str) -> bool:
    """Whether a tenant without apps is placed for its namespaces' sake, which go with their data."""
    declared = fleet.document.tenants[tenant]
    if declared.apps or declared.clusters is None or is_filled(fleet, ("tenants", tenant, "clusters")):
        return False
    takes = matches(declared.clusters, cluster, fleet.clusters[cluster])
    is_offboarded = "offboarding" in tenant_states(fleet, tenant, cluster)
    return takes and is_offboarded and not tenant_barrier(fleet, environment, tenant)


PROTECTED = ("Namespace", "Kustomization", "HelmRelease")
"""The kinds that Pulumi protects: tenants and add-ons themselves. Other objects come and go with settings."""


def _protected(planned: KubeObject) -> KubeObject:
    """The object, protected from `pulumi destroy`, which does not run the program and therefore no guard."""
    if planned.id.kind not in PROTECTED or STATE_LABEL in planned.manifest["metadata"].get("labels", {}):
        return planned
    return replace(planned, protect=True)


# --- plans of several environments ------------------------------------------------------------------------------------


class _Claim(NamedTuple):
    """What an environment takes for itself: a key, words for it, and its place in the document."""

    key: Hashable
    what: str
    at: Path


def collisions(fleet: Fleet, plans: Iterable[Plan]) -> Iterator[Problem]:
    """What environments claim that another claims too.

    One finding for each tenant, cluster or add-ons, and one for a template that gives tenants the same names in both, as more would
    follow.
    """
    every = tuple(plans)
    reported: set[tuple[Path, str, str]] = set()
    first: dict[Hashable, tuple[str, Path]] = {}
    for plan in every if len(every) > 1 else ():
        for claim, what, origin in _claims(fleet, plan):
            owner, place = first.setdefault(claim, (plan.environment, origin))
            if owner == plan.environment:
                continue
            at, fix = _place(fleet, owner, plan.environment, place, origin)
            keys = {(path, owner, plan.environment) for path in (at, origin[:2])}
            if reported.isdisjoint(keys):
                message = f"environments '{owner}' and '{plan.environment}' would both create {what}"
                yield Problem(at, "planned-twice", message, (f"first: {fleet.source.line_of(place)}",), fix)
            reported |= keys


def _place(fleet: Fleet, owner: str, environment: str, place: Path, origin: Path) -> tuple[Path, str]:
    """Where two environments meet, and what to write there. place, origin: what each of them claims comes from."""
    if origin[2:3] == ("clusterObjects",):
        return origin, "set a 'metadata.name' with '{namespace}' or '{env}'"
    if origin[0] == "tenants":
        tenant = str(origin[1])
        template = namespace_template(fleet, environment, tenant)[1]
        names = {main_namespace(fleet, name, tenant) for name in (owner, environment)}
        if place[:2] == origin[:2] and len(names) == 1:
            fix = "put '{env}' into the 'namespace' of one of them, such as '{env}-{tenant}'"
            return template, "put '{env}' into it" if template[0] == "tenants" else fix
        if len(origin) == 2 and template[0] == "tenants":
            # The names of all that a tenant has as a whole contain the namespace.
            return template, "choose another name for one of them"
    return origin, "rename one of them, or change the 'namespace' of one environment"


def _claims(fleet: Fleet, plan: Plan) -> Iterator[_Claim]:
    for object in plan.objects:
        what = f"{object.id} on cluster '{plan.management}'"
        yield _Claim((plan.management, object.id), what, plan.origins[object.id])
    for placement in plan.placements:
        for name in placement.namespaces:
            what, at = f"namespace '{name}' on cluster '{placement.cluster}'", ("tenants", placement.tenant)
            yield _Claim(("on", placement.cluster, name), what, at)
            # The service accounts for remotes are named like namespaces.
            yield _Claim(("managed by", plan.management, name), what, at)
        for claim, written in placement.wide.items():
            yield _Claim(("wide", *claim), f"{claim[2]} {claim[3]} on cluster '{placement.cluster}'", written)
    for app in plan.apps:
        if app.release:
            cluster, namespace, name = app.release
            what = f"release '{name}' in namespace '{namespace}' on cluster '{cluster}'"
            yield _Claim(("release", *app.release), what, app.at)
        if app.installs and app.installs.deletes and app.installs.declared:
            yield _Claim(app.installs.key, f"{app.installs.what} on cluster '{app.cluster}'", app.at)
        for name in () if app.tenant else owned_namespaces(fleet, plan.environment, app.cluster, app.name):
            yield _Claim(("add-on", app.cluster, name), f"namespace '{name}' on cluster '{app.cluster}'", app.at)
