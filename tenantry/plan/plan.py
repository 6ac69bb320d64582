"""The plan: all objects of one environment, in the order of their dependencies. Every command uses the same plan.

It is a pure function of the fleet and the environment. It uses no clock and no network, and its order is that of the file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tenantry.fleet.classes import class_of_app
from tenantry.fleet.fleet import Fleet, hubs_of
from tenantry.fleet.placement import cluster_labels
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.errors import UNKNOWN_NAME, Path, Refused
from tenantry.messages.text import closest
from tenantry.plan.after import After, after_of
from tenantry.plan.dependencies import joined
from tenantry.plan.engine_order import in_engine_order
from tenantry.plan.objects.lifecycle import STATE_LABEL
from tenantry.plan.placements import PlannedPlacement
from tenantry.plan.planned_apps import PlannedApp
from tenantry.plan.planner import Part, Planner
from tenantry.rollout.drawing import apps_at_once
from tenantry.rollout.waves import Rollout, Wave, members, rollout_of


class Permit(NamedTuple):
    """What the file permits without planning an object. what: `adopt`, of a tenant or an add-on, or `sharedIdentity`."""

    what: str
    tenant: str = ""
    addon: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """objects: dependencies come before what depends on them; every identity occurs once.

    apps: tenants' apps, and add-ons with the tenant "". origins: the part of the document that each object comes from.
    rollout: None if the environment has none. members: the wave of each object, for `wave_of`.
    off: the full names of the apps that are in no wave; it may name apps that are not in the plan.
    after: the gate to the environment before; None: there is no gate.
    written: by cluster and identity, where the file has an object as it is, also if a release installs it.
    before: the environment before this one, with or without a gate.
    labels, homes: of each cluster of the fleet; its homes are its environments.
    hubs: the management clusters, in the order of the file. Where there are several, the name of one is part of each identity.
    hub_by_cluster: of the environment's clusters. A management cluster is its own.
    app_classes: the class that an app comes from, by tenant and app; only with a rollout.
    """

    environment: str
    hubs: tuple[str, ...]
    objects: tuple[KubeObject, ...]
    placements: tuple[PlannedPlacement, ...]
    apps: tuple[PlannedApp, ...]
    origins: Mapping[ObjectId, Path] = field(default_factory=dict)
    permits: tuple[Permit, ...] = ()
    rollout: Rollout | None = None
    members: Mapping[ObjectId, Wave] = field(default_factory=dict)
    off: frozenset[str] = frozenset()
    after: After | None = None
    written: Mapping[tuple[str, ObjectId], Path] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    homes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    before: str | None = None
    hub_by_cluster: Mapping[str, str] = field(default_factory=dict)
    app_classes: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def management(self) -> str:
        """The management cluster of an environment that has one. Raises: Refused: it has several."""
        if len(self.hubs) > 1:
            message = f"environment '{self.environment}' has several management clusters: {', '.join(self.hubs)}"
            raise Refused(message, "this command works with one management cluster only")
        return self.hubs[0]

    def hub_of(self, id: ObjectId) -> str:
        """The management cluster that an object of the plan is on."""
        return id.hub or self.management

    def with_hubs(self) -> Plan:
        """The same plan, in which the identities name the management cluster also where the environment has one alone."""
        if len(self.hubs) > 1 or not self.hubs[0] or any(each.hub for each in self.objects[:1]):
            return self
        hub = self.hubs[0]
        return replace(
            self,
            objects=tuple(each.at(hub) for each in self.objects),
            placements=tuple(each.at_hub(hub) for each in self.placements),
            apps=tuple(each.at_hub(hub) for each in self.apps),
            origins={id.at(hub): place for id, place in self.origins.items()},
            members={id.at(hub): member for id, member in self.members.items()},
        )

    def on(self, hub: str) -> Plan:
        """What one management cluster has, in the form of a plan of an environment that has this one alone.

        So its identities are those of objects that are read from the cluster. `ObjectId.at` gives those of this plan again.
        The rollout is the whole environment's. Raises: KeyError: the environment has no such management cluster.
        """
        if self.hubs == (hub,):
            return self
        if hub not in self.hubs:
            raise KeyError(hub)
        here = {name for name, its in self.hub_by_cluster.items() if its == hub}
        return replace(
            self,
            hubs=(hub,),
            objects=tuple(each.at("") for each in self.objects if each.hub == hub),
            placements=tuple(each.at_hub("") for each in self.placements if each.cluster in here),
            apps=tuple(each.at_hub("") for each in self.apps if each.id.hub == hub),
            origins={id.at(""): place for id, place in self.origins.items() if id.hub == hub},
            members={id.at(""): member for id, member in self.members.items() if id.hub == hub},
            written={key: place for key, place in self.written.items() if key[0] in here},
            hub_by_cluster={name: hub for name in here},
        )

    def only(self, hubs: Collection[str]) -> Plan:
        """What some of the management clusters have, with the identities of this plan.

        The rollout, and which cluster is whose, are the whole environment's.
        """
        if {*self.hubs} <= {*hubs}:
            return self
        here = {name for name, its in self.hub_by_cluster.items() if its in hubs}
        return replace(
            self,
            hubs=tuple(name for name in self.hubs if name in hubs),
            objects=tuple(each for each in self.objects if each.hub in hubs),
            placements=tuple(each for each in self.placements if each.cluster in here),
            apps=tuple(each for each in self.apps if each.id.hub in hubs),
            members={id: member for id, member in self.members.items() if id.hub in hubs},
        )

    def wave_of(self, id: ObjectId) -> Wave | None:
        """The wave that an object belongs to; None: the object is in no wave and waits for none."""
        return self.members.get(id)


def alike(before: Plan, after: Plan) -> tuple[Plan, Plan]:
    """Two plans whose identities name management clusters in the same way, so that what stays where it is stays itself."""
    if len(before.hubs) == len(after.hubs) == 1:
        return before, after
    return before.with_hubs(), after.with_hubs()


def nothing_of(plan: Plan) -> Plan:
    """An empty plan of the same environment."""
    return Plan(plan.environment, plan.hubs, (), (), (), hub_by_cluster=plan.hub_by_cluster)


def check_declared(fleet: Fleet, environment: str) -> None:
    """Raises: Refused: the environment is not declared."""
    if environment not in fleet.environments:
        near = closest(environment, fleet.environments)
        hint = f"name '{near}'" if near else "declare it under 'environments:', or name one of these"
        if environment in fleet.document.tenants:
            hint = "it is a tenant: name an environment, and the tenant with --tenant"
        names = ", ".join(fleet.environments)
        raise Refused(
            f"{fleet.source.file} declares no environment '{environment}' (declared: {names})", hint, code=UNKNOWN_NAME
        )


def plan(fleet: Fleet, environment: str, part: Part | None = None) -> Plan:
    """Plan the objects of an environment on its management clusters.

    Args:   part: plan only this part, in the same way; None: all. What conflicts with other parts is not found then.
    Shape:  per tenant on the management cluster 1 service account + sources + charts + apps, and in each of its
            namespaces 2 objects + owners' and extra bindings + quota, limits and network policies;
            per placement on a remote 1 + apps; per namespace of kubeconfigs 1 for each service account, 2 for the objects chart,
            and for each author 1 for each content of a source, of a chart, and for each credential;
            per remote whose token or kubeconfig the fleet describes 1.
    Raises: InvalidFleet: with all problems of this environment alone; Refused: the environment is not declared.
    """
    check_declared(fleet, environment)
    planner = Planner(fleet, environment, part)
    planner.run()
    if (findings := planner.findings) or findings.skipped:
        assert findings or fleet.known_problems, f"nothing explains why {findings.skipped} is left out"
        raise fleet.invalid(joined(findings))
    gathered, placements = planner.gathered()
    objects = tuple(in_engine_order(gathered.objects.values(), gathered.awaited))
    protected = fleet.environments[environment].protected
    rollout = rollout_of(fleet, environment)
    off = frozenset(apps_at_once(fleet)) if rollout else frozenset[str]()
    return Plan(
        environment,
        planner.hubs,
        tuple(map(_protected, objects)) if protected else objects,
        tuple(placements),
        tuple(gathered.apps),
        gathered.origins,
        tuple(_permits(fleet, placements, gathered.apps)),
        rollout,
        members(objects, gathered.apps, rollout, off),
        off,
        after_of(fleet, environment),
        gathered.written,
        cluster_labels(fleet),
        {name: cluster.environments for name, cluster in fleet.clusters.items()},
        fleet.environments[environment].before,
        hubs_of(fleet, environment),
        _classes_of(fleet, gathered.apps) if rollout else {},
    )


def _classes_of(fleet: Fleet, apps: Iterable[PlannedApp]) -> dict[tuple[str, str], str]:
    """The class of each app that comes from one."""
    every = dict.fromkeys((app.tenant, app.name) for app in apps if app.tenant)
    return {app: found for app in every if (found := class_of_app(fleet.source, *app))}


def _permits(fleet: Fleet, placements: Iterable[PlannedPlacement], apps: Iterable[PlannedApp]) -> Iterator[Permit]:
    """Those of the environment's tenants and add-ons."""
    tenants, platform = fleet.document.tenants, fleet.document.platform
    if platform.sharedIdentity:
        yield Permit("sharedIdentity")
    for tenant in dict.fromkeys(placement.tenant for placement in placements):
        if tenants[tenant].adopt:
            yield Permit("adopt", tenant)
    for addon in dict.fromkeys(app.name for app in apps if not app.tenant):
        if platform.addons[addon].adopt:
            yield Permit("adopt", addon=addon)


PROTECTED = ("Namespace", "Kustomization", "HelmRelease")
"""The kinds that Pulumi protects: tenants and add-ons themselves. Other objects come and go with settings."""


def _protected(planned: KubeObject) -> KubeObject:
    """The object, protected from `pulumi destroy`, which does not run the program and therefore no guard."""
    if planned.id.kind not in PROTECTED or STATE_LABEL in planned.manifest["metadata"].get("labels", {}):
        return planned
    return replace(planned, protect=True)
