"""Describes in sentences what a difference between two plans does to tenants, apps and clusters, for every output format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from tenantry.compare.diff import Changed, Diff, Share, Status, TenantOnCluster
from tenantry.compare.warnings import app_in_words, surprises
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, Owner
from tenantry.messages.text import counted, grouped, listed
from tenantry.plan.planned_apps import PlannedApp


class Sign(StrEnum):
    """The kind of a consequence. A warning is a consequence that the author may not expect."""

    WARNING = "!"
    REMOVED = "-"
    ADDED = "+"


class Consequence(NamedTuple):
    """A sentence without a full stop."""

    sign: Sign
    text: str


@dataclass(frozen=True, slots=True)
class Alike:
    """Objects of one kind that change in the same way."""

    ids: tuple[ObjectId, ...]
    example: Changed


def consequences(diff: Diff) -> list[Consequence]:
    """Warnings, then removals, then additions; tenants before their parts."""
    told = [Consequence(Sign.WARNING, text) for text in surprises(diff)]
    if diff.status is not Status.REMOVED:  # then nothing is deleted, as the warning says
        told += [Consequence(Sign.REMOVED, text) for text in _Telling(diff, diff.removed, _GOING).sentences()]
    return [*told, *(Consequence(Sign.ADDED, text) for text in _Telling(diff, diff.added, _COMING).sentences())]


def others(diff: Diff, share: Share) -> list[KubeObject]:
    """Added or removed objects that no sentence covers: a source, a quota, a role binding."""
    if diff.status is not Status.KEPT or diff.management[0] != diff.management[1]:
        return []
    telling = _Telling(diff, share, _GOING)
    return [each for each in share.objects if not telling.covers(each)]


def alike(changed: Iterable[Changed]) -> list[Alike]:
    """Changed objects, grouped by equal changes."""
    groups = grouped(changed, lambda each: (each.id.kind, repr(each.fields)))
    return [Alike(tuple(each.id for each in group), group[0]) for group in groups.values()]


class _Words(NamedTuple):
    """The verbs, and what happens within a namespace."""

    tenant: str
    leaves: str
    namespace: str
    cluster: str
    within: str = ""


_GOING = _Words(
    "is removed from",
    "is removed from",
    "is removed, with everything in it, from",
    "is no longer used",
    " and everything in ",
)
_COMING = _Words("is added to", "is added to", "is added on", "is used for the first time")


class _Telling:
    """Sentences about what one of the two sides holds alone."""

    def __init__(self, diff: Diff, share: Share, words: _Words) -> None:
        self.diff = diff
        self.share = share
        self.words = words
        self._of_moves = {(each.cluster, name) for each in diff.moved for name in (each.before, each.after)}
        self._clusters = {*share.clusters, *(each.cluster for each in diff.rehomed)}
        self._told = {
            *(Owner(each.tenant, each.cluster) for each in share.placements),
            *(Owner(each.tenant, each.cluster) for each in diff.moved),
        }
        self._tenants_told = {each.tenant for each in self._told} | {each.tenant for each in diff.recreated}
        self._apps = {app.id for app in share.apps} | {app.id for pair in diff.replaced for app in pair}

    def covers(self, object: KubeObject) -> bool:
        """Whether a sentence or a warning covers the object."""
        tenant, cluster = owner = object.owner
        # Service accounts next to the kubeconfigs belong to the tenant, not to one of its clusters.
        shared = owner == Owner(tenant) and tenant in self._tenants_told
        return shared or owner in self._told or cluster in self._clusters or object.id in self._apps

    def sentences(self) -> Iterator[str]:
        yield from self._tenants()
        yield from self._placements()
        yield from self._namespaces()
        yield from self._apps_and_addons()
        for cluster in self.share.clusters:
            yield f"cluster {cluster} {self.words.cluster}"

    def _tenants(self) -> Iterator[str]:
        places = grouped(self.share.namespaces, lambda each: each.tenant)
        apps = grouped(self.share.apps, lambda each: each.tenant)
        for tenant in self.share.tenants:
            on = listed(each.cluster for each in places[tenant])
            yield (
                f"tenant '{tenant}' {self.words.tenant} {self.diff.environment}:"
                f" {self._namespaces_of(len(places[tenant]))} on {on}; {counted(len(apps[tenant]), 'app')}"
            )

    def _placements(self) -> Iterator[str]:
        """Tenants that the other plan has too, but not on these clusters."""
        kept = [each for each in self.share.placements if each.tenant not in self.share.tenants]
        places = grouped(self.share.namespaces, lambda each: TenantOnCluster(each.tenant, each.cluster))
        for tenant, placements in grouped(kept, lambda each: each.tenant).items():
            namespaces = self._namespaces_of(sum(len(places[each]) for each in placements))
            apps = sum(1 for app in self.share.apps if TenantOnCluster(app.tenant, app.cluster) in placements)
            on = _clusters(each.cluster for each in placements)
            yield f"tenant '{tenant}' {self.words.leaves} {on}: {namespaces}; {counted(apps, 'app')}"

    def _namespaces(self) -> Iterator[str]:
        """Namespaces of placements that the other plan has too."""
        own = [
            each
            for each in self.share.namespaces
            if TenantOnCluster(each.tenant, each.cluster) not in self.share.placements
            and (each.cluster, each.namespace) not in self._of_moves
        ]
        for (tenant, name), places in grouped(own, lambda each: (each.tenant, each.namespace)).items():
            on = listed(each.cluster for each in places)
            yield f"namespace '{name}' of '{tenant}' {self.words.namespace} {on}"

    def _apps_and_addons(self) -> Iterator[str]:
        own = [app for app in self.share.apps if TenantOnCluster(app.tenant, app.cluster) not in self.share.placements]
        manifests = {each.id: each.manifest for each in self.share.objects}

        def key(app: PlannedApp) -> tuple[str, str]:
            # An object that another app has now is neither removed nor added.
            gone = self.words is _GOING and app.id in manifests
            return (app_in_words(app), _stays(manifests[app.id]) if gone else "")

        for (name, stays), apps in grouped(own, key).items():
            yield f"{name} {self.words.leaves} {_clusters(app.cluster for app in apps)}{stays}"

    def _namespaces_of(self, count: int) -> str:
        within = self.words.within and self.words.within + ("it" if count == 1 else "them")
        return counted(count, "namespace") + within


def _clusters(names: Iterable[str]) -> str:
    unique = tuple(dict.fromkeys(names))
    return f"cluster{'' if len(unique) == 1 else 's'} {listed(unique)}"


def _stays(manifest: Manifest) -> str:
    """Why deleting a Kustomization or HelmRelease leaves its installed objects behind."""
    spec = manifest["spec"]
    if spec.get("suspend"):
        return "; what it installed stays there, because it is suspended"
    if manifest["kind"] == "HelmRelease":
        return ""
    policy = spec.get("deletionPolicy", "MirrorPrune")
    if policy == "Orphan":
        return "; what it installed stays there (deletionPolicy: Orphan)"
    return "; what it installed stays there (prune: false)" if policy == "MirrorPrune" and not spec.get("prune") else ""
