"""The alerts and receivers of one scope: about the objects of the scope's owner, or to have its sources fetched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer
from tenantry.fleet.rules.references import missing_in_alert, missing_in_receiver, secrets_of
from tenantry.fleet.settings import resolved_once
from tenantry.fleet.walk import owner_of
from tenantry.flux.conformance import check_spec
from tenantry.grants.grants import is_filled, is_own, names_all
from tenantry.grants.wall import Wall, below
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.errors import Path, Problems, collecting, raise_invalid
from tenantry.messages.placeholders import Variables
from tenantry.model import COMMIT_STATUS, Alert, Receiver
from tenantry.plan.objects.apps import reference
from tenantry.plan.objects.scope import (
    CLUSTER_LABEL,
    ENVIRONMENT_LABEL,
    MANAGED_BY,
    SOURCE_LABEL,
    Scope,
    check_length,
)
from tenantry.plan.planned_apps import AppSet
from tenantry.plan.shared import shared_alert
from tenantry.plan.sources import Attachments

API = "notification.toolkit.fluxcd.io/v1beta3"
_APPS = ("Kustomization", "HelmRelease")
_SOURCES = ("GitRepository", "OCIRepository", "HelmRepository", "HelmChart", "Bucket")
"""Listed whether or not there are any, lest a tenant's first of a kind go unwatched while its Alert is changed."""


def plan_alerts(
    fleet: Fleet,
    scope: Scope,
    apps: Mapping[str, ObjectId],
    variables: Variables,
    findings: Problems,
    *,
    own: bool = True,
) -> Iterator[tuple[Path, tuple[KubeObject, ...]]]:
    """The alerts of the scope's tenant, or the platform's, that have something to report, with their places in the document.

    Shape: for each the Secrets it needs, its Provider, its Alert; Secrets come again with the next alert that needs them.
           Beside kubeconfigs a second Provider and Alert report the sources, which clusters share; they come again with each.
    Args:  apps: what stands for each app or add-on that there is. findings: is given what keeps an alert from being planned.
           own: whether to plan those that report the cluster's own objects.
    """
    if not (declared := owner_of(fleet, scope.at).alerts):
        return
    attachments = Attachments(fleet, scope, variables)
    wall = Wall(fleet, scope, variables)
    at = (*scope.at, "alerts")
    for name in declared:
        with collecting(findings):
            alert = resolved_once(fleet, [Layer((*at, name), fleet.raw(*at, name))], Alert, variables)
            raise_invalid(missing_in_alert(fleet, (*at, name), alert))
            mine = _event_sources(fleet, scope, alert, apps, (*at, name)) if own else []
            reports_sources = scope.kubeconfig and (mine or not own)
            common = _events_of_sources(fleet, scope, alert, (*at, name)) if reports_sources else []
            if mine or common:
                provider = attachments.bound(_provider(scope, wall, name, alert, (*at, name)))
            if mine:
                planned = (provider, _alert(scope, name, alert, mine, provider, (*at, name)))
                yield (*at, name), (*attachments.made.values(), *planned)
            if common:
                everywhere = replace(scope, cluster="")
                planned = shared_alert(
                    everywhere, provider, _alert(everywhere, name, alert, common, provider, (*at, name)), name
                )
                yield (*at, name), (*attachments.made.values(), *planned)


def _provider(scope: Scope, wall: Wall, name: str, alert: Alert, at: Path) -> KubeObject:
    raise_invalid(secrets_of(alert.provider, (*at, "provider")))
    provider_spec = dict(alert.provider.flux)
    if alert.credentials:
        provider_spec["secretRef"] = {"name": alert.credentials}
    provider = scope.object(API, "Provider", name, {"spec": provider_spec}, depends_on=scope.made_home)
    check_length(provider, at)
    wall.refuse("Provider", provider_spec, below(*at, "provider"))
    return provider


def _alert(
    scope: Scope, name: str, alert: Alert, sources: list[dict[str, Any]], provider: KubeObject, at: Path
) -> KubeObject:
    spec = {
        **alert.flux,
        "eventMetadata": {**alert.flux.get("eventMetadata", {}), **_whose(scope)},
        "eventSources": sources,
        "providerRef": {"name": provider.id.name},
    }
    raise_invalid(check_spec("Alert", spec, at))
    return scope.object(API, "Alert", name, {"spec": spec}, depends_on=(provider.id,))


def _event_sources(
    fleet: Fleet, scope: Scope, alert: Alert, apps: Mapping[str, ObjectId], at: Path
) -> list[dict[str, Any]]:
    commits = alert.provider.type in COMMIT_STATUS
    named = sorted(apps) if alert.apps is None else alert.apps
    wanted = {name: apps[name] for name in named if name in apps}
    if commits:
        wanted = {name: id for name, id in wanted.items() if id.kind == "Kustomization"}
        if not wanted:
            return []
    labels = _labels(scope)
    if alert.apps is None and _names_a_part(fleet, scope, at):
        named_sources = [
            _source_of(scope, name, id) for name, id in wanted.items() if is_own(fleet, scope.tenant, "apps", name)
        ]
        own = _own_sources(fleet, scope) if named_sources and not commits and not scope.kubeconfig else {}
        # With labels, because a source that no app uses is not planned: its name may be that of another tenant's object.
        others = [{"kind": kind, "name": scope.name(name), "matchLabels": labels} for name, kind in own.items()]
        return named_sources + others
    # All Kustomizations of a remote would be those of tenants too, whose commits are of other repositories.
    if alert.apps is not None or (commits and not scope.tenant):
        return [_source_of(scope, name, id) for name, id in wanted.items()]
    kinds = _APPS[:1] if commits else _APPS if scope.kubeconfig else (*_APPS, *_SOURCES)
    return [_labelled(kind, labels) for kind in kinds]


