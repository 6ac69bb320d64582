"""Whether a plan is confined: nothing of a tenant that has a team's file reaches what the main file does not give it.

This checks the planner, so it shares nothing with it. It asks the frame, which is the fleet as the main file alone declares it,
with the merged grants, and judges planned objects by what they say themselves.

Called by: `load`, for every plan of a fleet with team files.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from tenantry.fleet import placement
from tenantry.fleet.fleet import Fleet, hub_of, platform_account
from tenantry.fleet.flux_shards import flux_shard
from tenantry.fleet.identity import borrowed
from tenantry.fleet.namespaces import extra_namespaces, former_main, main_namespace
from tenantry.fleet.settings import TenantSettings, namespace_settings, tenant_states, variables_of
from tenantry.fleet.template import fill, fill_manifest
from tenantry.flux.addresses import addresses_of
from tenantry.grants.fields import FIELDS, Tree
from tenantry.grants.grants import SHORTEST_INTERVAL, grants_of, is_allowed, limit_of
from tenantry.grants.model import Grants
from tenantry.grants.requirements import is_pinned, is_signed, required_annotations
from tenantry.kube.names import MAX_LABEL, MAX_RELEASE, is_reserved_namespace, shortened
from tenantry.kube.objects import KubeObject, Manifest, ObjectId
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Found
from tenantry.model import ConfigMap, SecretKey, Tenant
from tenantry.model.durations import seconds_of

_TENANT, _ROLE, _MANAGED = "toolkit.fluxcd.io/tenant", "toolkit.fluxcd.io/role", "app.kubernetes.io/managed-by"
_ENVIRONMENT, _CLUSTER, _APP, _SOURCE, _STATE, _ACCOUNT = (
    f"tenantry/{each}" for each in ("environment", "cluster", "app", "source", "state", "account")
)
_SHARD, _PRUNE, _PODS = "sharding.fluxcd.io/key", "kustomize.toolkit.fluxcd.io/prune", "pod-security.kubernetes.io/"
_PROVIDER = {
    "pulumi.com/deletionPropagationPolicy": "background",
    "pulumi.com/patchFieldManager": "tenantry",
    "pulumi.com/patchForce": "true",
    "pulumi.com/waitFor": "condition=Ready",
    "helm.sh/resource-policy": "keep",
    _PRUNE: "disabled",
}
"""Annotations with an effect on Pulumi, Helm or Flux, and the one value of each that the fleet sets."""
_FETCHED = ("GitRepository", "OCIRepository", "HelmRepository", "HelmChart", "Bucket", "ExternalArtifact")
_REFERENCES = {
    "repository": "GitRepository",
    "providerRef": "Provider",
    "imageRepositoryRef": "ImageRepository",
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


@dataclass(frozen=True)
class _Place:
    """A tenant on a cluster, as the frame has it. cluster: "" of what clusters share, whose place is that of one of them."""

    frame: Fleet
    environment: str
    tenant: str
    cluster: str
    _settings: dict[str, TenantSettings] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def grants(self) -> Grants:
        return grants_of(self.frame, self.tenant) or Grants()

    def grants_setting(self, *settings: str) -> bool:
        return not {*(self.grants.settings or ())}.isdisjoint(settings)

    @cached_property
    def main(self) -> str:
        return main_namespace(self.frame, self.environment, self.tenant)

    @cached_property
    def extra(self) -> dict[str, str]:
        """The keys of the extra namespaces by their names."""
        return {name: key for key, name in extra_namespaces(self.frame, self.environment, self.tenant).items()}

    @cached_property
    def mains(self) -> tuple[str, ...]:
        """The main namespaces that names of objects can contain: the tenant's, and those of tenants that gave it an app."""
        owners = [owner for each in self.declared.namespaces.values() for owner in each.formerly]
        return self.main, *(former_main(self.frame, self.environment, owner.tenant) for owner in owners)

    @cached_property
    def prefixes(self) -> tuple[str, ...]:
        """With what the names of the tenant's objects begin beside a kubeconfig."""
        own = [f"{self.cluster}{sign}{main}{sign}" for main in self.mains for sign in "-."]
        return (*own, *(f"{main}." for main in self.mains))

    @property
    def declared(self) -> Tenant:
        return self.frame.document.tenants[self.tenant]

    @cached_property
    def kubeconfig(self) -> SecretKey | ConfigMap | None:
        """None: the cluster is its own management cluster."""
        written = self.frame.clusters[self.cluster].kubeconfig
        is_hub = hub_of(self.frame, self.environment, self.cluster) == self.cluster
        return None if is_hub or written is None else written.resolved

    @property
    def home(self) -> str:
        return self.kubeconfig.namespace if self.kubeconfig else self.main

    @cached_property
    def account(self) -> str:
        """Of pods, and on a management cluster of Flux."""
        own = self.declared.serviceAccount
        return own.name if own and own.name else self.declared.first_name(self.tenant)

    @property
    def impersonated(self) -> str:
        return self.main if self.kubeconfig else self.account

    def settings(self, namespace: str) -> TenantSettings:
        key = self.extra.get(namespace, "")
        if key not in self._settings:
            self._settings[key] = namespace_settings(self.frame, self.tenant, self.environment, self.cluster, key)
        return self._settings[key]

    @cached_property
    def variables(self) -> dict[str, Any]:
        return variables_of(self.frame, self.environment, self.cluster, tenant=self.tenant)

    def patterns(self, *keys: str) -> list[str]:
        """The granted addresses."""
        given = [each for key in keys for each in getattr(self.grants, key) or ()]
        return [str(fill(each, self.variables, ())) for each in given]

    def declares(self, group: str, name: str) -> bool:
        """Whether the main file, or a class of it, has an entry of the tenant."""
        return name in mapping_at(self.frame.source.data, "tenants", self.tenant, group)

    def shares(self, group: str, name: str) -> bool:
        return name in (getattr(self.grants.share, group, None) or ())

    @property
    def has_variables(self) -> bool:
        """Whether the team's file fills in what the main file writes."""
        return "variables" in self.frame.source.fills[self.tenant].file.data["tenants"][self.tenant]

    @cached_property
    def said(self) -> tuple[Mapping[str, Any], ...]:
        """What the main file, and files of it for an environment, say of the tenant."""
        files = (each.data for files in self.frame.source.overlays.values() for each in files)
        overlays = (mapping_at(data, "tenants", self.tenant) for data in files)
        return self.frame.raw("tenants", self.tenant), self.frame.raw("defaults"), *overlays

    @cached_property
    def written(self) -> frozenset[str]:
        """Every text and number of the main file's for the tenant: nobody else chose it."""
        return frozenset(each for part in self.said for each in _scalars(part, self.variables))

    @cached_property
    def metadata(self) -> frozenset[tuple[str, str]]:
        """The labels and annotations that the main file itself gives Flux objects of the tenant."""
        return frozenset(each for part in self.said for each in _metadata_of(part))


