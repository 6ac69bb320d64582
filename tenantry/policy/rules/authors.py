"""Rules about what a tenant's included file may name: its own, and what the main file shares with it.

An object is the main file's if that declares its entry, because an included file cannot declare the entry again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.policy.addresses import is_below
from tenantry.policy.resource import Resource, entries, mapping
from tenantry.policy.rule import Violation
from tenantry.policy.tenants import APP, SOURCE, Place, Tenants

_SOURCES = ("Bucket", "ExternalArtifact", "GitRepository", "HelmRepository", "OCIRepository")
_ENTRIES = {
    **dict.fromkeys(_SOURCES, "sources"),
    **{
        "Kustomization": "apps",
        "HelmRelease": "apps",
        "Alert": "alerts",
        "Provider": "alerts",
        "Receiver": "receivers",
    },
}
"""Where the file declares what becomes an object of a kind. Other kinds are parts of an app."""
_GROUPS = {"dependsOn": "apps", "repository": "sources", "resources": "sources", "sourceRef": "sources"}
_BY_KIND = {"ConfigMap": "configs", "Secret": "credentials", **{kind: group for kind, group in _ENTRIES.items()}}
_CONTENT = ("commonMetadata", "kubeConfig", "patches", "postRenderers", "substitute", "values")
"""Keys below which are the author's own words, or which have a rule of their own."""


def tenants_name_only_what_is_shared_with_them(tenants: Tenants) -> Iterator[Violation]:
    """What an included file writes names its own entries, and sources, configs and apps of the main file that this shares. It
    never names credentials of the main file: their values would reach the tenant's manifests, servers and alerts.
    """
    for resource, place in _of_included_files(tenants):
        for path, group, name in _named(resource, place):
            if place.frame.declares(group, name) and not place.frame.shares(group, name):
                what = f"{resource} of tenant '{place.tenant}' names '{name}' of the main file in {path}"
                fix = "name other credentials" if group == "credentials" else f"add it to 'grants.share.{group}'"
                yield Violation(resource, what, fix)


def tenants_push_to_granted_addresses(tenants: Tenants) -> Iterator[Violation]:
    """Image automation of an included file pushes to addresses that the main file grants for that, and never with credentials of
    the main file. Whoever can push to a repository of the platform can change what others run.
    """
    for resource, place in _of_included_files(tenants):
        if resource.kind != "ImageUpdateAutomation":
            continue
        name = str(mapping(resource.spec.get("sourceRef")).get("name"))
        source = tenants.find(resource, "GitRepository", resource.namespace, name)
        spec: Mapping[str, Any] = source.spec if source else {}
        if not is_below(str(spec.get("url")), place.frame.granted_pushes(place.variables())):
            what = f"{resource} of tenant '{place.tenant}' pushes to an address that is not granted to it"
            yield Violation(resource, what, "choose another source, or add its address to 'grants.push' of the tenant")
        secret = _entry(place, "credentials", str(mapping(spec.get("secretRef")).get("name", "")))
        if place.frame.declares("credentials", secret):
            what = f"{resource} of tenant '{place.tenant}' pushes with credentials of the main file"
            yield Violation(resource, what, "take a source with other credentials")


def tenants_submodules_are_granted(tenants: Tenants) -> Iterator[Violation]:
    """A Git source of an included file takes no submodules, unless the main file grants it: they are at any address that the
    repository names.
    """
    for resource, place in _of_included_files(tenants):
        if resource.spec.get("recurseSubmodules") and not place.frame.leaves("recurseSubmodules"):
            what = f"{resource} of tenant '{place.tenant}' takes submodules"
            yield Violation(resource, what, "remove it, or add 'recurseSubmodules' to 'grants.settings' of the tenant")


