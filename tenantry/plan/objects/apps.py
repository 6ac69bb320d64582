"""Apps: a Kustomization or HelmRelease for each. Fields that Flux would default or guess are set explicitly."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from tenantry.fleet.apps import ACTIONS, Action, EffectiveApp
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.model import Helm
from tenantry.plan.objects.scope import Scope
from tenantry.plan.objects.sources import IN_PLACE, reference

KUSTOMIZE_API = "kustomize.toolkit.fluxcd.io/v1"
HELM_API = "helm.toolkit.fluxcd.io/v2"


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
    return ObjectId(api, KINDS[kind], scope.home, scope.name(app, KINDS[kind]))


def kustomization(scope: Scope, app: EffectiveApp, source: ObjectId, after: Iterable[Dependency]) -> KubeObject:
    """The Kustomization of an app; `after` is what it depends on, in Flux's `dependsOn` where the kinds are the same.

    All manifests of a tenant go to its namespace. The manifests of an add-on may name several namespaces, so they are unchanged.
    """
    after = tuple(after)
    written = _without(app.data, {"source"})
    if app.block.targetNamespace:
        written["targetNamespace"] = scope.own_namespace(app.block.targetNamespace)
    spec: dict[str, Any] = {
        **{time: written[time] for time in ("interval", "retryInterval", "timeout")},
        **({"targetNamespace": scope.namespace} if scope.tenant else {}),
        **written,
        "sourceRef": reference(source),
        "serviceAccountName": scope.service_account,
        **scope.remote(),
        **flux_order(scope, "Kustomization", after),
    }
    depends_on = (*scope.base, source, *edges(after))
    return scope.object(KUSTOMIZE_API, "Kustomization", app.name, {"spec": spec}, app=app.name, depends_on=depends_on)


def helm_release(scope: Scope, app: EffectiveApp, chart: ObjectId, after: Iterable[Dependency]) -> KubeObject:
    """The HelmRelease of an app; `after` is what it depends on, in Flux's `dependsOn` where the kinds are the same."""
    assert isinstance(app.block, Helm)
    after = tuple(after)
    charts = {"chart", "version", "valuesFiles", "chartInterval", *app.block.parts["HelmChart"]}
    data = app.data
    written = _without(data, {"source", "storageNamespace", "targetNamespace", *ACTIONS, *charts})
    # The baseline of a remote is a release too. With `dependsOn` Flux waits for it; otherwise the app would fail once.
    first = tuple(Dependency(id) for id in scope.base if id.kind == "HelmRelease")
    storage = app.block.storageNamespace
    target = scope.own_namespace(app.block.targetNamespace or (scope.namespace if scope.tenant else scope.storage))
    spec: dict[str, Any] = {
        **{time: written[time] for time in ("interval", "timeout")},
        "releaseName": scope.release(app.name),
        "targetNamespace": target,
        **written,
        "chartRef": reference(chart),
        "storageNamespace": scope.own_namespace(storage) if storage else scope.storage,
        "serviceAccountName": scope.service_account,
        **scope.remote(),
        **flux_order(scope, "HelmRelease", (*first, *after)),
        "install": _retried(app, "install", data),
        "upgrade": _retried(app, "upgrade", data),
    }
    if not scope.tenant:
        # Tenants stand on an add-on, so it is upgraded in place if its chart gets another name; its author may say otherwise.
        spec["upgrade"] = {"chartNameChangeStrategy": IN_PLACE, **spec["upgrade"]}
        # Flux creates the namespaces of add-ons that own none. A tenant's namespaces are part of its baseline.
        if target not in (scope.storage, *scope.namespaces.values()):
            spec["install"] = {**spec["install"], "createNamespace": True}
    depends_on = (*scope.base, chart, *edges(after))
    return scope.object(HELM_API, "HelmRelease", app.name, {"spec": spec}, app=app.name, depends_on=depends_on)


def _without(data: Mapping[str, Any], keys: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in keys}


def flux_order(scope: Scope, kind: str, after: Iterable[Dependency]) -> dict[str, Any]:
    """`dependsOn` in Flux's form, for an object of a kind: it names only others of that kind.

    It contains the namespace only if it differs, as for add-ons on the management cluster.
    """
    ids = (dependency.id for dependency in after if dependency.id.kind == kind)
    entries = [{"name": id.name, **({"namespace": id.namespace} if id.namespace != scope.home else {})} for id in ids]
    return {"dependsOn": entries} if entries else {}


def edges(after: Iterable[Dependency]) -> tuple[ObjectId, ...]:
    """What Pulumi registers before an object; what another stack plans is not in the graph."""
    return tuple(dependency.id for dependency in after if dependency.planned)


def awaited(after: Iterable[Dependency], kind: str) -> set[ObjectId]:
    """What Pulumi has to wait for before an object of a kind, because Flux does not."""
    return {dependency.id for dependency in after if dependency.planned and dependency.id.kind != kind}


def _retried(app: EffectiveApp, action: Action, data: Mapping[str, Any]) -> dict[str, Any]:
    """What a release says of an action, with the time after which it is tried again. data: of the app."""
    written: dict[str, Any] = data[action]
    if action not in app.retried:
        return written
    return {**written, "strategy": {**written["strategy"], "retryInterval": app.settings.retryInterval}}