def escapes(
    frame: Fleet, environment: str, objects: Iterable[KubeObject], adopting: Iterable[str], own_waves: Iterable[str]
) -> Iterator[str]:
    """Everything by which a tenant with a team's file leaves its frame, in words; nothing if the plan is confined.

    adopting: the tenants that take over what exists. own_waves: the apps, as `tenant/app`, that keep out of the waves of the
    environment.
    """
    yield from _Confined(frame, environment, tuple(objects)).escapes()
    for tenant in adopting:
        if tenant in frame.source.fills and not frame.document.tenants[tenant].adopt:
            yield f"tenant '{tenant}' takes over objects that exist already"
    for name in own_waves:
        tenant, _, app = name.partition("/")
        if tenant in frame.source.fills and "rollout" not in (
            *frame.raw("tenants", tenant, "apps", app),
            *((grants_of(frame, tenant) or Grants()).settings or ()),
        ):
            yield f"app '{name}' does not keep to the waves of its environment"


class _Confined:
    """The objects of a plan beside the frame. Places are computed once."""

    def __init__(self, frame: Fleet, environment: str, objects: tuple[KubeObject, ...]) -> None:
        self.frame = frame
        self.environment = environment
        self.objects = objects
        self.planned = {(each.hub, each.id.kind, each.id.namespace, each.id.name): each for each in objects}
        self._places: dict[tuple[str, str], _Place] = {}

    @cached_property
    def claims(self) -> dict[str, set[str]]:
        """The namespaces of all tenants, with their holders."""
        found: dict[str, set[str]] = {}
        for tenant, manifest in self._of_tenants():
            if manifest["kind"] == "Namespace":
                found.setdefault(manifest["metadata"]["name"], set()).add(tenant)
        return found

    @cached_property
    def addons(self) -> dict[tuple[str, str], ObjectId]:
        """The add-ons by their name and cluster."""
        found = {}
        for each in self.objects:
            labels = _labels(each.manifest)
            if _TENANT not in labels and _APP in labels and each.id.kind in ("Kustomization", "HelmRelease"):
                found[labels[_APP], labels.get(_CLUSTER, "")] = each.id
        return found

    @cached_property
    def here(self) -> set[str]:
        return {name for name, cluster in self.frame.clusters.items() if self.environment in cluster.environments}

    @cached_property
    def beside(self) -> dict[str, list[str]]:
        """The clusters of the environment by the namespaces of their kubeconfigs."""
        found: dict[str, list[str]] = {}
        for name, cluster in self.frame.clusters.items():
            if cluster.kubeconfig and name in self.here:
                found.setdefault(cluster.kubeconfig.resolved.namespace, []).append(name)
        return found

    @cached_property
    def holders(self) -> set[str]:
        """The namespaces that any tenant has in the environment, whether it is placed or not."""
        names = {
            name for tenant in self.frame.document.tenants for name in _names_of(self.frame, self.environment, tenant)
        }
        return {*names, *self.claims}

    @cached_property
    def kubeconfigs(self) -> set[str]:
        """The namespaces of kubeconfigs and of the platform."""
        ways = (cluster.kubeconfig for cluster in self.frame.clusters.values() if cluster.kubeconfig)
        return {self.frame.document.platform.namespace, *(way.resolved.namespace for way in ways)}

    @cached_property
    def platforms(self) -> set[str]:
        """These, those that add-ons target, and the names of the platform's accounts."""
        found = {*self.kubeconfigs, *(each.platformServiceAccount for each in self.frame.clusters.values())}
        for each in self.objects:
            if not _labels(each.manifest).get(_TENANT):
                spec = mapping_at(each.manifest, "spec")
                found |= {str(spec[key]) for key in ("targetNamespace", "storageNamespace") if key in spec}
        return found

    def escapes(self) -> Iterator[str]:
        for each in self.objects:
            labels = _labels(each.manifest)
            if (tenant := labels.get(_TENANT)) not in self.frame.source.fills:
                continue
            shown = f"{each.id} of tenant '{tenant}'"
            if labels.get(_ENVIRONMENT) != self.environment or tenant not in self.frame.document.tenants:
                yield f"{shown} is of an environment or a tenant that the main file does not have here"
                continue
            places = [self._place(tenant, name) for name in self._clusters(each, labels)]
            if not places:
                yield f"{shown} is for no cluster of the environment"
                continue
            # What clusters share has one of them that gives it.
            found: list[str] = []
            for place in places:
                found = list(_Check(self, place, each).problems())
                if not found:
                    break
            yield from (f"{shown} {problem}" for problem in found)

    def _place(self, tenant: str, cluster: str) -> _Place:
        if (tenant, cluster) not in self._places:
            self._places[tenant, cluster] = _Place(self.frame, self.environment, tenant, cluster)
        return self._places[tenant, cluster]

    def _clusters(self, each: KubeObject, labels: Mapping[str, str]) -> list[str]:
        """The cluster that an object is for; of what clusters share, those whose kubeconfigs lie beside it."""
        if cluster := labels.get(_CLUSTER):
            known = cluster in self.here or cluster == hub_of(self.frame, self.environment, cluster)
            return [cluster] if known else []
        several = len(self.frame.environments[self.environment].managements) > 1
        beside = self.beside.get(each.id.namespace, ())
        return [name for name in beside if not several or hub_of(self.frame, self.environment, name) == each.hub]

    def namespaces(self, place: _Place) -> set[str]:
        """Those of a tenant: of the main file, and where that leaves them to the team, those that nobody else claims."""
        own = {place.main, *place.extra}
        if place.grants_setting("namespaces"):
            own |= {name for name, by in self.claims.items() if by == {place.tenant} and place.main in name}
        return own

    def _of_tenants(self) -> Iterator[tuple[str, Manifest]]:
        """All objects of tenants with what their baselines install."""
        for each in self.objects:
            if tenant := _labels(each.manifest).get(_TENANT):
                yield tenant, each.manifest
                if not _labels(each.manifest).get(_APP):
                    yield from (
                        (tenant, made) for made in mapping_at(each.manifest, "spec", "values").get("objects", ())
                    )


