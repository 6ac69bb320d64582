"""The alerts of one scope: a Provider and an Alert for each, about the objects of the scope's owner.

They are in the namespace of the objects they report on. Next to a remote's kubeconfig, that namespace holds other tenants'
objects too. So an Alert selects by the fleet's labels, and adding an app changes no Alert.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.leaks import secrets_of
from tenantry.fleet.resolve import resolved
from tenantry.fleet.rules.alerts import lacking
from tenantry.flux.conformance import check_spec
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.errors import Findings, Path, collecting, raise_found
from tenantry.model import COMMIT_STATUS, Alert
from tenantry.plan.attachments import Attachments
from tenantry.plan.objects.scope import CLUSTER_LABEL, MANAGED_BY, Scope, check_length, check_size
from tenantry.plan.wall import Wall, below

API = "notification.toolkit.fluxcd.io/v1beta3"

_APPS = ("Kustomization", "HelmRelease")
_OTHERS = (
    "GitRepository",
    "OCIRepository",
    "HelmRepository",
    "HelmChart",
    "Bucket",
    "ImageRepository",
    "ImagePolicy",
    "ImageUpdateAutomation",
)
"""Listed whether or not there are any, lest a tenant's first of a kind go unwatched while its Alert is changed."""


def plan_alerts(
    fleet: Fleet, scope: Scope, apps: Mapping[str, ObjectId], variables: Mapping[str, str], findings: Findings
) -> Iterator[tuple[Path, tuple[KubeObject, ...]]]:
    """The alerts of the scope's tenant, or the platform's, that have something to tell of, with their places in the document.

    Shape: for each the Secrets it needs, its Provider, its Alert; Secrets come again with the next alert that needs them.
    Args:  apps: what stands for each app or add-on that there is. findings: is given what keeps an alert from being planned.
    """
    attachments = Attachments(fleet, scope, variables)
    wall = Wall(fleet, scope, variables)
    at = ("tenants", scope.tenant, "alerts") if scope.tenant else ("platform", "alerts")
    for name in fleet.document.tenants[scope.tenant].alerts if scope.tenant else fleet.document.platform.alerts:
        with collecting(findings):
            alert = resolved(fleet, (*at, name), Alert, variables)
            raise_found(lacking(fleet, (*at, name), alert))
            if sources := _event_sources(scope, alert, apps):
                planned = _objects(scope, name, alert, sources, (*at, name), attachments.bound)
                for each in planned:
                    check_size(each, (*at, name))
                raise_found(wall.check("Provider", planned[0].manifest["spec"], below(*at, name, "provider")))
                yield (*at, name), (*attachments.made.values(), *planned)


def _objects(
    scope: Scope,
    name: str,
    alert: Alert,
    sources: list[dict[str, Any]],
    at: Path,
    bound: Callable[[KubeObject], KubeObject],
) -> tuple[KubeObject, KubeObject]:
    raise_found(secrets_of(alert.provider, (*at, "provider")))
    provider_spec = dict(alert.provider.flux)
    if alert.credentials:
        provider_spec["secretRef"] = {"name": alert.credentials}
    provider = scope.object(API, "Provider", name, {"spec": provider_spec}, depends_on=scope.made_home)
    check_length(provider, at)
    raise_found(check_spec("Provider", provider_spec, (*at, "provider")))
    provider = bound(provider)
    spec = {
        **alert.flux,
        "eventMetadata": {**_whose(scope), **alert.flux.get("eventMetadata", {})},
        "eventSources": sources,
        "providerRef": {"name": provider.id.name},
    }
    raise_found(check_spec("Alert", spec, at))
    return provider, scope.object(API, "Alert", name, {"spec": spec}, depends_on=(provider.id,))


def _event_sources(scope: Scope, alert: Alert, apps: Mapping[str, ObjectId]) -> list[dict[str, Any]]:
    commits = alert.provider.type in COMMIT_STATUS
    named = sorted(apps) if alert.apps is None else alert.apps
    wanted = {name: apps[name] for name in named if name in apps}
    if commits:
        wanted = {name: id for name, id in wanted.items() if id.kind == "Kustomization"}
        if not wanted:
            return []
    # All Kustomizations of a remote would be those of tenants too, whose commits are of other repositories.
    if alert.apps is not None or (commits and not scope.tenant):
        return [_source_of(scope, name, id) for name, id in wanted.items()]
    kinds = _APPS[:1] if commits else (*_APPS, *_OTHERS)
    return [{"kind": kind, "name": "*", "matchLabels": _labels(scope)} for kind in kinds]


def _source_of(scope: Scope, app: str, id: ObjectId) -> dict[str, Any]:
    """An app of a tenant by its labels; an add-on by its name, because a tenant's app may carry the same labels."""
    if scope.tenant:
        return {"kind": id.kind, "name": "*", "matchLabels": _labels(scope, app)}
    return {"kind": id.kind, "name": id.name}


def _labels(scope: Scope, app: str = "") -> dict[str, str]:
    """What the objects have in common that an alert tells of: the platform's tell of a cluster, whatever the environment."""
    if not scope.tenant:
        return {CLUSTER_LABEL: scope.cluster}
    return {key: value for key, value in scope.labels(app).items() if key not in MANAGED_BY}


def _whose(scope: Scope) -> dict[str, str]:
    """What a message says beside the object's name."""
    if not scope.tenant:
        return {"cluster": scope.cluster}
    return {"environment": scope.environment, "tenant": scope.tenant, "cluster": scope.cluster}