def tenants_alerts_say_whose_they_are(tenants: Tenants) -> Iterator[Violation]:
    """Messages about a tenant's objects name this tenant, its environment and its cluster. Whoever reads them believes it."""
    for resource, place in tenants.placed:
        if resource.kind != "Alert":
            continue
        told = mapping(resource.spec.get("eventMetadata"))
        whose = {"environment": place.environment, "tenant": place.tenant}
        for key, value in (whose if place.shared else {**whose, "cluster": place.cluster}).items():
            if told.get(key) != value:
                what = f"{resource} of tenant '{place.tenant}' says {key} '{told.get(key)}'"
                yield Violation(resource, what, f"set spec.eventMetadata.{key} to {value}")


def _of_included_files(tenants: Tenants) -> Iterator[tuple[Resource, Place]]:
    """The Flux objects of tenants that the main file does not declare."""
    releases = [(each, place) for each, place in tenants.placed if each.is_release]
    charts = {
        (place.tenant, each.namespace, str(mapping(each.spec.get("chartRef")).get("name")))
        for each, place in releases
        if not _is_main(each, place)
    }
    for resource, place in tenants.placed:
        if not resource.group.endswith(".toolkit.fluxcd.io") or tenants.is_baseline(resource):
            continue
        # Releases share a chart.
        is_chart = resource.kind == "HelmChart"
        if (place.tenant, resource.namespace, resource.name) in charts if is_chart else not _is_main(resource, place):
            yield resource, place


def _is_main(resource: Resource, place: Place) -> bool:
    if group := _ENTRIES.get(resource.kind):
        return place.frame.declares(group, _entry(place, group, resource.name))
    return place.frame.declares("apps", str(resource.labels.get(APP, "")))


def _entry(place: Place, group: str, name: str) -> str:
    """What the file calls the entry for which an object stands; "" if the object is of another tenant or the platform."""
    if place.kubeconfig is None:
        return name
    if group == "apps" and (app := next((each for each in place.frame.apps if place.reconciler(each) == name), "")):
        return app  # its name may be shortened
    prefix = f"{place.cluster}.{place.namespace}."
    if group in ("configs", "credentials") and name.startswith(prefix):
        return name.removeprefix(prefix)
    if "." in name:  # clusters share it
        of_platform = f"{place.frame.file.home}." if group == "sources" else ""
        return name.split(".")[1] if name.startswith((f"{place.namespace}.", of_platform or ".")) else ""
    prefix = f"{place.cluster}-{place.namespace}-"
    return name.removeprefix(prefix) if name.startswith(prefix) else ""


def _named(resource: Resource, place: Place) -> Iterator[tuple[str, str, str]]:
    """The entries that an object names, each with the path and the key under which the file declares it."""
    if resource.kind != "ExternalArtifact":  # says where another controller took it from; Flux does not read that
        yield from _in_spec(resource.spec, "spec", place)
    for reference in entries(resource.spec.get("eventSources")):
        labels = mapping(reference.get("matchLabels"))
        if APP in labels:
            yield "spec.eventSources", "apps", str(labels[APP])
        elif SOURCE in labels:
            yield "spec.eventSources", "sources", str(labels[SOURCE])
        elif reference.get("name") == "*":
            for group in ("apps", "sources"):
                yield from (("spec.eventSources", group, str(name)) for name in mapping(place.frame.own.get(group)))


def _in_spec(value: Mapping[str, Any], at: str, place: Place) -> Iterator[tuple[str, str, str]]:
    for key, inner in value.items():
        if key in _CONTENT:
            continue
        for each in [inner] if isinstance(inner, Mapping) else entries(inner):
            path = f"{at}.{key}"
            if "name" in each and (group := _group(key, each)):
                yield path, group, _entry(place, group, str(each["name"]))
            yield from _in_spec(each, path, place)


def _group(key: str, reference: Mapping[str, Any]) -> str:
    """Under which key the file declares what a reference names; "" if it names no entry of the tenant."""
    if "namespace" in reference and key != "eventSources":
        return ""  # an add-on; another rule refuses other tenants
    if kind := str(reference.get("kind") or ""):
        return _BY_KIND.get(kind, "") if key.lower().endswith(("ref", "from", "sources")) else ""
    return "credentials" if key.lower().endswith("secretref") else _GROUPS.get(key, "")