class _Check:
    """One object of a tenant at its place; problems are the words behind the object's name."""

    def __init__(self, plan: _Confined, place: _Place, planned: KubeObject) -> None:
        self.plan, self.place, self.planned = plan, place, planned
        self.manifest, self.kind = planned.manifest, planned.id.kind
        self.spec: Mapping[str, Any] = mapping_at(self.manifest, "spec")
        self.labels = _labels(self.manifest)
        self.app = self.labels.get(_APP, "")

    def problems(self) -> Iterator[str]:
        place, id = self.place, self.planned.id
        hubs = place.frame.environments[place.environment].managements
        if self.planned.hub != (hub_of(place.frame, place.environment, place.cluster) if len(hubs) > 1 else ""):
            yield "is on the management cluster of another cluster"
        if self.kind != "ServiceAccount":
            yield from self._placed()
        if not id.api_version.partition("/")[0].endswith(".toolkit.fluxcd.io"):
            yield from _Kubernetes(self.plan, place, self.manifest, on_target=place.kubeconfig is None).problems()
            return
        own_name = self._is_own_name()
        if id.namespace != place.home or not own_name:
            yield "is neither in a namespace of the tenant nor beside a kubeconfig under its name"
        yield from self._metadata()
        if self._is_baseline():
            yield from self._baseline()
            return
        yield from self._flux()

    def _is_own_name(self) -> bool:
        place, name = self.place, self.planned.id.name
        if place.kubeconfig is None:
            return True
        whole = f"{place.cluster}-{place.main}-{self.app or 'baseline'}"
        return name.startswith(place.prefixes) or name == shortened(whole, MAX_LABEL)

    def _placed(self) -> Iterator[str]:
        """Whether the main file puts the tenant, and this app, on the cluster and into the environment."""
        place, own = self.place, self.place.declared
        frame, tenant, cluster = place.frame, place.tenant, place.cluster
        apps = [self.app] if self.app in own.apps else [] if self.app else list(own.apps)
        of_main = [
            app
            for app in apps
            if (selector := placement.selector_of(frame, tenant, app))
            and placement.matches(selector, cluster, frame.clusters[cluster])
            and not placement.app_barrier(frame, place.environment, tenant, app)
        ]
        if of_main or (self.app in own.apps and self.app):
            if not of_main:
                yield "is where the main file does not put its app"
            return
        selector, _ = placement.granted_selector(frame, tenant)
        granted = selector is not None and placement.matches(selector, cluster, frame.clusters[cluster])
        if not granted or (selector and selector.all and placement.is_management(frame, cluster)):
            yield f"is for cluster '{cluster}', which is not granted to it"
        if placement.tenant_barrier(frame, place.environment, tenant):
            yield f"is in environment '{place.environment}', which is not granted to it"

    def _metadata(self) -> Iterator[str]:
        place, metadata = self.place, self.manifest["metadata"]
        yield from _known_metadata(metadata)
        for kind in ("labels", "annotations"):
            granted = tuple(getattr(place.grants, kind) or ())
            for key, value in metadata.get(kind, {}).items():
                if key in _fleets(place, self.labels) or key in _PROVIDER:
                    right = value == (_fleets(place, self.labels) | _PROVIDER)[key]
                elif key == _SHARD:
                    # By the content of what clusters share, and by the name of the cluster.
                    right = value in _shards(place)
                elif key == _STATE:
                    right = bool(self.app) or value in _states(place, "")
                elif key in (_APP, _SOURCE):
                    right = kind == "labels"
                else:
                    right = not _is_fleets(key) and (key.startswith(granted) or (kind, key) in place.metadata)
                if not right:
                    yield f"has {kind[:-1]} '{key}', which is not granted to it"

    # --- Flux objects ---------------------------------------------------------------------------------------------

    def _flux(self) -> Iterator[str]:
        place, spec = self.place, dict(self.spec)
        is_reconciler = self.kind in ("Kustomization", "HelmRelease")
        if spec.pop("kubeConfig", None) != (_reference(place.kubeconfig) if is_reconciler else None):
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
        yield from self._connections(spec)

    def _walk(self, tree: Tree, value: Any, at: str) -> Iterator[str]:
        """The fields of a spec, one by one."""
        if isinstance(value, list):
            for each in value:
                yield from self._walk(tree, each, at)
        elif isinstance(value, Mapping):
            key = at.rpartition(".")[2]
            if key in _REFERENCES and self.kind != "ExternalArtifact":
                yield from (f"{problem} in {at}" for problem in self._reference(key, value))
            elif key in ("eventSources", "policySelector"):
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
        if key == "recurseSubmodules" and value and self._is_teams() and not place.grants_setting("recurseSubmodules"):
            return "takes submodules"
        if str(value) in place.written:
            return ""
        if key in _LIMITS and isinstance(value, str):
            longest = str(limit_of(place.grants, _LIMITS[key]))
            shortest = place.grants.shortestInterval or SHORTEST_INTERVAL if key != "timeout" else "0s"
            if (
                not seconds_of(shortest) <= seconds_of(str(value)) <= seconds_of(longest)
                and value not in _DEFAULT_TIMES
            ):
                return f"has '{value}', which is not from {shortest} to {longest},"
        if key in _COUNTS and not (key == "maxHistory") <= value <= int(limit_of(place.grants, _COUNTS[key])):
            return f"has '{value}', which is beyond the limit,"
        return ""

    def _reference(self, key: str, reference: Mapping[str, Any]) -> Iterator[str]:
        """What is wrong with the name of another object. Flux reads what is named with its own rights."""
        name, place = str(reference.get("name")), self.place
        kind = str(reference.get("kind") or _REFERENCES[key] or self.kind)
        namespace = reference.get("namespace", self.planned.id.namespace)
        found = self.plan.planned.get((self.planned.hub, kind, namespace, name))
        labels = _labels(found.manifest) if found else {}
        is_addon = not labels.get(_TENANT) and _APP in labels if found else self._is_addon(namespace, name)
        if key == "dependsOn" and is_addon:
            return
        if namespace != self.planned.id.namespace:
            yield f"names {kind} '{namespace}/{name}'"
            return
        is_platforms = (
            found is not None
            and not labels.get(_TENANT)
            and name.startswith(f"{place.frame.document.platform.namespace}.")
        )
        if is_platforms and found:
            # A source that a class declares, or a chart of one: nothing in it may be a tenant's.
            if not place.declares("sources", labels.get(_SOURCE, "")) or any(
                not each.startswith(f"{place.frame.document.platform.namespace}.")
                for each in _secrets(found.manifest["spec"])
            ):
                yield f"names {kind} '{name}' of the platform"
                return
        elif not (
            (labels.get(_TENANT), labels.get(_CLUSTER, place.cluster)) == (place.tenant, place.cluster)
            if found
            else place.kubeconfig is None or name.startswith(place.prefixes)
        ):
            yield f"names {kind} '{name}', which is not the tenant's"
            return
        group = _GROUPS.get(kind, "")
        if self._is_teams() and kind == "HelmChart" and found:
            yield from self._reference("sourceRef", found.manifest["spec"]["sourceRef"])
        elif self._is_teams() and place.declares(group, declared := self._key(kind, name, labels)):
            shared = place.shares(group, declared)
            if not shared:
                yield f"names '{declared}' of the main file"

    def _addons(self) -> Iterator[ObjectId]:
        """The add-ons on the cluster that the main file lets the tenant wait for."""
        place = self.place
        for name in place.settings("").dependsOn:
            if id := self.plan.addons.get((name.partition("/")[2], place.cluster)):
                yield id

    def _is_addon(self, namespace: str, name: str) -> bool:
        """Whether a name is that of an add-on on the cluster that another environment has there."""
        place, platform = self.place, self.place.frame.document.platform
        names = {f"{place.cluster}-{each}" if place.kubeconfig else each for each in platform.addons}
        homes = {platform.namespace, place.home, *(each.namespace for each in platform.addons.values())}
        return namespace in homes and name in names and (place.kubeconfig is not None or namespace != place.main)

    def _selected(self, selector: Mapping[str, Any]) -> Iterator[str]:
        """What labels select has to be the tenant's, and of a team's object nothing that the main file declares."""
        place, labels = self.place, selector.get("matchLabels") or {}
        if labels.get(_TENANT) != place.tenant or labels.get(_ENVIRONMENT) != place.environment:
            if "name" not in selector or selector["name"] == "*" or labels:
                yield "selects objects that are not the tenant's"
            else:
                yield from self._reference("resources", selector)
            return
        if self._is_teams():
            named = {"apps": labels.get(_APP), "sources": labels.get(_SOURCE)}
            for group, name in named.items():
                whole = mapping_at(place.frame.source.data, "tenants", place.tenant, group)
                chosen = (
                    [name] if name else [] if any(named.values()) or selector.get("name", "*") != "*" else list(whole)
                )
                if any(each in whole and not place.shares(group, each) for each in chosen):
                    yield f"tells of {group} of the main file"

    def _whose(self, metadata: Mapping[str, str]) -> Iterator[str]:
        wanted = {
            "tenant": self.place.tenant,
            "environment": self.place.environment,
            "cluster": self.labels.get(_CLUSTER),
        }
        for key, value in wanted.items():
            if value and metadata.get(key) != value:
                yield f"says {key} '{metadata.get(key)}'"

    def _connections(self, spec: Mapping[str, Any]) -> Iterator[str]:
        """Where controllers connect to, as whom, and what the main file requires of what they fetch."""
        place = self.place
        if not place.frame.document.platform.sharedIdentity:
            yield from (f"{each.message} in spec.{each.path[0]}" for each in borrowed(self.kind, spec))
        keys = ("sources", "alerts") if self.kind == "Provider" else ("sources",)
        for path, address in addresses_of(self.kind, spec):
            written = str(spec.get(str(path[0]))) in place.written or not (self._is_teams() or place.has_variables)
            if not written and not is_allowed(address, place.patterns(*keys)):
                yield f"has an address in spec.{path[0]} that is not granted to it"
        required = place.settings("").require
        if required.pinned and not is_pinned(self.kind, spec, tags=required.pinned == "tags"):
            yield "is not pinned"
        if required.verify and not place.kubeconfig and not is_signed(self.kind, spec, required.signatures):
            yield "is not verified as the main file requires"
        if self.kind == "ImageUpdateAutomation" and self._is_teams():
            found = self.plan.planned.get(
                (self.planned.hub, "GitRepository", self.planned.id.namespace, spec["sourceRef"]["name"])
            )
            source: Mapping[str, Any] = found.manifest["spec"] if found else {}
            if not is_allowed(str(source.get("url")), place.patterns("push")):
                yield "pushes to an address that is not granted to it"
            for name in _secrets({"secretRef": source.get("secretRef") or {}}):
                if place.declares("credentials", self._key("Secret", name, {})):
                    yield "pushes with credentials of the main file"

    def _is_teams(self) -> bool:
        """Whether the team's file declares what this object stands for, or fills in what the main file writes."""
        place, group = self.place, "apps" if self.app else _GROUPS.get(self.kind, "")
        name = self.app or self._key(self.kind, self.planned.id.name, self.labels)
        if self.kind == "HelmChart":
            return False  # its release answers for it
        return not place.declares(group, name)

    def _key(self, kind: str, name: str, labels: Mapping[str, str]) -> str:
        """What the file calls the entry that an object stands for."""
        place = self.place
        if _APP in labels or _SOURCE in labels:
            return str(labels.get(_APP) or labels.get(_SOURCE))
        if place.kubeconfig is None:
            return name
        for main in place.mains:
            for prefix in (f"{place.cluster}.{main}.", f"{place.cluster}-{main}-", f"{main}."):
                if name.startswith(prefix):
                    rest = name.removeprefix(prefix)
                    return rest.partition(".")[0] if kind in (*_FETCHED, "Alert", "Provider") else rest
        return ""

    # --- the release of a baseline ----------------------------------------------------------------------------------

    def _is_baseline(self) -> bool:
        return self.kind == "HelmRelease" and not self.app and self.place.kubeconfig is not None

    def _baseline(self) -> Iterator[str]:
        """The release with what the tenant needs on a remote cluster, which the platform's account installs."""
        place, spec = self.place, dict(self.spec)
        platform, cluster = place.frame.document.platform.namespace, place.frame.clusters[place.cluster]
        chart = self.plan.planned.get(
            (self.planned.hub, "HelmChart", self.planned.id.namespace, spec["chartRef"]["name"])
        ) or (
            self.plan.planned.get(
                (self.planned.hub, spec["chartRef"]["kind"], self.planned.id.namespace, spec["chartRef"]["name"])
            )
        )
        if (
            chart is None
            or {_TENANT, _APP} & _labels(chart.manifest).keys()
            or not chart.id.name.startswith(f"{platform}.")
        ):
            yield "takes a chart that is not the platform's"
        adopts = place.declared.adopt
        action = {
            key: {name: value for name, value in spec.pop(key, {}).items() if name != "strategy"}
            for key in ("install", "upgrade")
        }
        action["upgrade"].pop("chartNameChangeStrategy", None)
        if not adopts and any(each != {"disableTakeOwnership": True} for each in action.values()):
            yield "takes over what exists, or is installed otherwise than the fleet does"
        if spec.pop("suspend", False) and cluster.state == "active":
            yield "stands still on a cluster that does not"
        after = {each["name"] for each in spec.pop("dependsOn", ())}
        for id in self._addons():
            waits = id.name in after if id.kind == "HelmRelease" else id in self.planned.depends_on
            if not waits:
                yield f"does not wait for {id}"
        objects = spec.pop("values")["objects"]
        for key in ("chartRef", "interval", "timeout"):
            spec.pop(key, None)
        if spec.pop("serviceAccountName") != platform_account(place.frame, place.environment, place.cluster):
            yield "runs as another account than the platform's"
        name = f"{place.main}-baseline"
        wanted = {
            "releaseName": spec.get("releaseName") if spec.get("releaseName") == shortened(name, MAX_RELEASE) else name,
            "targetNamespace": platform,
            "storageNamespace": platform,
            "kubeConfig": _reference(place.kubeconfig),
            "driftDetection": {"mode": "enabled"},
        }
        yield from (
            f"has another spec.{key} than the fleet's" for key in {**wanted, **spec} if spec.get(key) != wanted.get(key)
        )
        for each in objects:
            for problem in _Kubernetes(self.plan, place, each, on_target=True).problems():
                yield f"installs {each['kind']} {each['metadata']['name']}, which {problem}"
        yield from _Kubernetes.missing(place, objects)


