"""Whether a planned object is confined: where it is, and what a Flux object runs as, names, fetches and installs."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.fleet.identity import borrowed
from tenantry.flux.addresses import addresses_of
from tenantry.grants.confined.baseline import Baseline
from tenantry.grants.confined.kubernetes import Kubernetes
from tenantry.grants.confined.place import (
    APP,
    CLUSTER,
    ENVIRONMENT,
    PROVIDER,
    SHARD,
    SOURCE,
    STATE,
    TENANT,
    Place,
    fleets_labels,
    is_fleets,
    kubeconfig_reference,
    labels_of,
    scalars,
    states_of,
    unknown_metadata,
)
from tenantry.grants.confined.plan import Planned
from tenantry.grants.fields import ADVANCED, FIELDS, Tree
from tenantry.grants.grants import LIMITS, SHORTEST_INTERVAL, is_allowed
from tenantry.kube.names import MAX_LABEL, shortened
from tenantry.kube.objects import KubeObject
from tenantry.messages.data import mapping_at, value_at
from tenantry.model.durations import seconds_of

_FETCHED = ("GitRepository", "OCIRepository", "HelmRepository", "HelmChart", "Bucket")
_REFERENCES = {
    "repository": "GitRepository",
    "providerRef": "Provider",
    **dict.fromkeys(("secretRef", "certSecretRef", "proxySecretRef", "trustedRootSecretRef"), "Secret"),
    **dict.fromkeys(("sourceRef", "chartRef", "resources", "substituteFrom", "valuesFrom", "dependsOn"), ""),
}
"""Fields that name another object; "": of the kind that the reference gives, or that the object itself is."""
_GROUPS = {
    "Secret": "credentials",
    "ConfigMap": "configs",
    "Alert": "alerts",
    "Provider": "alerts",
    "Receiver": "receivers",
    **dict.fromkeys(("Kustomization", "HelmRelease"), "apps"),
    **dict.fromkeys(_FETCHED, "sources"),
}
_IN_SOURCE = ("path", "valuesFiles", "sparseCheckout", "fromPath", "toPath")
_LIMITS = {"timeout": "timeout", "interval": "interval", "retryInterval": "interval"}
_COUNTS = {"retries": "retries", "maxHistory": "history"}
_REMOTE = re.compile(r":|//|\?|@|\.git(/|$)|(^|/)_git/|^github\.com(/|$)")
"""What kustomize takes for the address of a repository."""
_DEFAULT_TIMES = ("30s", "5m", "10m", "30m")
"""Intervals that the fleet sets where nobody says one."""


class Check:
    """One object of a tenant at its place; problems are the words behind the object's name."""

    def __init__(self, plan: Planned, place: Place, planned: KubeObject) -> None:
        self.plan, self.place, self.planned = plan, place, planned
        self.manifest, self.kind = planned.manifest, planned.id.kind
        self.spec: Mapping[str, Any] = mapping_at(self.manifest, "spec")
        self.labels = labels_of(self.manifest)
        self.app = self.labels.get(APP, "")

    def problems(self) -> Iterator[str]:
        place, id = self.place, self.planned.id
        if self.kind != "ServiceAccount":
            yield from place.misplaced(self.app)
        if not id.api_version.partition("/")[0].endswith(".toolkit.fluxcd.io"):
            yield from Kubernetes(self.plan, place, self.manifest, on_target=place.kubeconfig is None).problems()
            return
        own_name = self._is_own_name()
        if id.namespace != place.home or not own_name:
            yield "is neither in a namespace of the tenant nor beside a kubeconfig under its name"
        yield from self._metadata()
        if self._is_baseline():
            yield from Baseline(self.plan, place, self.planned).problems()
            return
        yield from self._flux()

    def _is_own_name(self) -> bool:
        place, name = self.place, self.planned.id.name
        if place.kubeconfig is None:
            return True
        whole = f"{place.cluster}-{place.main}-{self.app or 'baseline'}"
        return name.startswith(place.prefixes) or name == shortened(whole, MAX_LABEL)

    def _metadata(self) -> Iterator[str]:
        place, metadata = self.place, self.manifest["metadata"]
        yield from unknown_metadata(metadata)
        fleets = fleets_labels(place, self.labels) | PROVIDER
        for kind in ("labels", "annotations"):
            for key, value in metadata.get(kind, {}).items():
                if key in fleets:
                    right = value == fleets[key]
                elif key == SHARD:
                    right = value in _shards(place, of_one=CLUSTER in self.labels)
                elif key == STATE:
                    right = bool(self.app) or value in states_of(place, "")
                elif key in (APP, SOURCE):
                    right = kind == "labels"
                else:
                    right = not is_fleets(key) and (kind, key) in place.holder.metadata
                if not right:
                    yield f"has {kind[:-1]} '{key}', which is not granted to it"

    def _flux(self) -> Iterator[str]:
        place, spec = self.place, dict(self.spec)
        is_reconciler = self.kind in ("Kustomization", "HelmRelease")
        if spec.pop("kubeConfig", None) != (kubeconfig_reference(place.kubeconfig) if is_reconciler else None):
            yield f"does not use the kubeconfig of cluster '{place.cluster}' alone"
        if is_reconciler and spec.get("serviceAccountName") != place.impersonated:
            yield f"runs as service account '{spec.get('serviceAccountName')}'"
        for key in ("targetNamespace", "storageNamespace"):
            if spec.get(key, place.main) not in self.plan.namespaces(place):
                yield f"names namespace '{spec[key]}' in spec.{key}"
        tree = FIELDS.get(self.kind)
        if tree is None:
            yield "is of a kind of which no tenant has any"
            return
        yield from self._walk(tree, spec, "spec")
        for path in ADVANCED.get(self.kind, ()) if self._is_teams() and not place.grants_setting("advanced") else ():
            value = value_at(spec, path)
            if value and not all(place.writes(str(each)) for each in scalars(value)):
                yield f"fills spec.{'.'.join(path)}, an advanced field"
        yield from self._connections(spec)

    def _walk(self, tree: Tree, value: Any, at: str) -> Iterator[str]:
        """The fields of a spec, one by one."""
        if isinstance(value, str | int):
            if problem := self._value(at, value):
                yield f"{problem} in {at}"
        elif isinstance(value, list):
            for each in value:
                yield from self._walk(tree, each, at)
        elif isinstance(value, Mapping):
            key = at.rpartition(".")[2]
            if key in _REFERENCES:
                yield from (f"{problem} in {at}" for problem in self._reference(key, value))
            elif key in ("eventSources",):
                yield from (f"{problem} in {at}" for problem in self._selected(value))
            for name, inner in value.items():
                path = f"{at}.{name}"
                if name in tree:
                    if "*" not in tree[name]:
                        yield from self._walk(tree[name], inner, path)
                    elif name in ("eventMetadata",):
                        yield from (f"{problem} in {path}" for problem in self._whose(inner))
                elif "*" not in tree:
                    yield f"fills {path}, a field that no tenant may fill"
        elif problem := self._value(at, value):
            yield f"{problem} in {at}"

    def _value(self, at: str, value: Any) -> str:
        """What is wrong with a single value."""
        place, key = self.place, at.rpartition(".")[2]
        if (key in _IN_SOURCE or (self.kind, key) == ("HelmChart", "chart")) and _leaves(str(value), ""):
            return f"leaves its source by '{value}'"
        if key == "components" and (
            _REMOTE.search(str(value)) or _leaves(str(value), str(self.spec.get("path") or "."))
        ):
            return f"leaves its source by '{value}'"
        if place.writes(str(value)):
            return ""
        if key in _LIMITS and isinstance(value, str):
            longest = str(LIMITS[_LIMITS[key]])
            shortest = SHORTEST_INTERVAL if key != "timeout" else "0s"
            if (
                not seconds_of(shortest) <= seconds_of(str(value)) <= seconds_of(longest)
                and value not in _DEFAULT_TIMES
            ):
                return f"has '{value}', which is not from {shortest} to {longest},"
        if key in _COUNTS and not (key == "maxHistory") <= value <= int(LIMITS[_COUNTS[key]]):
            return f"has '{value}', which is beyond the limit,"
        return ""

    def _reference(self, key: str, reference: Mapping[str, Any]) -> Iterator[str]:
        """What is wrong with the name of another object. Flux reads what is named with its own rights."""
        name, place = str(reference.get("name")), self.place
        kind = str(reference.get("kind") or _REFERENCES[key] or self.kind)
        namespace = reference.get("namespace", self.planned.id.namespace)
        found = self.plan.planned.get((kind, namespace, name))
        labels = labels_of(found.manifest) if found else {}
        is_addon = not labels.get(TENANT) and APP in labels if found else self._is_addon(namespace, name)
        if key == "dependsOn" and is_addon:
            return
        if namespace != self.planned.id.namespace:
            yield f"names {kind} '{namespace}/{name}'"
            return
        is_platforms = (
            found is not None
            and not labels.get(TENANT)
            and name.startswith(f"{place.frame.document.platform.namespace}.")
        )
        if is_platforms and found:
            # A source that a class declares, or a chart of one: nothing in it may be a tenant's.
            if not place.declares("sources", labels.get(SOURCE, "")) or any(
                not each.startswith(f"{place.frame.document.platform.namespace}.")
                for each in _secrets(found.manifest["spec"])
            ):
                yield f"names {kind} '{name}' of the platform"
                return
        elif not (
            (labels.get(TENANT), labels.get(CLUSTER, place.cluster)) == (place.tenant, place.cluster)
            if found
            else place.kubeconfig is None or name.startswith(place.prefixes)
        ):
            yield f"names {kind} '{name}', which is not the tenant's"
            return
        group = _GROUPS.get(kind, "")
        if self._is_teams() and kind == "HelmChart" and found:
            yield from self._reference("sourceRef", found.manifest["spec"]["sourceRef"])
        elif self._is_teams() and place.declares(group, declared := self._key(kind, name, labels)):
            yield f"names '{declared}' of the main file"

    def _is_addon(self, namespace: str, name: str) -> bool:
        """Whether a name is that of an add-on on the cluster that another environment has there."""
        place, platform = self.place, self.place.frame.document.platform
        names = {f"{place.cluster}-{each}" if place.kubeconfig else each for each in platform.addons}
        homes = {platform.namespace, place.home, *(each.namespace for each in platform.addons.values())}
        return namespace in homes and name in names and (place.kubeconfig is not None or namespace != place.main)

    def _selected(self, selector: Mapping[str, Any]) -> Iterator[str]:
        """What labels select has to be the tenant's, and of a team's object nothing that the main file declares."""
        place, labels = self.place, selector.get("matchLabels") or {}
        if labels.get(TENANT) != place.tenant or labels.get(ENVIRONMENT) != place.environment:
            if "name" not in selector or selector["name"] == "*" or labels:
                yield "selects objects that are not the tenant's"
            else:
                yield from self._reference("resources", selector)
            return
        if self._is_teams():
            named = {"apps": labels.get(APP), "sources": labels.get(SOURCE)}
            for group, name in named.items():
                whole = mapping_at(place.frame.source.data, "tenants", place.tenant, group)
                chosen = (
                    [name] if name else [] if any(named.values()) or selector.get("name", "*") != "*" else list(whole)
                )
                if any(each in whole for each in chosen):
                    yield f"tells of {group} of the main file"

    def _whose(self, metadata: Mapping[str, str]) -> Iterator[str]:
        wanted = {
            "tenant": self.place.tenant,
            "environment": self.place.environment,
            "cluster": self.labels.get(CLUSTER),
        }
        for key, value in wanted.items():
            if value and metadata.get(key) != value:
                yield f"says {key} '{metadata.get(key)}'"

    def _connections(self, spec: Mapping[str, Any]) -> Iterator[str]:
        """Where controllers connect to, and as whom."""
        place = self.place
        if not place.frame.document.platform.sharedIdentity:
            yield from (f"{each.message} in spec.{each.path[0]}" for each in borrowed(self.kind, spec))
        keys = ("sources", "alerts") if self.kind == "Provider" else ("sources",)
        for path, address in addresses_of(self.kind, spec):
            written = place.writes(str(spec.get(str(path[0])))) or not self._is_teams()
            if not written and not is_allowed(address, place.patterns(*keys)):
                yield f"has an address in spec.{path[0]} that is not granted to it"

    def _is_teams(self) -> bool:
        """Whether the team's file declares what this object stands for."""
        place, group = self.place, "apps" if self.app else _GROUPS.get(self.kind, "")
        name = self.app or self._key(self.kind, self.planned.id.name, self.labels)
        if self.kind == "HelmChart":
            return False  # its release answers for it
        return not place.declares(group, name)

    def _key(self, kind: str, name: str, labels: Mapping[str, str]) -> str:
        """What the file calls the entry that an object stands for."""
        place = self.place
        if APP in labels or SOURCE in labels:
            return str(labels.get(APP) or labels.get(SOURCE))
        if place.kubeconfig is None:
            return name
        for prefix in place.prefixes:
            if name.startswith(prefix):
                rest = name.removeprefix(prefix)
                return rest.partition(".")[0] if kind in (*_FETCHED, "Alert", "Provider") else rest
        return ""

    def _is_baseline(self) -> bool:
        return self.kind == "HelmRelease" and not self.app and self.place.kubeconfig is not None


def _shards(place: Place, *, of_one: bool) -> set[str | None]:
    """The shard of the place's cluster, or those of all clusters of the environment, for what they share."""
    clusters = place.frame.clusters
    return {each.shard for name, each in clusters.items() if name == place.cluster or not of_one}


def _secrets(spec: Any) -> Iterator[str]:
    """The names of all Secrets in a spec."""
    for key, inner in spec.items() if isinstance(spec, Mapping) else ():
        if _REFERENCES.get(key) == "Secret" and mapping_at(spec, key).get("name"):
            yield str(inner["name"])
        else:
            yield from _secrets(inner)


def _leaves(path: str, base: str) -> bool:
    """Whether a path leads out of the source. base: the path that it is relative to."""
    return path.startswith("/") or posixpath.normpath(posixpath.join(base or ".", path)).startswith("..")