def _events_of_sources(fleet: Fleet, scope: Scope, alert: Alert, at: Path) -> list[dict[str, Any]]:
    """The sources that an alert reports of those that clusters share: all of their author; the platform's reports tenants' too."""
    if alert.apps is not None or alert.provider.type in COMMIT_STATUS:
        return []
    labels = _labels(replace(scope, cluster=""))
    if _names_a_part(fleet, scope, at):
        own = _own_sources(fleet, scope)
        return [_labelled(kind, {**labels, SOURCE_LABEL: name}) for name, kind in own.items()]
    return [_labelled(kind, labels) for kind in _SOURCES]


def _names_a_part(fleet: Fleet, scope: Scope, at: Path) -> bool:
    """Whether an alert is an included file's, and the main file has apps or sources of the tenant, which it does not report."""
    return is_filled(fleet, at) and not all(names_all(fleet, scope.tenant, group) for group in ("apps", "sources"))


def _labelled(kind: str, labels: Mapping[str, str]) -> dict[str, Any]:
    return {"kind": kind, "name": "*", "matchLabels": labels}


def _own_sources(fleet: Fleet, scope: Scope) -> dict[str, str]:
    """The kinds of the sources that an included file may name."""
    sources = sorted(fleet.document.tenants[scope.tenant].sources.items())
    return {name: source.block.flux_kind for name, source in sources if is_own(fleet, scope.tenant, "sources", name)}


def _source_of(scope: Scope, app: str, id: ObjectId) -> dict[str, Any]:
    """An app of a tenant by its labels; an add-on by its name, because a tenant's app may carry the same labels."""
    if scope.tenant:
        return {"kind": id.kind, "name": "*", "matchLabels": _labels(scope, app)}
    return {"kind": id.kind, "name": id.name}


def _labels(scope: Scope, app: str = "") -> dict[str, str]:
    """The labels that all objects of an alert have: the platform's alerts report a cluster, whatever the environment.

    What clusters share is of one environment.
    """
    if not scope.tenant:
        return {CLUSTER_LABEL: scope.cluster} if scope.cluster else {ENVIRONMENT_LABEL: scope.environment}
    return {key: value for key, value in scope.labels(app).items() if key not in MANAGED_BY}


def _whose(scope: Scope) -> dict[str, str]:
    """What a message says beside the object's name."""
    if not scope.cluster:
        return {"environment": scope.environment, **({"tenant": scope.tenant} if scope.tenant else {})}
    if not scope.tenant:
        return {"cluster": scope.cluster}
    return {"environment": scope.environment, "tenant": scope.tenant, "cluster": scope.cluster}


RECEIVER_API = "notification.toolkit.fluxcd.io/v1"


def plan_receivers(
    fleet: Fleet, scope: Scope, planned: AppSet, variables: Variables, findings: Problems
) -> Iterator[tuple[Path, tuple[KubeObject, ...]]]:
    """The receivers of the scope's tenant that have something to fetch, with their places in the document.

    Shape: for each the Secrets it needs, its Receiver; Secrets come again with the next receiver that needs them.
    Args:  planned: the apps of the scope. findings: is given what keeps a receiver from being planned.
    """
    if not (declared := fleet.document.tenants[scope.tenant].receivers):
        return
    attachments = Attachments(fleet, scope, variables)
    wall = Wall(fleet, scope, variables)
    at = ("tenants", scope.tenant, "receivers")
    for name in declared:
        with collecting(findings):
            receiver = resolved_once(fleet, [Layer((*at, name), fleet.raw(*at, name))], Receiver, variables)
            raise_invalid(missing_in_receiver(fleet, (*at, name), receiver))
            filled = receiver.sources is None and is_filled(fleet, (*at, name))
            own = partial(is_own, fleet, scope.tenant, "sources") if filled else None
            # Add-ons of the same content share a source.
            if fetched := tuple(dict.fromkeys(_fetched(receiver, planned, own))):
                bound = attachments.bound(_object(scope, wall, name, receiver, fetched, (*at, name)))
                yield (*at, name), (*attachments.made.values(), bound)


def _object(
    scope: Scope, wall: Wall, name: str, receiver: Receiver, fetched: tuple[ObjectId, ...], at: Path
) -> KubeObject:
    spec = {**receiver.flux, "resources": [reference(id) for id in fetched]}
    if receiver.credentials:
        spec["secretRef"] = {"name": receiver.credentials}
    made = scope.object(RECEIVER_API, "Receiver", name, {"spec": spec}, depends_on=(*scope.made_home, *fetched))
    check_length(made, at)
    wall.refuse("Receiver", spec, below(*at))
    return made


def _fetched(receiver: Receiver, planned: AppSet, own: Callable[[str], bool] | None) -> Iterator[ObjectId]:
    """What Flux fetches for the receiver. Flux never looks into an OCI registry for a HelmRepository, but for its charts.

    Args: own: which sources count where the receiver names none; None: all of them.
    """
    for name in sorted(planned.sources):
        source = planned.sources[name]
        if own and not own(name):
            continue
        if receiver.sources is not None and name not in receiver.sources:
            continue
        if source.manifest["spec"].get("type") == "oci":
            charts = (object for object in planned.objects.values() if object.id.kind == "HelmChart")
            taken = (chart for chart in charts if chart.manifest["spec"]["sourceRef"] == reference(source.id))
            yield from sorted(chart.id for chart in taken)
        else:
            yield source.id