class _Kubernetes:
    """An object of Kubernetes' own kinds: in the plan, or installed by the baseline of a remote cluster."""

    def __init__(self, plan: _Confined, place: _Place, manifest: Manifest, *, on_target: bool) -> None:
        self.plan, self.place, self.manifest, self.on_target = plan, place, manifest, on_target
        self.kind, self.name = manifest["kind"], manifest["metadata"]["name"]
        self.namespace = manifest["metadata"].get("namespace", "")
        self.body = {key: value for key, value in manifest.items() if key not in ("apiVersion", "kind", "metadata")}

    def problems(self) -> Iterator[str]:
        place, metadata = self.place, self.manifest["metadata"]
        yield from _known_metadata(metadata)
        declared = self._declared()
        if declared is not None:
            if _plain(self.body) != _plain(declared):
                yield "is not as the main file says"
            yield from self._rights()
            return
        if self.kind in ("ClusterRole", "ClusterRoleBinding"):
            yield from self._cluster_right()
            return
        for kind in ("labels", "annotations") if self.kind != "Namespace" else ():
            own = (place.declared.serviceAccount and place.declared.serviceAccount.annotations) or {}
            for key, value in metadata.get(kind, {}).items():
                fleets = _fleets(place, _labels(self.manifest)) | _PROVIDER | {"reconcile.fluxcd.io/watch": "Enabled"}
                is_own = self.kind == "ServiceAccount" and kind == "annotations" and key in own
                if not is_own and key not in (_APP, _SOURCE, _STATE) and fleets.get(key) != value:
                    yield f"has {kind[:-1]} '{key}', which no tenant may set"
        if self.kind == "Namespace":
            yield from self._of_namespace()
        elif self.namespace not in self.plan.namespaces(place) and not self._is_beside_kubeconfig():
            yield "is in no namespace of the tenant"
        else:
            yield from self._in_namespace()

    def _is_beside_kubeconfig(self) -> bool:
        place = self.place
        if self.on_target or self.namespace != place.home:
            return False
        own = self.name == place.main if self.kind == "ServiceAccount" else self.name.startswith(place.prefixes)
        return bool(own)

    def _declared(self) -> dict[str, Any] | None:
        """What the main file itself writes of the object, filled in; None: nothing."""
        place = self.place
        written: Mapping[str, Any] = {
            key: each.model_dump(exclude_none=True) for key, each in place.declared.clusterObjects.items()
        }
        if self.namespace:
            written = place.settings(self.namespace).objects
        for key, each in written.items():
            variables = {**place.variables, "namespace": self.namespace or place.main}
            if (each["apiVersion"], each["kind"]) != (self.manifest["apiVersion"], self.kind):
                continue
            filled = fill_manifest(each, variables, ())
            if (mapping_at(filled, "metadata").get("name") or key) == self.name:
                return {name: value for name, value in filled.items() if name not in ("apiVersion", "kind", "metadata")}
        return None

    def _rights(self) -> Iterator[str]:
        for rule in (
            self.body.get("rules") or () if self.kind == "Role" and not self.place.declared.clusterAdmin else ()
        ):
            more = {"*", "bind", "escalate"}.intersection(rule.get("verbs") or ())
            if more and {"*", "clusterroles", "roles", "clusterrolebindings", "rolebindings"}.intersection(
                rule.get("resources") or ()
            ):
                yield "leads to all rights"

    def _cluster_right(self) -> Iterator[str]:
        place, prefix = self.place, f"tenantry.{self.place.main}."
        rights = (
            place.declared.clusterRoles.get(self.name.removeprefix(prefix)) if self.name.startswith(prefix) else None
        )
        if rights is None:
            yield "is no right that the main file gives"
        elif self.kind == "ClusterRole":
            if self.body != {"rules": [each.model_dump(exclude_none=True) for each in rights.rules or ()]}:
                yield "is not as the main file says"
        elif self.body["roleRef"]["name"] != (rights.role or self.name) or not self._users() <= self._own_users():
            yield "is not for the tenant alone, or of another role than the main file gives"

    def _users(self) -> set[str]:
        return {f"{each['kind']} {each['name']}" for each in self.body["subjects"]}

    def _own_users(self) -> set[str]:
        place = self.place
        extra = [name for name, key in place.extra.items() if place.declared.namespaces[key].serviceAccount]
        homes = [place.home, *(() if place.kubeconfig else extra)]
        return {f"User system:serviceaccount:{home}:{place.impersonated}" for home in homes}

    def _of_namespace(self) -> Iterator[str]:
        place, metadata, settings = self.place, self.manifest["metadata"], self.place.settings(self.name)
        if self.name not in self.plan.namespaces(place):
            yield "is none of the tenant's namespaces"
        if others := self.plan.claims.get(self.name, set()) - {place.tenant}:
            yield f"belongs to {', '.join(sorted(others))} too"
        patterns = place.frame.document.platform.reservedNamespaces
        if (
            is_reserved_namespace(self.name)
            or self.name in self.plan.platforms
            or any(fnmatchcase(self.name, each) for each in patterns)
        ):
            yield "is reserved"
        pods = settings.podSecurity
        levels = {mode: level for mode in ("enforce", "audit", "warn") if (level := getattr(pods, mode))}
        levels |= {f"{mode}-version": pods.version for mode in levels} if pods.version else {}
        wanted = {f"{_PODS}{key}": level for key, level in levels.items()}
        labels = metadata.get("labels", {})
        if {key: value for key, value in labels.items() if key.startswith(_PODS)} != wanted:
            yield "has another pod security than the main file sets"
        wanted |= {key: value for key, value in _fleets(place, labels).items() if key != _MANAGED or key in labels}
        wanted |= {_ROLE: "tenant", _PRUNE: "disabled"}
        if place.kubeconfig is None and place.account != place.tenant:
            wanted[_ACCOUNT] = place.account
        yield from (f"does not say '{key}: {value}'" for key, value in wanted.items() if labels.get(key) != value)
        for kind, written in (("labels", settings.labels), ("annotations", settings.annotations)):
            granted = tuple(getattr(place.grants, kind) or ())
            for key, value in metadata.get(kind, {}).items():
                if key == _STATE and kind == "labels":
                    right = value in _states(place, place.extra.get(self.name, ""))
                elif kind == "annotations":
                    right = _PROVIDER.get(key) == value or key in ("tenantry/leaving", "tenantry/formerly")
                    right |= key.startswith("tenantry/require-")
                else:
                    right = key in wanted
                own = not _is_fleets(key) and (written.get(key) == value or key.startswith(granted))
                if not (right or own):
                    yield f"has {kind[:-1]} '{key}', which is not granted to it"
        required = required_annotations(settings.require)
        found = metadata.get("annotations", {})
        if {key: value for key, value in found.items() if key.startswith("tenantry/require-")} != required:
            yield "does not say what the main file requires"

    def _in_namespace(self) -> Iterator[str]:
        """Quota, limits, network, accounts, roles: as the main file sets them, where it does not leave them to the team."""
        place, settings, body = self.place, self.place.settings(self.namespace), self.body
        allowed: dict[str, Any] = {}
        match self.kind:
            case "ServiceAccount":
                own = place.declared.serviceAccount if self.on_target else None
                allowed = {"imagePullSecrets": [{"name": each} for each in own.imagePullSecrets]} if own else {}
                right = {
                    **allowed,
                    **{
                        key: value
                        for key, value in body.items()
                        if (key, value) == ("automountServiceAccountToken", False)
                    },
                } == {**allowed, **body}
                right = right and self.name in (place.account, place.main)
            case "ResourceQuota":
                right = body == {"spec": {"hard": settings.quota}} or (
                    _only(body, "hard") and place.grants_setting("quota")
                )
            case "LimitRange":
                limits = [{"type": "Container", **settings.limits}]
                right = body == {"spec": {"limits": limits}} or (
                    _only(body, "limits") and place.grants_setting("limits")
                )
            case "NetworkPolicy":
                right = place.grants_setting("network") or self._is_written_policy(settings)
            case "Role":
                own_role = settings.roles.get(self.name)
                right = own_role is not None and body == {
                    "rules": [each.model_dump(exclude_none=True) for each in own_role.rules]
                }
            case "RoleBinding":
                right = True
                yield from self._binding(settings)
            case "Secret":
                right = body.keys() <= {"type", "data", "stringData"} and body.get("type", "Opaque") in _TYPES
            case "ConfigMap":
                right = body.keys() <= {"data"}
            case _:
                right = False
        if not right:
            yield "is none that the main file gives to the tenant, or not as it says"

    def _is_written_policy(self, settings: TenantSettings) -> bool:
        name, spec = self.name.removeprefix("tenantry-"), self.body.get("spec")
        policy = (settings.network.policies or {}).get(name)
        if policy is not None:
            return bool(_plain(spec) == _plain(fill_manifest({"spec": policy.spec}, self.place.variables, ())["spec"]))
        peers: list[Manifest] = [
            {"podSelector": {}},
            {"namespaceSelector": {"matchLabels": {_TENANT: self.place.tenant, _ENVIRONMENT: self.place.environment}}},
        ]
        wanted = [_strict(own) if settings.network.base == "strict" else _isolated(own) for own in (peers[:1], peers)]
        return name == "isolated" and settings.network.base != "open" and spec in wanted

    def _binding(self, settings: TenantSettings) -> Iterator[str]:
        place, ref = self.place, self.body["roleRef"]
        roles = {
            settings.role,
            *(each.role for each in settings.owners),
            *(each.role for each in settings.roleBindings.values()),
        }
        if place.grants_setting("role", "owners", "roleBindings"):
            roles |= {*(place.grants.roles or ("view",))}
        if not place.declared.clusterAdmin:
            roles -= {"cluster-admin"}
        if ref["name"] not in roles or ref["kind"] != ("Role" if ref["name"] in settings.roles else "ClusterRole"):
            yield f"gives the role '{ref['name']}', which is not granted"
        known = {_subject(each) for each in settings.owners}
        known |= {_subject(each) for binding in settings.roleBindings.values() for each in binding.subjects}
        for subject in self.body["subjects"]:
            kind, name = subject["kind"], subject["name"]
            if kind == "ServiceAccount":
                namespace = subject.get("namespace", self.namespace)
                others = namespace in self.plan.holders or namespace in self.plan.kubeconfigs
                named = (kind, name) in known or place.grants_setting("owners", "roleBindings")
                own = namespace in self.plan.namespaces(place) or (
                    named and not others and not is_reserved_namespace(namespace)
                )
            elif name.startswith("system:"):
                own = f"{kind} {name}" in self._own_users()
            else:
                own = (kind, name) in known or place.grants_setting("owners", "roleBindings")
            if not own:
                yield f"gives a role to '{name}', which is not the tenant's"

    @staticmethod
    def missing(place: _Place, objects: Iterable[Manifest]) -> Iterator[str]:
        """What the main file sets for a namespace and no object says."""
        there = {(each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]) for each in objects}
        for name in [name for kind, _, name in there if kind == "Namespace"]:
            settings = place.settings(name)
            wanted = [("ResourceQuota", "tenantry", "quota")] if settings.quota else []
            wanted += [("LimitRange", "tenantry", "limits")] if settings.limits else []
            wanted += [("NetworkPolicy", "tenantry-isolated", "network")] if settings.network.base != "open" else []
            wanted += [
                ("NetworkPolicy", f"tenantry-{each}", "network")
                for each, policy in (settings.network.policies or {}).items()
                if policy
            ]
            for kind, object, setting in wanted:
                if (kind, name, object) not in there and not place.grants_setting(setting):
                    yield f"lacks the {kind} '{object}' in namespace '{name}'"


