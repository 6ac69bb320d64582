"""Planned apps, the result of planning one scope, and what an app installs.

Two apps with equal manifests delete each other's objects. Both are ready, and when one of them is removed, Flux removes what the
other one shows as ready. So it is an error and no warning. Equal means that all is equal that decides what the objects are and what
they are called. Where `components`, `patches` or `postBuild` differ, nobody knows without building, and ordinary fleets apply one
directory several times in this way: then it is allowed.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tenantry.addresses import BadAddress, read
from tenantry.kube.names import app_name
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.errors import Problems

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
    shortened: the names of the object and the release that were too long, each with the whole name.
    after: what it waits for, by the names in `dependsOn`.
    """

    tenant: str
    cluster: str
    name: str
    id: ObjectId
    at: tuple[str, ...]
    release: tuple[str, str, str] | None = None
    installs: Installs | None = None
    shortened: Mapping[str, str] = field(default_factory=dict)
    after: Mapping[str, ObjectId] = field(default_factory=dict)

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
