"""Planned apps, what an app installs, and all parts of a plan: each object once, and a finding for every two that conflict.

Two apps with equal manifests delete each other's objects. Both are ready, and when one of them is removed, Flux removes what the
other one shows as ready. So it is an error and no warning. Equal means that all is equal that decides what the objects are and what
they are called. Where `components`, `patches` or `postBuild` differ, nobody knows without building, and ordinary fleets apply one
directory several times in this way: then it is allowed.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from tenantry.addresses import BadAddress, read
from tenantry.fleet.names import format_part
from tenantry.kube.acceptance import too_large
from tenantry.kube.names import app_name
from tenantry.kube.objects import KubeObject, ObjectId, is_of_flux
from tenantry.messages.errors import Path, Problem, Problems
from tenantry.plan.shared import at_one_pace
from tenantry.source.parsed_file import ParsedFile

_OF_NAMES = ("namePrefix", "nameSuffix", "components", "patches", "postBuild")
_NOT_CONTENT = frozenset(
    (
        "certSecretRef",
        "insecure",
        "interval",
        "provider",
        "proxySecretRef",
        "secretRef",
        "suspend",
        "timeout",
        "url",
        "verify",
    )
)
"""How a source is fetched, and not what."""


class Installs(NamedTuple):
    """What an app installs. place: where, which is quickly compared. what: for messages. deletes: whether it goes with the app.

    declared: whether the file writes a part of it. Two apps without `path` are how a fleet looks that is only begun, and the root
    of a repository may still be empty: so at least one of two has to write it.
    """

    place: tuple[str, ...]
    what: str
    spec: Mapping[str, Any]
    taken: Mapping[str, Any]
    deletes: bool = True
    declared: bool = True

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for two that install the same."""
        if self.place[0] == "release":
            name = str(self.taken.get("chart") or _address(str(self.taken["url"])))
            return (*self.place, posixpath.basename(posixpath.normpath(name)))
        content = {key: value for key, value in self.taken.items() if key not in _NOT_CONTENT}
        naming = repr([self.spec.get(key) or "" for key in _OF_NAMES])
        return (*self.place, naming, _address(str(self.taken.get("url", ""))), repr(content))

    def clashes(self, other: Installs) -> bool:
        """Whether two at one place cannot both be there."""
        return (self.deletes or other.deletes) and (self.declared or other.declared) and self.key == other.key


def manifests_of(cluster: str, spec: Mapping[str, Any], source: KubeObject, *, declared: bool) -> Installs:
    """What a Kustomization applies. Args: spec: of it; source: whose content it takes; declared: whether it writes its path."""
    path, target = posixpath.normpath(spec["path"]), str(spec.get("targetNamespace", ""))
    policy = spec["deletionPolicy"]
    deletes = policy != "Orphan" and (policy != "MirrorPrune" or spec["prune"])
    what = f"the manifests in '{path}' of one source"
    return Installs(("manifests", cluster, target, path), what, spec, source.manifest["spec"], deletes, declared)


def release_of(cluster: str, spec: Mapping[str, Any], chart: KubeObject) -> Installs:
    """What a HelmRelease installs. Helm's own check of owners knows the name and the namespace of a release, and no more.

    Args: spec: of it; chart: what it takes. Two that are stored in one namespace, too, are one release, which is refused before.
    """
    name, target = spec["releaseName"], spec["targetNamespace"]
    what = f"a release '{name}' of one chart in namespace '{target}'"
    return Installs(("release", cluster, target, name), what, spec, chart.manifest["spec"])


def _address(url: str) -> str:
    """The host and path of an address: one repository can be fetched in several ways."""
    try:
        address = read(url)
    except BadAddress:
        return url
    return f"{address.host}{address.path.removesuffix('.git')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedApp:
    """One app on one cluster: the Kustomization or HelmRelease that stands for it on the management cluster.

    release: where Helm keeps it, as (cluster, namespace, name); None for a Kustomization. at: its place in the document.
    installs: what no other app on the cluster may install.
    """

    tenant: str
    cluster: str
    name: str
    id: ObjectId
    at: tuple[str, ...]
    release: tuple[str, str, str] | None = None
    installs: Installs | None = None

    @property
    def full_name(self) -> str:
        """What users call it: `rocky/web`, or `platform/dns` for an add-on."""
        return app_name(self.tenant, self.name)


@dataclass(slots=True)
class AppSet:
    """The result for one scope; `objects` in the order of their dependencies.

    awaited: those that Pulumi has to wait for. sources: those that are used, by name.
    """

    objects: dict[ObjectId, KubeObject] = field(default_factory=dict)
    apps: list[PlannedApp] = field(default_factory=list)
    awaited: set[ObjectId] = field(default_factory=set)
    findings: Problems = field(default_factory=Problems)
    sources: dict[str, KubeObject] = field(default_factory=dict)


