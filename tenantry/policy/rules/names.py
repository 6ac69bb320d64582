"""Rules about what a tenant's Flux objects name: Secrets, sources, apps, accounts, kubeconfigs."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.policy.main_file import LONGEST, filled
from tenantry.policy.resource import Resource, entries, lookup, mapping, texts
from tenantry.policy.rule import Violation
from tenantry.policy.tenants import APP, CLUSTER, ENVIRONMENT, Place, Tenants

_CONTENT = frozenset(
    {
        *("commonMetadata", "components", "eventMetadata", "healthChecks", "healthCheckExprs", "images", "kubeConfig"),
        *("messageTemplateValues", "patches", "postRenderers", "substitute", "values"),
    }
)
"""Keys of a spec below which are the author's own words, or which have a rule of their own."""
_TO_OBJECTS = {"chartRef": "", "imageRepositoryRef": "ImageRepository", "providerRef": "Provider", "sourceRef": ""}
"""References to Flux objects, with the kind of those that do not say it."""
_TO_VALUES = ("valuesFrom", "substituteFrom", "configMapRef")
_TARGETS = ("targetNamespace", "storageNamespace")
_TENANT = "toolkit.fluxcd.io/tenant"


def tenants_name_only_what_is_theirs(tenants: Tenants) -> Iterator[Violation]:
    """A tenant's Flux objects name only the tenant's own Secrets, ConfigMaps, sources, images, accounts and namespaces, and
    wait only for its own apps and for add-ons. Flux reads what is named with its own rights.
    """
    for resource, place in tenants.placed:
        if not resource.group.endswith(".toolkit.fluxcd.io"):
            continue
        if tenants.is_baseline(resource):
            found = _Baseline(tenants, place).problems(resource)
        else:
            found = _Named(tenants, resource, place).problems(resource.spec, "spec")
        for path, problem in found:
            fix = "name something that the tenant declares itself"
            yield Violation(resource, f"{resource} of tenant '{place.tenant}' {problem} in {path}", fix)


def tenants_use_the_kubeconfigs_of_their_clusters(tenants: Tenants) -> Iterator[Violation]:
    """A tenant's Flux objects for a remote cluster use the kubeconfig that the main file names for that cluster, and those
    for the management cluster use none. With another one, Flux would act on another cluster or show its own token to it.
    """
    for resource, place in tenants.placed:
        wanted = place.kubeconfig.reference if place.kubeconfig and resource.is_reconciler else None
        if (given := _plain(resource.spec.get("kubeConfig"))) == wanted:
            continue
        problem = f"does not use the kubeconfig of cluster '{place.cluster}'" if wanted else "must not use a kubeconfig"
        fix = f"set spec.kubeConfig to {json.dumps(wanted)}" if wanted else "remove spec.kubeConfig"
        what = f"{resource} of tenant '{place.tenant}' {problem}" + (", but another one" if wanted and given else "")
        yield Violation(resource, what, fix)