_TYPES = ("Opaque", "kubernetes.io/dockerconfigjson")
_DEFAULT_TIMES = ("30s", "5m", "10m", "30m")
"""Intervals that the fleet sets where nobody says one."""
_NOBODY = {"key": _TENANT, "operator": "DoesNotExist"}


def _isolated(own: list[Manifest]) -> Manifest:
    peers = [own[0], {"namespaceSelector": {"matchExpressions": [_NOBODY]}}, *own[1:]]
    return {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": peers}]}


def _strict(own: list[Manifest]) -> Manifest:
    """In from the tenant and from add-ons; out to the tenant, to name servers and to API servers at private addresses."""
    addons = {"namespaceSelector": {"matchExpressions": [{"key": _APP, "operator": "Exists"}, _NOBODY]}}
    names = [{"namespaceSelector": {"matchExpressions": [_NOBODY]}}, {"ipBlock": {"cidr": "169.254.20.10/32"}}]
    private: list[Manifest] = [
        {"ipBlock": {"cidr": each}} for each in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
    ]
    private += [{"ipBlock": {"cidr": "fc00::/7", "except": ["fd00:ec2::254/128"]}}]
    return {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [*own, addons]}],
        "egress": [
            {"to": own},
            {"to": names, "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]},
            {"to": private, "ports": [{"protocol": "TCP", "port": 6443}]},
        ],
    }


