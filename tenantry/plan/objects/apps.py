"""Apps: a Kustomization or HelmRelease for each. Fields that Flux would default or guess are set explicitly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, TypeAlias

from tenantry.fleet.settings import TenantSettings
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.model import Helm, Kustomize
from tenantry.plan.objects.charts import IN_PLACE
from tenantry.plan.objects.scope import Scope
from tenantry.plan.objects.sources import reference

KUSTOMIZE_API = "kustomize.toolkit.fluxcd.io/v1"
HELM_API = "helm.toolkit.fluxcd.io/v2"

Action: TypeAlias = Literal["install", "upgrade"]
"""A Helm action that can fail. Each has its own strategy."""


class Dependency(NamedTuple):
    """The Kustomization or HelmRelease that an app waits for; planned: it belongs to this plan, not to another environment's.

    Flux's `dependsOn` knows objects of one kind only. Pulumi waits for those of the other kind; see `plan.engine_order`.
    """

    id: ObjectId
    planned: bool = True


KINDS = {"kustomize": "Kustomization", "helm": "HelmRelease"}
"""The kind of an app's Flux object, by the app's block."""


def app_id(scope: Scope, app: str, kind: Literal["kustomize", "helm"]) -> ObjectId:
    """The identity of an app's Flux object on the management cluster."""
    api = KUSTOMIZE_API if kind == "kustomize" else HELM_API
    return ObjectId(api, KINDS[kind], scope.home, scope.name(app))


def kustomization(
    scope: Scope, app: str, block: Kustomize, settings: TenantSettings, source: ObjectId, after: Iterable[Dependency]
) -> KubeObject:
    """The Kustomization of an app; `after` is what it depends on, in Flux's `dependsOn` where the kinds are the same.

    All manifests of a tenant go to its namespace. The manifests of an add-on may name several namespaces, so they are unchanged.
    """
    after = tuple(after)
    written = block.model_dump(exclude_none=True, exclude={"source"})
    if block.targetNamespace:
        written["targetNamespace"] = scope.own_namespace(block.targetNamespace)
    spec: dict[str, Any] = {
        "interval": settings.interval,
        "retryInterval": settings.retryInterval,
        "timeout": settings.timeout,
        **({"targetNamespace": scope.namespace} if scope.tenant else {}),
        **written,
        "sourceRef": reference(source),
        "serviceAccountName": scope.service_account,
        **scope.remote(),
        **flux_order(scope, "Kustomization", after),
    }
    depends_on = (*scope.base, source, *edges(after))
    return scope.object(KUSTOMIZE_API, "Kustomization", app, {"spec": spec}, app=app, depends_on=depends_on)


def helm_release(
    scope: Scope, app: str, block: Helm, settings: TenantSettings, chart: ObjectId, after: Iterable[Dependency]
) -> KubeObject:
    """The HelmRelease of an app; `after` is what it depends on, in Flux's `dependsOn` where the kinds are the same."""
    after = tuple(after)
    charts = {"chart", "version", "updates", "valuesFiles", "chartInterval", *block.parts["HelmChart"]}
    written = block.model_dump(exclude_none=True, exclude={"source", "targetNamespace", "install", "upgrade", *charts})
    # The baseline of a remote is a release too. With `dependsOn` Flux waits for it; otherwise the app would fail once.
    first = tuple(Dependency(id) for id in scope.base if id.kind == "HelmRelease")
    target = scope.own_namespace(block.targetNamespace or scope.namespace)
    spec: dict[str, Any] = {
        "interval": settings.interval,
        "timeout": settings.timeout,
        "releaseName": scope.release(app),
        "targetNamespace": target,
        **written,
        "chartRef": reference(chart),
        "storageNamespace": scope.storage,
        "serviceAccountName": scope.service_account,
        **scope.remote(),
        **flux_order(scope, "HelmRelease", (*first, *after)),
        "install": {**_action(block, "install", settings), **_create_namespace(scope, target)},
        "upgrade": {**_of_platform(scope), **_action(block, "upgrade", settings)},
    }
    depends_on = (*scope.base, chart, *edges(after))
    return scope.object(HELM_API, "HelmRelease", app, {"spec": spec}, app=app, depends_on=depends_on)


def _strategy(block: Helm, action: Action) -> str:
    """What Flux does after a failed action: the author's choice, or a default that suits the rest of the block.

    The default is to retry: Flux's own default gives up after one failure, and the release stays failed. But a release that
    is retried ignores `remediation`, so if the author sets it, Flux's default applies. The name is always written out, because
    a feature gate of helm-controller (DefaultToRetryOnFailure) changes Flux's default.

    Source: fluxcd.io/flux/components/helm/helmreleases, "Install strategy" and "Upgrade strategy".
    """
    written = block.flux.get(action, {})
    default = "RemediateOnFailure" if "remediation" in written else "RetryOnFailure"
    return str(written.get("strategy", {}).get("name", default))


def flux_order(scope: Scope, kind: str, after: Iterable[Dependency]) -> dict[str, Any]:
    """`dependsOn` in Flux's form, for an object of a kind: it names only others of that kind.

    It contains the namespace only if it differs, as for add-ons on the management cluster.
    """
    ids = (each.id for each in after if each.id.kind == kind)
    entries = [{"name": id.name, **({"namespace": id.namespace} if id.namespace != scope.home else {})} for id in ids]
    return {"dependsOn": entries} if entries else {}


def edges(after: Iterable[Dependency]) -> tuple[ObjectId, ...]:
    """What Pulumi registers before an object; what another stack plans is not in the graph."""
    return tuple(each.id for each in after if each.planned)


def awaited(after: Iterable[Dependency], kind: str) -> set[ObjectId]:
    """What Pulumi has to wait for before an object of a kind, because Flux does not."""
    return {each.id for each in after if each.planned and each.id.kind != kind}


def _action(block: Helm, action: Action, settings: TenantSettings) -> dict[str, Any]:
    name = _strategy(block, action)
    retries = {"retryInterval": settings.retryInterval} if name == "RetryOnFailure" else {}
    return {"strategy": {"name": name, **retries}, **block.flux.get(action, {})}


def _of_platform(scope: Scope) -> dict[str, str]:
    """An add-on is upgraded in place if its chart gets another name, as tenants stand on it; its author may say otherwise."""
    return {} if scope.tenant else {"chartNameChangeStrategy": IN_PLACE}


def _create_namespace(scope: Scope, target: str) -> dict[str, bool]:
    """Flux creates the namespaces of add-ons that own none. A tenant's namespaces are part of its baseline."""
    there = (scope.storage, *scope.namespaces.values())
    return {"createNamespace": True} if not scope.tenant and target not in there else {}
