"""The tenants' objects of a stack beside what the main file says of them: what rules about frames ask."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from tenantry.policy.frame import Frame, frame_of
from tenantry.policy.main_file import LONGEST, Kubeconfig, MainFile, filled, filled_in
from tenantry.policy.resource import Resource, as_text, entries, mapping
from tenantry.policy.stack import Stack, installed

ENVIRONMENT = "tenantry/environment"
CLUSTER = "tenantry/cluster"
APP = "tenantry/app"
SOURCE = "tenantry/source"
_NO_TENANTS = (
    *("admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io"),
    "rbac.authorization.k8s.io",
)
"""Groups whose cluster-scoped objects are for the whole cluster, or have a key of their own."""


FETCHED = ("GitRepository", "OCIRepository", "HelmRepository", "HelmChart", "Bucket", "ExternalArtifact")
SHARED = (*FETCHED, "Secret", "Alert", "Provider")
"""Kinds of what clusters share beside their kubeconfigs; of alerts, those that tell of sources."""
_DIGEST = re.compile("[0-9a-f]{8}")
_AUTHORS_OWN = frozenset({"commonMetadata", "kubeConfig", "patches", "postRenderers", "substitute", "values"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tenant's objects for one cluster belong.

    namespace, namespaces: the main one, and all; home: the namespace of the Flux objects; account: whom Flux impersonates.
    kubeconfig: None on the management cluster. shared: whether it is the place of what clusters share, as one of them takes it.
    """

    frame: Frame
    environment: str
    cluster: str
    namespace: str
    namespaces: frozenset[str]
    home: str
    account: str
    kubeconfig: Kubeconfig | None
    shared: bool = False

    @property
    def tenant(self) -> str:
        return self.frame.tenant

    def is_own_name(self, kind: str, name: str) -> bool:
        """Whether the name of an object of a kind in `home` can only be the tenant's: nobody else has its namespace."""
        if self.kubeconfig is None:
            return True
        if not self.shared and name.startswith(
            (f"{self.cluster}-{self.namespace}-", f"{self.cluster}.{self.namespace}.")
        ):
            return True
        first, *rest = name.split(".")
        if first != self.namespace:
            return False
        return len(rest) == 1 if kind == "Secret" else (self.shared or kind in FETCHED) and _is_of_content(rest)

    def is_of_classes(self, resource: Resource) -> bool:
        """Whether something without a tenant is a source that the tenant's classes declare, or a chart of one."""
        first, *rest = resource.name.split(".")
        is_platforms = not resource.tenant and resource.kind in FETCHED and first == self.frame.file.home
        declared = mapping(self.frame.of_classes.get("sources"))
        return is_platforms and _is_of_content(rest) and rest[0] == resource.labels.get(SOURCE) and rest[0] in declared

    def reconciler(self, key: str) -> str:
        """The name beside the kubeconfig of what stands for an app, or of the release of the baseline."""
        namespace = self.frame.came(self.environment).get(key, self.namespace)
        return self.frame.file.fitting(f"{self.cluster}-{namespace}-{key}", LONGEST)

    def is_cluster_right(self, resource: Resource) -> bool:
        """Whether an object outside of namespaces is what the main file says under `clusterRoles`, for the tenant alone."""
        prefix, key = f"tenantry.{self.namespace}.", resource.name.removeprefix(f"tenantry.{self.namespace}.")
        written = mapping(mapping(self.frame.own.get("clusterRoles")).get(key))
        if resource.group != "rbac.authorization.k8s.io" or not resource.name.startswith(prefix) or not written:
            return False
        if resource.kind == "ClusterRole":
            return "rules" in written and as_text(resource.props.get("rules")) == as_text(written["rules"])
        role = mapping(resource.props.get("roleRef"))
        homes = {self.home, *(() if self.kubeconfig else self.frame.accounts(self.environment))}
        users = {("User", f"system:serviceaccount:{home}:{self.account}") for home in homes}
        named = {(entry.get("kind"), entry.get("name")) for entry in entries(resource.props.get("subjects"))}
        is_binding = resource.kind == "ClusterRoleBinding" and role.get("kind") == "ClusterRole"
        return is_binding and role.get("name") == written.get("role", resource.name) and named == users

    def is_cluster_object(self, resource: Resource) -> bool:
        """Whether the main file itself has the object under `clusterObjects`."""
        refused = resource.group in _NO_TENANTS or resource.group.endswith(".fluxcd.io")
        is_whole_clusters = (resource.group, resource.kind) in (("", "Namespace"), ("", "Node"))
        return not refused and not is_whole_clusters and not resource.namespace and bool(self.declared(resource))

    def is_declared(self, resource: Resource) -> bool:
        """Whether the main file itself has the object under `objects`."""
        return resource.namespace in self.namespaces and bool(self.declared(resource))

    def declared(self, resource: Resource) -> Mapping[str, Any]:
        """What the main file itself writes of an object under `objects` or `clusterObjects`, filled in; {}: it has none."""
        variables = {**self.variables(), "namespace": resource.namespace or self.namespace}
        for name, each in self._written(resource.namespace):
            kind = (each.get("apiVersion"), each.get("kind"))
            if kind == (resource.props.get("apiVersion"), resource.kind) and filled(name, variables) == resource.name:
                return mapping(filled_in(each, variables))
        return {}

    def _written(self, namespace: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        if namespace:
            yield from self.frame.objects(self.frame.extra(self.environment).get(namespace, ""))
            return
        for key, each in mapping(self.frame.own.get("clusterObjects")).items():
            yield str(mapping(mapping(each).get("metadata")).get("name") or key), mapping(each)

    def is_written(self, value: str, texts: Iterable[str]) -> bool:
        """Whether one of the main file's texts becomes the value there."""
        variables = self.variables()
        return any("{" in text and filled(text, variables) == value for text in texts)

    def variables(self, app: str = "") -> dict[str, str]:
        """The placeholders of the tenant there."""
        built_in = {"tenant": self.tenant, **({"app": app} if app else {})}
        return self.frame.file.variables(self.environment, self.cluster, self.frame.variables, **built_in)


class Tenants:
    """Immutable; each answer is computed once."""

    def __init__(self, stack: Stack, file: MainFile) -> None:
        self.stack = stack
        self.file = file
        self._places: dict[tuple[str, str, str], Place | None] = {}

    @cached_property
    def objects(self) -> tuple[Resource, ...]:
        """All objects of tenants, with what their baselines install on remote clusters."""
        given = [each for each in self.stack.objects if each.tenant]
        return (*given, *(each for release in given if self.is_baseline(release) for each in installed(release)))

    @cached_property
    def placed(self) -> tuple[tuple[Resource, Place], ...]:
        """The objects whose tenants, environments and clusters the file knows, each with its place.

        What clusters share comes once for each that takes it: all of them have to be given it. So does what the platform
        makes of the sources of a class.
        """
        of_platform = (each for each in self.stack.objects if not each.tenant and self.is_shared(each))
        return tuple((each, place) for each in (*self.objects, *of_platform) for place in self._places_of(each))

    def _places_of(self, resource: Resource) -> Iterator[Place]:
        if not self.is_shared(resource):
            yield from filter(None, [self.place_of(resource)])
            return
        environment = str(resource.labels.get(ENVIRONMENT, ""))
        for cluster, tenant in sorted(self._takers.get(_key(resource), ())):
            if tenant and (place := self._known(tenant, environment, cluster)):
                yield replace(place, shared=True)

    def is_shared(self, resource: Resource) -> bool:
        """Whether an object says that it is for no single cluster, and is of a kind that clusters share."""
        return resource.by is None and resource.kind in SHARED and not resource.labels.get(CLUSTER)

    @cached_property
    def _takers(self) -> Mapping[tuple[str, str, str, str], frozenset[tuple[str, str]]]:
        """The clusters and tenants whose objects name what is shared, directly or by way of what else is.

        Labels alone prove nothing.
        An alert of sources is named by nobody: it is of the clusters where the same alert tells of apps.
        """
        takers: dict[tuple[str, str, str, str], set[tuple[str, str]]] = {}
        pending = [
            (each, (str(each.labels.get(CLUSTER)), each.tenant))
            for each in self.stack.objects
            if each.labels.get(CLUSTER)
        ]
        own = [
            (each.hub, each.namespace, each.tenant, as_text(each.spec), taker)
            for each, taker in pending
            if each.kind == "Provider"
        ]
        for alert in self.stack.objects:
            if alert.kind == "Alert" and self.is_shared(alert):
                provider = self.find(
                    alert, "Provider", alert.namespace, str(mapping(alert.spec.get("providerRef")).get("name"))
                )
                said = (alert.hub, alert.namespace, alert.tenant, as_text(provider.spec) if provider else "")
                pending += [(alert, taker) for *same, taker in own if tuple(same) == said]
                takers[_key(alert)] = {taker for *same, taker in own if tuple(same) == said}
        while pending:
            user, taker = pending.pop()
            for kind, name in _named(user.spec):
                other = self.find(user, kind, user.namespace, name)
                if other is None or not self.is_shared(other) or not self._takes(user, taker[1], other):
                    continue
                there = takers.setdefault(_key(other), set())
                if taker not in there:
                    there.add(taker)
                    pending.append((other, taker))
        return {key: frozenset(found) for key, found in takers.items()}

    def _takes(self, user: Resource, tenant: str, other: Resource) -> bool:
        """Whether an object takes a shared one for a tenant: its own, or the platform's. A baseline takes what is no tenant's."""
        if user.labels.get(ENVIRONMENT) != other.labels.get(ENVIRONMENT):
            return False
        return other.tenant == tenant or not (other.tenant or self.is_baseline(user))

    def place_of(self, resource: Resource) -> Place | None:
        """The place that an object's labels claim, the first of what is shared; None: the file knows none, or nobody takes it."""
        # A baseline's objects are those of the release, whatever they say themselves.
        if self.is_shared(resource):
            return next(self._places_of(resource), None)
        labels = (resource.by or resource).labels
        cluster = str(labels.get(CLUSTER, "")) or self._cluster_of_account(resource)
        return self._known((resource.by or resource).tenant, str(labels.get(ENVIRONMENT, "")), cluster)

    def _known(self, tenant: str, environment: str, cluster: str) -> Place | None:
        """The place of a tenant in an environment on a cluster."""
        key = (tenant, environment, cluster)
        if key not in self._places:
            self._places[key] = self._place(*key)
        return self._places[key]

    def is_baseline(self, resource: Resource) -> bool:
        """Whether an object is the platform's own release of a tenant's namespaces on a remote cluster."""
        place = self.place_of(resource) if resource.is_release and not resource.labels.get(APP) else None
        if place is None or place.kubeconfig is None:
            return False
        return resource.name == place.reconciler("baseline")

    def find(self, near: Resource, kind: str, namespace: str, name: str) -> Resource | None:
        """The object of that name on the management cluster of another one, which is where Flux looks."""
        return self._registered.get((near.hub, kind, namespace, name))

    def claims(self, environment: str) -> Mapping[str, frozenset[str]]:
        """Every namespace of tenants on the clusters of an environment: its holders, as `tenant (environment)`."""
        found: dict[str, set[str]] = {}
        for other in self._beside(environment):
            for tenant in self.file.tenants:
                if (frame := frame_of(self.file, tenant)) and self._is_in(frame, other, environment):
                    for name in (frame.namespace(other), *frame.extra(other)):
                        found.setdefault(name, set()).add(f"{tenant} ({other})")
        for namespace in self.namespaces:
            holder = f"{(namespace.by or namespace).tenant} ({(namespace.by or namespace).labels.get(ENVIRONMENT)})"
            found.setdefault(namespace.name, set()).add(holder)
        return {name: frozenset(holders) for name, holders in found.items()}

    @cached_property
    def namespaces(self) -> tuple[Resource, ...]:
        """The Namespaces of all tenants on all clusters."""
        return tuple(each for each in self.objects if (each.group, each.kind) == ("", "Namespace"))

    def _place(self, tenant: str, environment: str, cluster: str) -> Place | None:
        frame = frame_of(self.file, tenant)
        if frame is None or environment not in self.file.environments or cluster not in self.file.clusters:
            return None
        main = frame.namespace(environment)
        here = self.file.manages(cluster, environment)
        kubeconfig = None if here else self.file.kubeconfig(cluster)
        return Place(
            frame.there(environment, cluster),
            environment,
            cluster,
            main,
            frozenset({main, *frame.extra(environment), *self._brought(frame, environment, main)}),
            kubeconfig.namespace if kubeconfig else main,
            main if kubeconfig else frame.account,
            kubeconfig,
        )

    def _brought(self, frame: Frame, environment: str, main: str) -> Iterator[str]:
        """Namespaces of an included file that may declare some; their names contain that of the main one."""
        for each in self.stack.everywhere if frame.leaves("namespaces") else ():
            labels = (each.by or each).labels
            is_there = each.kind == "Namespace" and labels.get(ENVIRONMENT) == environment
            if is_there and each.tenant == frame.tenant and main in each.name:
                yield each.name

    @cached_property
    def _registered(self) -> Mapping[tuple[str, str, str, str], Resource]:
        return {(each.hub, each.kind, each.namespace, each.name): each for each in self.stack.objects}

    def _beside(self, environment: str) -> Iterator[str]:
        """The environments that have a cluster in common with one, itself too."""
        here = self._clusters_of(environment)
        return (each for each in self.file.environments if not here.isdisjoint(self._clusters_of(each)))

    def _is_in(self, frame: Frame, other: str, environment: str) -> bool:
        """Whether a tenant can be in an environment; in another than that of the stack, where the main file puts it itself."""
        clusters = self._clusters_of(other)
        if other == environment:
            return frame.allows_environment(other, "") and any(
                frame.allows_cluster(cluster, "") for cluster in clusters
            )
        return frame.places_itself(other, clusters)

    def _clusters_of(self, environment: str) -> set[str]:
        declared = self.file.clusters.items()
        found = {name for name, each in declared if environment in (each or {}).get("environments", ())}
        return {*found, *self.file.hubs(environment)}

    def _cluster_of_account(self, resource: Resource) -> str:
        """A service account beside kubeconfigs is for all clusters whose kubeconfigs are there."""
        if resource.kind != "ServiceAccount":
            return ""
        found = [cluster for cluster in self.file.clusters if self._home_of(cluster) == resource.namespace]
        environment = str(resource.labels.get(ENVIRONMENT, ""))
        near = (cluster for cluster in found if self.file.hub_of(cluster, environment) == resource.hub)
        return next(near, found[0] if found else "")

    def _home_of(self, cluster: str) -> str:
        kubeconfig = self.file.kubeconfig(cluster)
        return kubeconfig.namespace if kubeconfig else ""


def _key(resource: Resource) -> tuple[str, str, str, str]:
    return resource.hub, resource.kind, resource.namespace, resource.name


def _is_of_content(parts: list[str]) -> bool:
    """Whether the parts of a name behind its author's end with a digest of the content."""
    return len(parts) in (2, 3) and bool(_DIGEST.fullmatch(parts[-1]))


def _named(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Kind and name of what a spec refers to in its own namespace."""
    for key, inner in value.items():
        for each in [inner] if isinstance(inner, Mapping) else entries(inner):
            if key in _AUTHORS_OWN:
                continue
            if "name" in each and (kind := _kind_of(key, each)):
                yield kind, str(each["name"])
            yield from _named(each)


def _kind_of(key: str, reference: Mapping[str, Any]) -> str:
    """The kind that a field refers to; "" for a field that is no reference."""
    if key.lower().endswith("secretref"):
        return "Secret"
    return {"repository": "GitRepository", "providerRef": "Provider"}.get(key, str(reference.get("kind") or ""))