def _names_of(frame: Fleet, environment: str, tenant: str) -> tuple[str, ...]:
    return main_namespace(frame, environment, tenant), *extra_namespaces(frame, environment, tenant).values()


def _labels(manifest: Manifest) -> dict[str, str]:
    return manifest["metadata"].get("labels") or {}


def _known_metadata(metadata: Mapping[str, Any]) -> Iterator[str]:
    for key in metadata.keys() - {"name", "namespace", "labels", "annotations"}:
        yield f"fills metadata.{key}, a field that no tenant may fill"


def _fleets(place: _Place, labels: Mapping[str, str]) -> dict[str, str]:
    """The labels that the fleet sets on every object of the tenant there."""
    there = {_CLUSTER: place.cluster} if labels.get(_CLUSTER) else {}
    return {_MANAGED: "tenantry", _TENANT: place.tenant, _ENVIRONMENT: place.environment, **there}


def _is_fleets(key: str) -> bool:
    """Whether a label or annotation has an effect on the fleet, Pulumi, Flux or pod security."""
    return key.startswith(("tenantry/", "pulumi.com/", _PODS)) or key.partition("/")[0].endswith("fluxcd.io")


def _states(place: _Place, namespace: str) -> set[str]:
    """What the label for the state may say: the guard lets a run remove what says that it leaves."""
    of_cluster = place.frame.clusters[place.cluster].state
    if of_cluster == "decommissioned":
        return {"decommissioned"}
    own = place.declared.namespaces.get(namespace)
    declared = {*tenant_states(place.frame, place.tenant, place.cluster), of_cluster, own.state if own else "active"}
    return {str(each) for each in declared} & {"removing", "offboarding"}


