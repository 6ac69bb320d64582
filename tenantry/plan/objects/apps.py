"""Sources, charts and apps: the Flux objects for each. Fields that Flux would default or guess are set explicitly."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from tenantry.fleet.apps import ACTIONS, Action, EffectiveApp
from tenantry.kube import names
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.errors import InvalidPart, Path, Problem
from tenantry.messages.problems import missing_key
from tenantry.messages.redact import shorten
from tenantry.messages.text import listed
from tenantry.model import Helm, Source
from tenantry.model.scalars import PATH_FIX, directory_problem
from tenantry.plan.objects.scope import Scope, with_metadata

API = "source.toolkit.fluxcd.io/v1"
_CHART_LAYER = {"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "operation": "copy"}
"""The layer of an OCI artifact that contains a Helm chart. Flux must not unpack it: Helm reads the archive."""


def source_object(scope: Scope, name: str, source: Source, at: Path, *, is_chart: bool = False) -> KubeObject:
    """The object of a source that is declared at a path of the document.

    Args:   is_chart: whether a release uses the source itself as its chart.
    Raises: InvalidPart: its address is of another type.
    """
    block = source.block
    spec = block.model_dump(exclude_none=True)
    is_typed = source.helm and spec["type"] in ("default", "oci")  # Flux's schema refuses others
    if source.helm and is_typed and source.helm.url.startswith("oci://") != (spec["type"] == "oci"):
        raise InvalidPart([_wrong_type(source.helm.url, spec["type"], (*at, "helm", "url"))])
    if source.oci and is_chart:
        spec.setdefault("layerSelector", _CHART_LAYER)
    if source.credentials:
        spec["secretRef"] = {"name": source.credentials}
    planned = scope.object(API, block.flux_kind, name, {"spec": spec}, depends_on=scope.made_home)
    return with_metadata(planned, source.metadata) if source.metadata else planned


def _wrong_type(url: str, written: str, at: Path) -> Problem:
    wanted = "oci" if written != "oci" else "default"
    message = f"the URL '{url}' does not go with type '{written}'"
    fix = (
        f"set 'type: {wanted}', or correct the URL"
        if wanted == "oci"
        else "begin the URL with 'oci://', or set 'type: default'"
    )
    return Problem(at, "bad-url", message, fix=fix)


def reference(id: ObjectId) -> dict[str, str]:
    """A `sourceRef` or `chartRef` to an object in the same namespace."""
    return {"kind": id.kind, "name": id.name}


_REPOSITORY = "HelmRepository"
"""Charts have names and versions in this kind of source. In a GitRepository or a Bucket they are directories."""
IN_PLACE = "InPlaceUpdate"
"""With this `upgrade.chartNameChangeStrategy`, a release stays if only the name of its chart changes. Flux has it from 2.9 on."""
_ONLY_OF_A_PART = (
    "chart",
    "version",
    "valuesFiles",
    "ignoreMissingValuesFiles",
    "reconcileStrategy",
    "verify",
    "chartInterval",
)


def is_chart(source: KubeObject) -> bool:
    """Whether the source itself is the chart."""
    return source.id.kind == "OCIRepository"


def chart_object(scope: Scope, source: KubeObject, source_name: str, helm: Helm, interval: str) -> KubeObject:
    """The HelmChart of a release. Releases in one scope with the same source, chart and version share it, unless they
    set different intervals.

    It is planned because helm-controller does not delete a HelmChart that it created if the release is deleted while suspended.
    """
    assert helm.chart is not None
    wanted: dict[str, Any] = {"chart": helm.chart}
    if helm.version is not None:
        wanted["version"] = helm.version
    if helm.valuesFiles:
        wanted["valuesFiles"] = helm.valuesFiles
    if source.id.kind != _REPOSITORY:
        # Authors seldom raise the version of a chart in a directory with each change.
        wanted["reconcileStrategy"] = "Revision"
    wanted |= helm.part("HelmChart")
    own = {"interval": helm.chartInterval} if helm.chartInterval else {}
    key = names.join(source_name, names.slug(helm.chart.rsplit("/", 1)[-1]), names.digest({**wanted, **own}))
    spec = {**wanted, "interval": interval, **own, "sourceRef": {"kind": source.id.kind, "name": source.id.name}}
    return scope.object(API, "HelmChart", key, {"spec": spec}, depends_on=(source.id,))


_A_VERSION = "add 'version:', exact or a range such as '1.2.x'"


def check_chart(app: EffectiveApp, helm: Helm, source: KubeObject, at: Path) -> None:
    """Check that the chart settings of the app at a path fit its source. Raises: InvalidPart: they do not."""
    if is_chart(source):
        for key in _ONLY_OF_A_PART:
            if key in helm.model_fields_set:
                message = f"the whole source is the chart, so '{key}' does not apply"
                fix = f"remove '{key}'; 'ref' and 'verify' of the source say which chart is taken"
                at = app.origin("helm", key)
                raise InvalidPart([Problem(at, "no-choice-of-chart", message, fix=fix, at_key=True)])
        return
    if helm.chart is None:
        raise InvalidPart([missing_key(at, "chart")])
    if source.id.kind == _REPOSITORY:
        if helm.version is None:
            chart, tagged, version = helm.chart.partition(":")
            fix = f"write '{chart}' and the version beside it: 'version: {version}'" if tagged else _A_VERSION
            raise InvalidPart([replace(missing_key(at, "version"), fix=fix)])
        return
    if why := directory_problem(helm.chart):
        message, fix = f"path '{shorten(helm.chart)}' {why}", PATH_FIX
        raise InvalidPart([Problem(app.origin("helm", "chart"), "bad-path", message, fix=fix)])
    if helm.version is not None:
        what = "Git repository" if source.id.kind == "GitRepository" else "bucket"
        where = f"source '{helm.source}'" if helm.source else "its source"
        message = f"{where} is a {what}, so 'version' does not apply"
        fix = "remove 'version': 'ref' of the source says which revision is taken; or name a Helm repository"
        raise InvalidPart([Problem(app.origin("helm", "version"), "no-version", message, fix=fix)])
    taken: dict[Path, str] = {("helm", "chart"): helm.chart}
    check_checkout(app, source, taken | {("helm", "valuesFiles", i): at for i, at in enumerate(helm.valuesFiles or ())})


def check_checkout(app: EffectiveApp, source: KubeObject, paths: Mapping[Path, str]) -> None:
    """Check that the source checks out what the app takes. What it includes of other sources may have the rest.

    Args:   paths: by where they stand in the app.
    Raises: InvalidPart: a path that its `sparseCheckout` leaves out.
    """
    spec = source.manifest["spec"]
    if spec.get("include") or not (directories := spec.get("sparseCheckout")):
        return
    taken_before = [posixpath.normpath(directory) for directory in directories]
    for at, path in paths.items():
        taken = posixpath.normpath(path)
        if taken != "." and not any(_is_below(taken, place) or _is_below(place, taken) for place in taken_before):
            message = f"'{shorten(path)}' is in none of the directories that the source checks out"
            fix = f"add '{shorten(taken)}' to its 'sparseCheckout', or write a path in one of these"
            raise InvalidPart(
                [Problem(app.origin(*at), "not-checked-out", message, (f"it checks out: {listed(directories)}",), fix)]
            )


def _is_below(path: str, directory: str) -> bool:
    return directory == "." or f"{path}/".startswith(f"{directory}/")


# --- apps -------------------------------------------------------------------------------------------------------------


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
