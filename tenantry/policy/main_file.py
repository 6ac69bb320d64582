"""The platform's main file as plain data: environments, clusters, overrides, and where the kubeconfigs of clusters are."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from tenantry.policy.classes import above, names_of, with_classes
from tenantry.policy.overlays import with_overlay
from tenantry.policy.resource import as_text, entries, lookup, mapping, texts
from tenantry.policy.rows import is_table, with_rows

_WRITTEN_BY = {
    "kamaji": ("controlPlane", "{}-admin-kubeconfig", "admin.conf"),
    "capi": ("cluster", "{}-kubeconfig", "value"),
    "vcluster": ("name", "vc-{}", "config"),
}
"""For each tool that writes kubeconfigs: the key with the cluster's name, the Secret's name, and its key."""


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """namespace: where the Secret or ConfigMap is; reference: the whole `kubeConfig` of Flux objects for the cluster."""

    namespace: str
    reference: Mapping[str, Mapping[str, str]]


def hubs_of(environment: Mapping[str, Any]) -> tuple[str, ...]:
    """The management clusters of an environment as it is written: a name, or a list of names."""
    written = environment.get("management")
    return tuple(texts(written)) if isinstance(written, list) else (str(written),)


def kubeconfig_of(written: Mapping[str, Any]) -> Kubeconfig | None:
    """What a cluster's `kubeconfig` in the file means to Flux; None: it says nothing."""
    for tool, (key, name, default) in _WRITTEN_BY.items():
        if given := mapping(written.get(tool)):
            reference = {"name": name.format(given.get(key)), "key": str(given.get("key") or default)}
            return Kubeconfig(str(given.get("namespace")), {"secretRef": reference})
    if secret := mapping(written.get("secret")):
        reference = {"name": str(secret.get("name")), "key": str(secret.get("key"))}
        return Kubeconfig(str(secret.get("namespace")), {"secretRef": reference})
    if config := mapping(written.get("configMap")):
        return Kubeconfig(str(config.get("namespace")), {"configMapRef": {"name": str(config.get("name"))}})
    return None


CLOSED = ("kube-*", "flux-system", "default")
"""Namespaces of Kubernetes and Flux, as patterns."""
USUAL = (
    *("*-system", "argocd", "calico-*", "cattle-*", "cert-manager", "cilium", "external-dns", "external-secrets"),
    *("ingress-nginx", "istio-*", "kyverno", "linkerd*", "logging", "longhorn*", "monitoring", "observability"),
    *("openshift*", "rook-ceph", "tigera-operator", "traefik", "velero"),
)
"""Patterns of the namespaces that are reserved where the main file has no `platform.reservedNamespaces`."""
LONGEST, LONGEST_RELEASE = 63, 53
"""The most characters of the name of a Kustomization or HelmRelease, and of a release."""
_TOKEN = re.compile(r"\$\{[^{}]*\}|\{\{|\}\}|\{([^{}]*)\}")