def _shards(place: _Place) -> set[str]:
    found = flux_shard(place.frame, place.environment, place.tenant, place.cluster)
    listed = place.frame.environments[place.environment].fluxShards or ()
    return {*([found.name] if found else []), *map(str, listed if isinstance(listed, list | tuple) else ())}


def _reference(way: SecretKey | ConfigMap | None) -> Manifest | None:
    if way is None:
        return None
    return (
        {"configMapRef": {"name": way.name}}
        if isinstance(way, ConfigMap)
        else {"secretRef": {"name": way.name, "key": way.key}}
    )


def _secrets(spec: Any) -> Iterator[str]:
    """The names of all Secrets in a spec."""
    for key, inner in spec.items() if isinstance(spec, Mapping) else ():
        if _REFERENCES.get(key) == "Secret" and mapping_at(spec, key).get("name"):
            yield str(inner["name"])
        else:
            yield from _secrets(inner)


def _metadata_of(value: Any) -> set[tuple[str, str]]:
    """The labels and annotations that the main file itself gives Flux objects of a tenant."""
    found: set[tuple[str, str]] = set()
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "metadata":
                found |= {(kind, name) for kind in ("labels", "annotations") for name in mapping_at(inner, kind)}
            found |= _metadata_of(inner)
    elif isinstance(value, list):
        found |= {each for inner in value for each in _metadata_of(inner)}
    return found


def _scalars(value: Any, variables: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _scalars(each, variables)
        return
    yield str(value)
    if isinstance(value, str) and "{" in value:
        try:
            yield str(fill(value, variables, ()))
        except Found:
            return  # one that only an app has


def _leaves(path: str, base: str) -> bool:
    """Whether a path leads out of the source. base: the path that it is relative to."""
    return path.startswith("/") or posixpath.normpath(posixpath.join(base or ".", path)).startswith("..")


def _only(body: Mapping[str, Any], key: str) -> bool:
    return body.keys() == {"spec"} and body["spec"].keys() == {key}


def _subject(subject: Any) -> tuple[str, str]:
    if subject.group is not None:
        return "Group", subject.group
    return ("User", subject.user) if subject.user is not None else ("ServiceAccount", subject.serviceAccount.name)


def _plain(value: Any) -> Any:
    """The value with text for each scalar."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else str(value)
