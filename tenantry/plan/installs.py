"""What an app installs on its cluster, so far as the file shows it: two apps with equal manifests delete each other's objects.

Both are ready, and when one of them goes, Flux removes what the other one shows as ready. So it is an error and no warning. Equal
means that all is equal that decides what the objects are and what they are called. Where `components`, `patches` or `postBuild`
differ, nobody knows without building, and ordinary fleets apply one directory several times in this way: then it is allowed.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any, NamedTuple

from tenantry.addresses import BadAddress, read
from tenantry.kube.objects import KubeObject

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
    """What an app installs. place: where, which is quickly compared. what: that, in words. deletes: whether it goes with the app.

    said: whether the file says a part of it. Two apps that both write no `path` are how a fleet looks that is only begun, and what
    the root of a repository holds may still be nothing: so at least one of two has to say it.
    """

    place: tuple[str, ...]
    what: str
    spec: Mapping[str, Any]
    taken: Mapping[str, Any]
    deletes: bool = True
    said: bool = True

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
        return (self.deletes or other.deletes) and (self.said or other.said) and self.key == other.key


def manifests_of(cluster: str, spec: Mapping[str, Any], source: KubeObject, *, said: bool) -> Installs:
    """What a Kustomization applies. Args: spec: of it; source: whose content it takes; said: whether it writes its path."""
    path, target = posixpath.normpath(spec["path"]), str(spec.get("targetNamespace", ""))
    policy = spec["deletionPolicy"]
    deletes = policy != "Orphan" and (policy != "MirrorPrune" or spec["prune"])
    what = f"the manifests in '{path}' of one source"
    return Installs(("manifests", cluster, target, path), what, spec, source.manifest["spec"], deletes, said)


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
        found = read(url)
    except BadAddress:
        return url
    return f"{found.host}{found.path.removesuffix('.git')}"
