"""Sources, alerts, receivers, credentials and configs in the words of the file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tenantry.compare.review.app_words import metadata_words
from tenantry.compare.review.naming import Naming, attached
from tenantry.compare.review.words import Path
from tenantry.flux.references import renamed
from tenantry.kube.objects import KubeObject
from tenantry.messages.data import mapping_at
from tenantry.plan.objects.scope import APP_LABEL

KINDS = {
    "GitRepository": "git",
    "OCIRepository": "oci",
    "HelmRepository": "helm",
    "Bucket": "bucket",
    "ExternalArtifact": "externalArtifact",
}
"""The keys of sources by the kinds of Flux."""

_DEFAULTS: dict[tuple[str, str], Any] = {("HelmRepository", "type"): "default"}


def source_words(object: KubeObject, naming: Naming) -> dict[Path, Any]:
    """The settings of a source."""
    key = KINDS[object.id.kind]
    spec = renamed(object.id.kind, mapping_at(object.manifest, "spec"), lambda _, name: attached(name))
    found: dict[Path, Any] = {}
    for field, value in spec.items():
        if field == "secretRef":
            found["credentials",] = value["name"]
        elif field == "include":
            found[key, field] = [_included(each, object, naming) for each in value]
        elif _DEFAULTS.get((object.id.kind, field)) != value:
            found[key, field] = value
    return found | metadata_words(object)


def _included(entry: dict[str, Any], object: KubeObject, naming: Naming) -> dict[str, Any]:
    return {**entry, "repository": {"name": naming.short(object.owner, entry["repository"]["name"])}}


def telling_source(settings: dict[Path, Any]) -> dict[Path, Any]:
    """What one has to know of a source that comes: without times."""
    return {path: value for path, value in settings.items() if path[-1] not in ("interval", "timeout")}


def attached_words(object: KubeObject) -> dict[Path, Any]:
    """Credentials and configs. Of credentials a plan knows the names of the values only."""
    name = attached(object.id.name)
    if object.secret is not None:
        if object.secret.registry:
            return {("credentials", name, "registry"): object.secret.registry}
        return {("credentials", name, "keys"): list(object.secret.keys)}
    return {("configs", name, "data"): dict(object.manifest.get("data", {}))}


_ALERTS = {"eventMetadata", "eventSources", "providerRef"}


def notification_words(object: KubeObject, naming: Naming) -> dict[Path, Any]:
    """The settings of an alert, its provider, or a receiver."""
    name = naming.short(object.owner, object.id.name)
    spec = renamed(object.id.kind, mapping_at(object.manifest, "spec"), lambda _, name: attached(name))
    group = "receivers" if object.id.kind == "Receiver" else "alerts"
    found: dict[Path, Any] = {}
    for field, value in spec.items():
        if object.id.kind == "Provider":
            at: Path = ("credentials",) if field == "secretRef" else ("provider", field)
            found[group, name, *at] = value["name"] if field == "secretRef" else value
        elif field == "secretRef":
            found[group, name, "credentials"] = value["name"]
        elif field == "resources":
            found[group, name, "sources"] = _names(value, object, naming)
        elif field == "eventSources":
            if apps := _told(value, object, naming):
                found[group, name, "apps"] = apps
        elif field == "eventMetadata":
            own = {key: text for key, text in value.items() if key not in ("cluster", "environment", "tenant")}
            found |= {(group, name, field): own} if own else {}
        elif field not in _ALERTS:
            found[group, name, field] = value
    return found


def _names(resources: Iterable[dict[str, Any]], object: KubeObject, naming: Naming) -> list[str]:
    return [naming.short(object.owner, each["name"]) for each in resources]


def _told(sources: Iterable[dict[str, Any]], object: KubeObject, naming: Naming) -> list[str]:
    """The apps that an alert is limited to."""
    named = (each.get("matchLabels", {}).get(APP_LABEL) or each["name"] for each in sources)
    return [naming.short(object.owner, name) for name in named if name != "*"]
