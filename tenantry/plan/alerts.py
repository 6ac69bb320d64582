"""The alerts of one scope: a Provider and an Alert for each, about the objects of the scope's owner.

They are in the namespace of the objects they report on. Next to a remote's kubeconfig, that namespace holds other tenants'
objects too. So an Alert selects by the fleet's labels, and adding an app changes no Alert.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.fleet.authors import may_name, names_all
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.grants import is_filled
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
            if sources := _event_sources(fleet, scope, alert, apps, (*at, name)):
                provider = _provider(scope, name, alert, (*at, name))
                raise_found(wall.check("Provider", provider.manifest["spec"], below(*at, name, "provider")))
                provider = attachments.bound(provider)
                planned = (provider, _alert(scope, name, alert, sources, provider, (*at, name)))
                for each in planned:
                    check_size(each, (*at, name))
                yield (*at, name), (*attachments.made.values(), *planned)


def _provider(scope: Scope, name: str, alert: Alert, at: Path) -> KubeObject:
    raise_found(secrets_of(alert.provider, (*at, "provider")))
    provider_spec = dict(alert.provider.flux)
    if alert.credentials:
        provider_spec["secretRef"] = {"name": alert.credentials}
    provider = scope.object(API, "Provider", name, {"spec": provider_spec}, depends_on=scope.made_home)
    check_length(provider, at)
    raise_found(check_spec("Provider", provider_spec, (*at, "provider")))
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
    raise_found(check_spec("Alert", spec, at))
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
    if alert.apps is None and is_filled(fleet, at):
        groups = ("apps", "sources")
        if not all(names_all(fleet, scope.tenant, group) for group in groups):
            return _shared_sources(fleet, scope, wanted, commits=commits)
    # All Kustomizations of a remote would be those of tenants too, whose commits are of other repositories.
    if alert.apps is not None or (commits and not scope.tenant):
        return [_source_of(scope, name, id) for name, id in wanted.items()]
    kinds = _APPS[:1] if commits else (*_APPS, *_OTHERS)
    return [{"kind": kind, "name": "*", "matchLabels": _labels(scope)} for kind in kinds]


def _shared_sources(fleet: Fleet, scope: Scope, apps: Mapping[str, ObjectId], *, commits: bool) -> list[dict[str, Any]]:
    """What an alert of an included file tells of, where the main file has apps or sources that it does not share."""
    named = [_source_of(scope, name, id) for name, id in apps.items() if may_name(fleet, scope.tenant, "apps", name)]
    sources = fleet.document.tenants[scope.tenant].sources if named and not commits else {}
    own = {name: source for name, source in sources.items() if may_name(fleet, scope.tenant, "sources", name)}
    labels = _labels(scope)
    # With labels, because a source that no app uses is not planned: its name may be that of another tenant's object.
    kinds = {scope.name(name): source.block.flux_kind for name, source in sorted(own.items())}
    return named + [{"kind": kind, "name": name, "matchLabels": labels} for name, kind in kinds.items()]


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