class _Named:
    """What one object names, with the path of each name that is not the tenant's."""

    def __init__(self, tenants: Tenants, resource: Resource, place: Place) -> None:
        self.tenants = tenants
        self.resource = resource
        self.place = place

    def problems(self, value: Mapping[str, Any], at: str) -> Iterator[tuple[str, str]]:
        for key, inner in value.items():
            if key in _CONTENT:
                continue
            path = f"{at}.{key}"
            if problem := self._of_text(key, inner):
                yield path, problem
            for each in [inner] if isinstance(inner, Mapping) else entries(inner):
                if problem := self._of_reference(key, each):
                    yield path, problem
                yield from self.problems(each, path)

    def _of_text(self, key: str, value: Any) -> str:
        if not isinstance(value, str):
            return ""
        if key in _TARGETS and value not in self.place.namespaces:
            return f"names namespace '{value}'"
        if key == "serviceAccountName" and not (self.resource.is_reconciler and value == self.place.account):
            return f"names service account '{value}'"
        return ""

    def _of_reference(self, key: str, reference: Mapping[str, Any]) -> str:
        name = str(reference.get("name", ""))
        if key == "dependsOn":
            return "" if self._may_wait_for(reference) else f"waits for '{reference.get('namespace', '')}/{name}'"
        if key == "eventSources":
            return "" if self._is_own_event(reference) else "listens to events of others"
        if key == "resources" and self.resource.kind == "Receiver":
            return "" if self._is_own_event(reference) else "has objects of others fetched"
        if key == "policySelector":
            return "" if self._selects_own(reference) else "takes image policies of others"
        is_reference = (
            key in _TO_OBJECTS or key in _TO_VALUES or key.lower().endswith("secretref") or key == "repository"
        )
        if not is_reference or (not name and key == "repository"):
            return ""
        if reference.get("namespace") not in (None, self.resource.namespace):
            return f"names '{reference.get('namespace')}/{name}'"
        if self.resource.kind == "ExternalArtifact":
            return ""  # says where another controller took it from; Flux does not read that
        return "" if self._is_own(self._kind(key, reference), name) else f"names '{name}', which is not the tenant's"

    def _kind(self, key: str, reference: Mapping[str, Any]) -> str:
        if key in _TO_OBJECTS:
            return str(reference.get("kind") or _TO_OBJECTS[key])
        return "GitRepository" if key == "repository" else str(reference.get("kind") or "Secret")

    def _is_own(self, kind: str, name: str) -> bool:
        if kind == "Secret" and not self.resource.tenant:
            return False  # what all tenants of a class take reads nobody's
        found = self.tenants.find(self.resource, kind, self.resource.namespace, name)
        return self._belongs(found) if found else self.place.is_own_name(kind, name)

    def _belongs(self, other: Resource) -> bool:
        if other.labels.get(ENVIRONMENT) != self.resource.labels.get(ENVIRONMENT):
            return False
        return other.tenant == self.place.tenant or self.place.is_of_classes(other)

    def _may_wait_for(self, reference: Mapping[str, Any]) -> bool:
        namespace, name = str(reference.get("namespace") or self.resource.namespace), str(reference.get("name"))
        if (found := self.tenants.find(self.resource, self.resource.kind, namespace, name)) and found.tenant:
            return self._belongs(found) and found.namespace == self.resource.namespace
        file, place = self.tenants.file, self.place
        prefix = f"{place.cluster}-" if place.kubeconfig else ""
        marks = ("", f"{place.environment}-")  # of an add-on that each environment has of its own
        addons = {
            (
                place.home if place.kubeconfig else str(mapping(each).get("namespace") or file.home),
                file.fitting(f"{prefix}{mark}{addon}", LONGEST),
            )
            for addon, each in mapping(file.platform.get("addons")).items()
            for mark in marks
        }
        return (namespace, name) in addons

    def _is_own_event(self, source: Mapping[str, Any]) -> bool:
        if source.get("namespace") not in (None, self.resource.namespace):
            return False
        # Flux asks for the name and for the labels.
        if self._are_own(mapping(source.get("matchLabels"))):
            return True
        return self._is_own(str(source.get("kind")), str(source.get("name")))

    def _selects_own(self, selector: Mapping[str, Any]) -> bool:
        return self._are_own(mapping(selector.get("matchLabels")))

    def _are_own(self, labels: Mapping[str, Any]) -> bool:
        """Whether labels choose objects of the tenant alone; in its own namespace any would."""
        wanted = {_TENANT: self.place.tenant, ENVIRONMENT: self.place.environment}
        if not self.place.shared:
            wanted[CLUSTER] = self.place.cluster
        return all(labels.get(key) == value for key, value in wanted.items())


