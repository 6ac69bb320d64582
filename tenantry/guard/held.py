"""What a management cluster holds of an environment, as the guard judges it. `guard.reading` finds it out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tenantry.guard.claims import Kept
from tenantry.guard.reinstalls import Target
from tenantry.kube.objects import ObjectId

READ = ("Namespace", "Kustomization", "HelmRelease")
"""Kinds that stand for a tenant, an app or an add-on."""


class Mark(NamedTuple):
    """What a release on a remote cluster says of a namespace that it installs.

    is_kept: Helm keeps it. is_freed: Helm deletes it. Neither: Helm has not stored yet what the release says. Both: there is
    nothing to delete, because Helm has installed nothing, or because Flux leaves a decommissioned cluster as it is.
    """

    is_kept: bool
    is_freed: bool


class Reference(NamedTuple):
    """The kubeconfig Secret or ConfigMap through which Flux reaches a cluster."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldApp:
    """A Kustomization or HelmRelease of an app, or of an add-on if the tenant is "".

    leaving: an earlier run has given it up. suspended: Flux leaves it alone, and not because its cluster was given up.
    installed: the namespaces on the cluster that Flux has applied something in for it.
    unapplied: Flux's status proves that it has never applied anything for it.
    """

    tenant: str
    cluster: str
    name: str
    leaving: bool = False
    suspended: bool = False
    installed: frozenset[str] = frozenset()
    unapplied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldNamespace:
    """leaving: an earlier run has given it up with its data. marked: a run may remove it: given up, or announced and left with its
    data.

    addon: the add-on that owns it; "" for a tenant's. mark: of one on a remote cluster, what its release says of it.
    """

    leaving: bool
    marked: bool
    addon: str = ""
    mark: Mark | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The objects on the cluster.

    namespaces: by (tenant, cluster, namespace); the tenant is "" for an add-on's.
    kubeconfigs: (cluster, reference) -> whether everything that uses it was decommissioned, and so leaves the cluster as it is.
    others_kubeconfigs: the same of other environments. strangers: objects that are not the environment's.
    frozen: (tenant, cluster) with a suspended baseline. misplaced: objects with the environment's labels where the fleet puts none,
    and those in a tenant's namespace that neither the plan nor the stack's state has; they count for nothing. malformed: objects
    that cannot be read in full, in words.
    targets: what Flux has installed for baselines, add-ons and apps, and for strangers that a plan would take over.
    kept: (cluster, namespace) -> what the claims of all environments record of it.
    installers: (kubeconfig, namespace) -> the releases that install the namespace through it, whatever their labels say.
    """

    namespaces: dict[tuple[str, str, str], HeldNamespace] = field(default_factory=dict)
    apps: dict[ObjectId, HeldApp] = field(default_factory=dict)
    kubeconfigs: dict[tuple[str, Reference], bool] = field(default_factory=dict)
    others_kubeconfigs: dict[tuple[str, Reference], bool] = field(default_factory=dict)
    strangers: set[ObjectId] = field(default_factory=set)
    frozen: set[tuple[str, str]] = field(default_factory=set)
    misplaced: set[ObjectId] = field(default_factory=set)
    malformed: set[str] = field(default_factory=set)
    targets: dict[ObjectId, Target] = field(default_factory=dict)
    kept: dict[tuple[str, str], Kept] = field(default_factory=dict)
    installers: dict[tuple[Reference, str], set[ObjectId]] = field(default_factory=dict)

    def holds(self, tenant: str, cluster: str, namespace: str) -> bool:
        """Whether a tenant, or an add-on if it is "", still has more in a namespace than its data.

        On a remote cluster that is the release which installs it. On the management cluster the namespace is there anyway.
        """
        if (known := self.namespaces.get((tenant, cluster, namespace))) is None:
            return False
        has_apps = any(
            (app.tenant, app.cluster) == (tenant, cluster) and namespace in (id.namespace, *app.installed)
            for id, app in self.apps.items()
        )
        return known.mark is not None or bool(tenant and has_apps)

    def recorded(self, entries: Iterable[Kept]) -> Held:
        """With what the claims record. A namespace of the management cluster that was left there is no longer the environment's."""
        kept = {(entry.cluster, entry.namespace): entry for entry in entries}
        left = {(entry.tenant, *place) for place, entry in kept.items() if not self.holds(entry.tenant, *place)}
        return replace(
            self, namespaces={key: held for key, held in self.namespaces.items() if key not in left}, kept=kept
        )