@dataclass(frozen=True)
class MainFile:
    """data: the file's mapping, with the clusters of included files, which are the platform's.

    Included files with tenants are no part of it: what they may do is what the main file says.
    """

    data: Mapping[str, Any]
    environments: Mapping[str, Mapping[str, Any]] = field(init=False)
    clusters: Mapping[str, Mapping[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        written = mapping(self.data.get("environments"))
        whole = {name: merged(*(mapping(written.get(each)) for each in _lineage(written, name))) for name in written}
        object.__setattr__(self, "environments", whole)
        clusters = {
            name: self._grouped(str(name), mapping(own)) for name, own in mapping(self.data.get("clusters")).items()
        }
        object.__setattr__(self, "clusters", clusters)

    def _grouped(self, name: str, own: Mapping[str, Any]) -> dict[str, Any]:
        """A cluster with what its groups say, and the groups above these."""
        groups = mapping(self.data.get("clusterGroups"))
        layers = [_named(mapping(groups.get(each)), name) for each in above(groups, own, "group")]
        nearest = next((found for each in (own, *reversed(layers)) if (found := _kinds(each))), set())
        other = {key: None for layer in layers for key in _kinds(layer) - nearest}
        return merged(*layers, {"kubeconfig": other} if other else {}, own)

    @property
    def platform(self) -> Mapping[str, Any]:
        return mapping(self.data.get("platform"))

    @property
    def defaults(self) -> Mapping[str, Any]:
        return mapping(self.data.get("defaults"))

    @cached_property
    def tenants(self) -> Mapping[str, Any]:
        """The tenants that the file declares, with what their classes say."""
        return {name: self.with_classes(mapping(own)) for name, own in mapping(self.data.get("tenants")).items()}

    def with_classes(self, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        """An entry that names classes, with what they say."""
        return with_classes(mapping(self.data.get("tenantClasses")), entry) if names_of(entry) else entry

    @property
    def home(self) -> str:
        """The platform team's namespace."""
        return str(self.platform.get("namespace") or "tenantry-system")

    def fitting(self, name: str, limit: int) -> str:
        """A name, shortened where the file says so: cut, with a hash of the whole one."""
        if len(name) <= limit or self.platform.get("longNames") != "shorten":
            return name
        return f"{name[: limit - 9].rstrip('-.')}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"

    @property
    def identity_is_shared(self) -> bool:
        return self.platform.get("sharedIdentity") is True

    def lineage(self, environment: str) -> tuple[str, ...]:
        """The environment behind those that it extends."""
        return _lineage(mapping(self.data.get("environments")), environment)

    def manages(self, cluster: str, environment: str = "") -> bool:
        """Whether the cluster runs Flux for the environment, or for any."""
        chosen = [environment] if environment else self.environments
        return any(cluster in self.hubs(each) for each in chosen)

    def kubeconfig(self, cluster: str) -> Kubeconfig | None:
        """How Flux reaches a cluster from elsewhere; None: the file does not say."""
        return kubeconfig_of(mapping(mapping(self.clusters.get(cluster)).get("kubeconfig")))

    def variables(
        self, environment: str, cluster: str = "", of_tenant: Mapping[str, Any] | None = None, **built_in: str
    ) -> dict[str, str]:
        """All placeholders there, on a cluster also its labels. of_tenant: the variables of a tenant."""
        here = mapping(self.clusters.get(cluster))
        given = mapping(self.environments.get(environment, {}).get("variables"))
        every = {**mapping(here.get("labels")), **given, **mapping(here.get("variables")), **(of_tenant or {})}
        texts = {str(name): str(as_text(value)) for name, value in every.items()}
        there = {"cluster": cluster, "management": self.hub_of(cluster, environment)} if cluster else {}
        return {**texts, "env": environment, **there, **built_in}

    def hubs(self, environment: str) -> tuple[str, ...]:
        """The management clusters of an environment."""
        return hubs_of(self.environments.get(environment, {}))

    def hub_of(self, cluster: str, environment: str) -> str:
        """The management cluster of a cluster in an environment; "": the file does not say which of several."""
        hubs = self.hubs(environment)
        named = str(mapping(self.clusters.get(cluster)).get("management"))
        return next((each for each in (cluster, named) if each in hubs), hubs[0] if len(hubs) == 1 else "")

    def selected(self, selector: Mapping[str, Any], variables: Mapping[str, Any] | None = None) -> frozenset[str]:
        """The clusters that a selector takes. variables: of a tenant, which fill in its labels."""
        texts_of = {name: str(as_text(each)) for name, each in (variables or {}).items()}
        filled_selector = mapping(filled_in(dict(selector), texts_of))
        chosen = set(self.clusters) if selector.get("all") is True else self._named(filled_selector)
        exclude = filled_selector.get("exclude")
        return frozenset(chosen - (self._named(exclude) if isinstance(exclude, dict) else set(texts(exclude))))

    def _named(self, selector: Mapping[str, Any]) -> set[str]:
        """The clusters with one of the names, and those with all of the labels; of several values of a label, with any."""
        found, labels = set(texts(selector.get("names"))), mapping(selector.get("labels"))
        for name, cluster in self.clusters.items() if labels else ():
            own = mapping(mapping(cluster).get("labels"))
            if all(own.get(key) in (value if isinstance(value, list) else [value]) for key, value in labels.items()):
                found.add(name)
        return found

    @cached_property
    def kubeconfig_namespaces(self) -> frozenset[str]:
        return frozenset(found.namespace for cluster in self.clusters if (found := self.kubeconfig(cluster)))

    @cached_property
    def accounts(self) -> frozenset[str]:
        """Names of the service accounts that Flux uses for the platform beside kubeconfigs."""
        names = {
            str(mapping(cluster).get("platformServiceAccount") or "tenantry-platform")
            for cluster in self.clusters.values()
        }
        names |= {f"{name}-{environment}" for name in names for environment in self.environments}
        maps = (found for each in self.clusters.values() for found in lookup(each, "kubeconfig.configMap"))
        return frozenset(names | {str(each["serviceAccountName"]) for each in maps if each.get("serviceAccountName")})

    @cached_property
    def addon_namespaces(self) -> frozenset[str]:
        """The namespaces that add-ons are installed into, on any cluster."""
        return frozenset(
            filled(name, self.variables(environment, cluster, app=addon))
            for addon, declared in mapping(self.platform.get("addons")).items()
            for name in (*_targets(mapping(declared)), *mapping(mapping(declared).get("namespaces")))
            for environment in self.environments
            for cluster in self.clusters
        )

    @property
    def reserved_patterns(self) -> tuple[str, ...]:
        given = self.platform.get("reservedNamespaces")
        return USUAL if given is None else tuple(texts(given))


def read(file: Path) -> MainFile:
    """Raises: OSError, yaml.YAMLError, csv.Error: a file cannot be read."""
    main = with_rows(file.parent, mapping(yaml.load(file.read_text(), Loader=_Texts)))
    for entry in entries(main.get("include")):
        if environment := str(entry.get("environment") or ""):
            for overlay in sorted(file.parent.glob(str(entry.get("files")))):
                main = with_overlay(main, environment, mapping(yaml.load(overlay.read_text(), Loader=_Texts)))
    clusters = dict(mapping(main.get("clusters")))
    for included in _with_clusters(file.parent, main):
        clusters.update(mapping(mapping(yaml.load(included.read_text(), Loader=_Texts)).get("clusters")))
    return MainFile({**main, "clusters": clusters})


def _with_clusters(directory: Path, main: Mapping[str, Any]) -> Iterator[Path]:
    """The platform's files with clusters that the main file includes."""
    entries = main.get("include")
    for entry in entries if isinstance(entries, list) else ():
        pattern = str(mapping(entry).get("clusters") or "")
        if pattern and not is_table(pattern):
            yield from sorted(directory.glob(pattern))


class _Texts(yaml.SafeLoader):
    """Reads scalars as text, except `true`, `false` and `null`: as YAML 1.2 does, where `no` and `on` are text."""


_Texts.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", "<"),
):
    _Texts.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), list(_first))


