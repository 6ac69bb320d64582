"""One environment as Pulumi shows it: Fleet > Tenant > Placement and Fleet > Cluster, each with its own objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pulumi

from tenantry.kube.objects import KubeObject, Owner
from tenantry.messages.text import grouped
from tenantry.plan.plan import Plan
from tenantry.stacks.states import CLUSTER, FLEET, PLACEMENT, TENANT

from .config import management_provider
from .objects import Objects, without_positions
from .rounds import Rounds
from .run import Run, run_of

_PROVIDED = """\
a fleet makes the provider of its management cluster itself: it has to adopt objects, and to reach the cluster that the checks read
  fix: leave the provider out of the options, and set tenantry:kubeconfig and tenantry:context in the stack's config"""


@dataclass(slots=True)
class Owned:
    """What the plan has for one owner: a tenant or the platform, on one cluster or on none in particular."""

    objects: list[KubeObject] = field(default_factory=list)
    namespaces: set[str] = field(default_factory=set)
    apps: set[str] = field(default_factory=set)


class Part(pulumi.ComponentResource):
    """A part of a fleet, with the objects of one owner. Its outputs come from the plan, and are known at once.

    accounts: the service accounts among its objects, as `namespace/name`. objects: how many it has. Both with the parts below it.
    facts: the values of all outputs, by name.
    """

    accounts: pulumi.Output[list[str]]
    objects: pulumi.Output[int]
    facts: Mapping[str, Any]

    def _complete(self, owned: Iterable[Owned], **facts: Any) -> None:
        """Set and register the outputs.

        Args:   owned: all that the part and those below it have. facts: further outputs, by the names of the attributes.
        """
        planned = [object for owned_objects in owned for object in owned_objects.objects]
        accounts = sorted(object.id.full_name for object in planned if object.id.kind == "ServiceAccount")
        self.facts = {**facts, "accounts": accounts, "objects": len(planned)}
        for name, fact in self.facts.items():
            setattr(self, name, pulumi.Output.from_input(fact))
        self.register_outputs({**self.facts})


class Cluster(Part):
    """What the placements on one cluster share, and the cluster's add-ons. apps: the names of the add-ons."""

    apps: pulumi.Output[list[str]]

    def __init__(self, name: str, owned: Owned, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(CLUSTER, name, {}, opts)
        self._complete([owned], apps=sorted(owned.apps))


class Placement(Part):
    """The objects of a tenant on the management cluster for one of its clusters: the baseline, sources, charts and apps.

    namespaces: the tenant's on that cluster. apps: the names of its apps there.
    """

    namespaces: pulumi.Output[list[str]]
    apps: pulumi.Output[list[str]]

    def __init__(self, name: str, owned: Owned, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(PLACEMENT, name, {}, opts)
        self._complete([owned], namespaces=sorted(owned.namespaces), apps=sorted(owned.apps))


class Tenant(Part):
    """A tenant's placements, by cluster, beside the objects that several of them share.

    namespaces, apps: as of the placements. clusters: their names.
    """

    placements: Mapping[str, Placement]
    namespaces: pulumi.Output[list[str]]
    clusters: pulumi.Output[list[str]]
    apps: pulumi.Output[list[str]]

    def __init__(self, name: str, owned: Mapping[str, Owned], opts: pulumi.ResourceOptions | None = None) -> None:
        """owned: by cluster; "": none in particular."""
        super().__init__(TENANT, name, {}, opts)
        own = pulumi.ResourceOptions(parent=self)
        # Names are unique among all placements of the stack.
        self.placements = {
            cluster: Placement(f"{name}/{cluster}", mine, own) for cluster, mine in owned.items() if cluster
        }
        self._complete(
            owned.values(),
            namespaces=sorted({namespace for mine in owned.values() for namespace in mine.namespaces}),
            clusters=sorted(self.placements),
            apps=sorted({app for mine in owned.values() for app in mine.apps}),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetArgs:
    """file: that describes the fleet; None: the one that the stack's config names."""

    file: str | Path | None = None


class Fleet(Part):
    """One environment on its management cluster, with its clusters and tenants by name.

    `depends_on` of one of these components takes the objects that exist at that moment: all but those that wait for their wave or
    for what they depend on. What has to wait for those too takes `settled` as an input.

    settled: when the run has applied everything that it may, and what it waits for is ready. blocked: the lines that it could not
    apply, with the reasons.
    """

    clusters: Mapping[str, Cluster]
    tenants: Mapping[str, Tenant]
    settled: pulumi.Output[None]
    blocked: pulumi.Output[Mapping[str, str]]

    def __init__(
        self,
        name: str,
        args: FleetArgs | None = None,
        opts: pulumi.ResourceOptions | None = None,
        *,
        run: Run | None = None,
    ) -> None:
        """Create all objects of an environment, after the checks that come before every run.

        Args:   name: the environment's.
                opts: as of any component, but without a provider. The fleet's own adopts objects, and reaches the cluster that the
                checks read.
                run: what to create, if it has been checked already.
        Raises: RunError: the file is invalid, or the run would remove more than it may.
        """
        if opts and (opts.provider or opts.providers):
            raise pulumi.RunError(_PROVIDED)
        run = run or run_of(name, args.file if args else None)
        provider = management_provider(run.target, run.plan.management)
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(providers=[provider]))
        super().__init__(FLEET, name, {}, opts)
        own = pulumi.ResourceOptions(parent=self)
        owned = _owned(run.plan)
        by_tenant = grouped(owned, lambda owner: owner.tenant)
        platform, *tenants = by_tenant
        with without_positions():
            self.clusters = {
                owner.cluster: Cluster(owner.cluster, owned[owner], own)
                for owner in by_tenant[platform]
                if owner.cluster
            }
            self.tenants = {
                name: Tenant(name, {owner.cluster: owned[owner] for owner in by_tenant[name]}, own) for name in tenants
            }
        rounds = Rounds(run, Objects(run.plan.timeout, run.state, dict(self._parts())))
        rounds.begin()
        # The SDK waits for all outputs at the end of the program.
        self.blocked = pulumi.Output.from_input(rounds.lead())
        self.settled = self.blocked.apply(lambda _: None)
        self._complete(owned.values())

    def _parts(self) -> Iterator[tuple[Owner, pulumi.ComponentResource]]:
        yield Owner(), self
        for cluster, part in self.clusters.items():
            yield Owner("", cluster), part
        for tenant, theirs in self.tenants.items():
            yield Owner(tenant), theirs
            for cluster, placement in theirs.placements.items():
                yield Owner(tenant, cluster), placement


def _owned(plan: Plan) -> dict[Owner, Owned]:
    """What a plan has for each owner, the platform's first."""
    owned = {Owner(): Owned()}
    for planned in plan.objects:
        owned.setdefault(planned.owner, Owned()).objects.append(planned)
    for placement in plan.placements:
        if mine := owned.get(Owner(placement.tenant, placement.cluster)):
            mine.namespaces.update(placement.namespaces)
    for app in plan.apps:
        if mine := owned.get(Owner(app.tenant, app.cluster)):
            mine.apps.add(app.name)
    return owned