class Gathering:
    """The objects, apps and findings of one environment so far.

    origins: which part of the file planned an object first.
    awaited: the objects that Pulumi has to wait for.
    """

    def __init__(self, source: ParsedFile) -> None:
        self.objects: dict[ObjectId, KubeObject] = {}
        self.apps: list[PlannedApp] = []
        self.awaited: set[ObjectId] = set()
        self.findings = Problems()
        self.origins: dict[ObjectId, Path] = {}
        self._source = source
        self._claimed_at: dict[tuple[str, ...], Path] = {}
        self._installed: dict[tuple[str, ...], list[tuple[PlannedApp, Installs]]] = {}

    def add(self, objects: Iterable[KubeObject], at: Path) -> None:
        """Plan objects that come from a part of the file, and report those that an API server would not take."""
        for object in objects:
            self.findings += (replace(problem, path=at, at_key=True) for problem in too_large(object.manifest))
            self._take(object, at)

    def _take(self, object: KubeObject, at: Path) -> None:
        known = self.objects.get(object.id)
        if known is None:
            self.objects[object.id], self.origins[object.id] = object, at
            if object.id.kind == "HelmRelease" and is_of_flux(object.id.api_version):
                spec, cluster = object.manifest["spec"], object.owner.cluster
                namespace, name = spec["storageNamespace"], spec["releaseName"]
                message = f"release '{name}' in namespace '{namespace}' on cluster '{cluster}' is claimed twice"
                fix = "set another 'releaseName'"
                self._claim((cluster, namespace, name), at, "duplicate-release", message, fix)
        elif known == object:
            return
        elif both := at_one_pace(known, object):
            self.objects[object.id] = both
        else:  # two that need it planned another one
            message, first = f"{object.id} would be created twice", self.origins.get(object.id, ())
            self._twice(at, "duplicate-name", message, first, "rename one of them")

    def share(self, made: KubeObject, at: Path) -> ObjectId:
        """Plan an object that several others need, once."""
        self.origins.setdefault(made.id, at)
        return self.objects.setdefault(made.id, made).id

    def add_apps(self, planned: AppSet) -> None:
        self.findings += planned.findings
        self.findings.skipped += planned.findings.skipped
        places = {app.id: app.at for app in planned.apps}
        # What a tenant takes can be the platform's.
        shared_at = planned.apps[0].at[:2] if planned.apps else ("platform", "addons")
        for object in planned.objects.values():
            tenant = object.owner.tenant
            self._take(object, places.get(object.id, ("tenants", tenant) if tenant else shared_at))
        self.awaited |= planned.awaited
        for app in planned.apps:
            self.apps.append(app)
            free = not app.release or self._claimed_at.get(app.release) == app.at
            if free and app.installs:
                self._claim_installed(app.installs, app)

    def claim_cluster_wide(self, claim: tuple[str, str, str, str], at: Path) -> bool:
        """Take a cluster-scoped object for one part of the file; whether it is free. claim: cluster, group, kind, name."""
        cluster, _, kind, name = claim
        message = f"{kind} {name} on cluster '{cluster}' would be created twice"
        fix = "set another 'metadata.name', such as one with '{namespace}'"
        return self._claim(claim, at, "duplicate-name", message, fix, at_key=True)

    def _claim(
        self, claim: tuple[str, ...], at: Path, code: str, message: str, fix: str, *, at_key: bool = False
    ) -> bool:
        first = self._claimed_at.setdefault(claim, at)
        if first != at:
            self._twice(at, code, message, first, fix, at_key=at_key)
        return first == at

    def _twice(
        self, at: Path, code: str, message: str, first: Path, fix: str, *more: str, at_key: bool = False
    ) -> None:
        """Report a part of the file that takes what an earlier part has. more: notes."""
        notes = (f"first: {self._source.line_of(first)}", *more)
        self.findings.append(Problem(at, code, message, notes, fix, at_key=at_key))

    def _claim_installed(self, installs: Installs, app: PlannedApp) -> None:
        """Take what an app installs for it alone."""
        claimed = self._installed.setdefault(installs.place, [])
        claimant = next((other for other, first in claimed if installs.clashes(first)), None)
        claimed.append((app, installs))
        if claimant is None:
            return
        both = f"{format_part(app.at)} and {format_part(claimant.at)}"
        message = (
            f"{both} would both install {installs.what}: when one of them goes, Flux removes what the other one has"
        )
        fix = "remove one of them, or give it another 'releaseName' or 'targetNamespace'"
        if not app.release:
            fix = "remove one of them, or give it another 'path', 'targetNamespace', 'namePrefix' or 'nameSuffix'"
        on = f"on cluster '{app.cluster}'"
        self._twice(app.at, "installed-twice", message, claimant.at, fix, on, at_key=True)