class _Baseline:
    """The one object with a tenant's label that runs with the platform's rights: it may hold nothing of the tenant's choice."""

    def __init__(self, tenants: Tenants, place: Place) -> None:
        self.tenants = tenants
        self.place = place

    def problems(self, release: Resource) -> Iterator[tuple[str, str]]:
        spec, file = release.spec, self.tenants.file
        for key in _TARGETS:
            if spec.get(key) != file.home:
                yield f"spec.{key}", f"names namespace '{spec.get(key)}'"
        if spec.get("serviceAccountName") not in file.accounts:
            yield "spec.serviceAccountName", f"names service account '{spec.get('serviceAccountName')}'"
        if spec.get("valuesFrom") or set(mapping(spec.get("values"))) != {"objects"}:
            yield "spec.values", "takes values that are not a baseline's"
        if self._origin_of_chart(release) != self._platforms_origin():
            yield "spec.chartRef", "takes a chart that is not the platform's"
        if (given := self._waits_for(release)) != (wanted := self._wanted()):
            yield "spec.dependsOn", f"waits for {sorted(given)}, not for {sorted(wanted)}"

    def _waits_for(self, release: Resource) -> set[str]:
        return {f"{entry.get('namespace', '')}/{entry.get('name')}" for entry in entries(release.spec.get("dependsOn"))}

    def _wanted(self) -> set[str]:
        """The releases of add-ons for which the main file lets the tenant wait. Pulumi waits for other kinds."""
        addons = mapping(self.tenants.file.platform.get("addons"))
        names = (text.removeprefix("platform/") for text in texts(self.place.frame.settings.get("dependsOn")))
        helm = (f"{self.place.cluster}-{name}" for name in names if "helm" in mapping(addons.get(name)))
        return {f"/{self.tenants.file.fitting(name, LONGEST)}" for name in helm}

    def _origin_of_chart(self, release: Resource) -> tuple[str, ...]:
        """Kind and URL of the repository of the chart, and of a directory in Git its path and revision.

        Empty if the chart or the repository is a tenant's, or is not registered.
        """
        chart = self._platforms(release, release.spec, "chartRef")
        if chart and chart.kind == "OCIRepository":
            return chart.kind, str(chart.spec.get("url")), _ref(chart.spec.get("ref")), _signed(chart.spec)
        source = self._platforms(release, chart.spec, "sourceRef") if chart else None
        if chart is None or source is None:
            return ()
        url = str(source.spec.get("url"))
        if source.kind != "GitRepository":
            return source.kind, url
        return source.kind, url, _directory(chart.spec.get("chart")), _ref(source.spec.get("ref"))

    def _platforms(self, release: Resource, spec: Mapping[str, Any], path: str) -> Resource | None:
        """What a reference names, if it is the platform's and no add-on's."""
        reference = next(iter(lookup(spec, path)), {})
        found = self.tenants.find(release, str(reference.get("kind")), release.namespace, str(reference.get("name")))
        return None if found is None or found.tenant or found.labels.get(APP) else found

    def _platforms_origin(self) -> tuple[str, ...]:
        """The same of what the main file says."""
        variables = self.tenants.file.variables(self.place.environment, self.place.cluster)
        chart = mapping(self.tenants.file.platform.get("chart"))
        if oci := mapping(chart.get("oci")):
            ref = {key: filled(str(value), variables) for key, value in mapping(oci.get("ref")).items()}
            return "OCIRepository", filled(str(oci.get("url")), variables), _ref(ref), _signed(oci)
        if not (git := mapping(chart.get("git"))):
            return "HelmRepository", filled(str(mapping(chart.get("helm")).get("url")), variables)
        texts = (filled(str(git.get("url")), variables), _directory(filled(str(git.get("path")), variables)))
        ref = {
            key: filled(str(value), variables) for key, value in mapping(git.get("ref")).items() if value is not None
        }
        return "GitRepository", *texts, _ref(ref)


def _signed(spec: Mapping[str, Any]) -> str:
    """Who checks the signature of a chart; "" if nobody does."""
    return str(mapping(spec.get("verify")).get("provider", ""))


def _directory(path: Any) -> str:
    return posixpath.normpath(str(path))


def _ref(ref: Any) -> str:
    return ", ".join(f"{key} {value}" for key, value in sorted(mapping(ref).items()))


def _plain(value: Any) -> Any:
    """The value as dicts: the engine passes other mappings."""
    return {key: _plain(inner) for key, inner in value.items()} if isinstance(value, Mapping) else value