def merged(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """One mapping of several: later ones win, mappings merge, `null` removes."""
    result: dict[str, Any] = {}
    for layer in layers:
        for key, value in layer.items():
            if value is None:
                result.pop(key, None)
            elif isinstance(value, Mapping):
                result[key] = merged(mapping(result.get(key)), value)
            else:
                result[key] = value
    return result


def filled(text: str, variables: Mapping[str, str]) -> str:
    """The text with its placeholders filled in; an unknown one stays, and so matches nothing."""

    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return match[0] if match[0].startswith("$") else match[0][0]
        return variables.get(match[1], match[0])

    return _TOKEN.sub(value, text)


def filled_in(value: Any, variables: Mapping[str, str]) -> Any:
    """The same with every text below a value filled in."""
    if isinstance(value, Mapping):
        return {key: filled_in(each, variables) for key, each in value.items()}
    if isinstance(value, list):
        return [filled_in(each, variables) for each in value]
    return filled(value, variables) if isinstance(value, str) else value


def _lineage(declared: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found: list[str] = []
    while name and name not in found:
        found.insert(0, name)
        name = str(mapping(declared.get(name)).get("extends") or "")
    return tuple(found)


def _kinds(cluster: Mapping[str, Any]) -> set[str]:
    """Under which keys a cluster or group says where the kubeconfig is."""
    return {key for key, value in mapping(cluster.get("kubeconfig")).items() if value is not None}


def _named(group: Mapping[str, Any], cluster: str) -> dict[str, Any]:
    """A group with the name of one of its clusters filled in."""
    return {
        **group,
        **({"kubeconfig": filled_in(group["kubeconfig"], {"cluster": cluster})} if "kubeconfig" in group else {}),
    }


def _targets(addon: Mapping[str, Any]) -> Iterator[str]:
    """The target namespaces of an add-on, wherever it names them."""
    written = mapping(addon.get("overrides"))
    for over in (*mapping(written.get("environments")).values(), *entries(written.get("where"))):
        yield from _targets({key: mapping(over).get(key) for key in ("kustomize", "helm")})
    for over in mapping(written.get("clusters")).values():
        yield from _targets({key: mapping(over).get(key) for key in ("kustomize", "helm")})
    if name := addon.get("namespace"):
        yield str(name)
    for kind in ("kustomize", "helm"):
        for key in ("targetNamespace", "storageNamespace"):
            if name := mapping(addon.get(kind)).get(key):
                yield str(name)


def overrides_on(
    file: MainFile, owners: Sequence[Mapping[str, Any]], environment: str, cluster: str
) -> Iterator[Mapping[str, Any]]:
    """The overrides that hold there, the strongest last. owners: `defaults` and the tenant, whose own come later."""
    given = [mapping(owner.get("overrides")) for owner in owners]
    for name in file.lineage(environment):
        yield from (mapping(mapping(each.get("environments")).get(name)) for each in given)
    for entry in (entry for each in given for entry in entries(each.get("where"))):
        if cluster in file.selected(mapping(entry.get("clusters"))):
            yield {key: value for key, value in entry.items() if key != "clusters"}
    yield from (mapping(mapping(each.get("clusters")).get(cluster)) for each in given)
