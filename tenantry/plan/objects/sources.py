"""Sources, and the charts that come from them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from tenantry.fleet.apps import EffectiveApp
from tenantry.kube import names
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.errors import InvalidPart, Path, Problem
from tenantry.messages.problems import missing_key
from tenantry.messages.redact import shorten
from tenantry.messages.text import declared, listed
from tenantry.model import Helm, Source
from tenantry.model.scalars import directory_fix, directory_problem
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


def check_chart(app: EffectiveApp, helm: Helm, source: KubeObject, at: Path, charts: Iterable[str]) -> None:
    """Check that the chart settings of the app at a path fit its source.

    Args:   charts: the Helm repositories that the app could use instead.
    Raises: InvalidPart: they do not fit.
    """
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
        message, fix = f"path '{shorten(helm.chart)}' {why}", directory_fix(helm.chart)
        raise InvalidPart([Problem(app.origin("helm", "chart"), "bad-path", message, fix=fix)])
    if helm.version is not None:
        raise InvalidPart([_no_version(app, helm, source, charts)])
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


def _no_version(app: EffectiveApp, helm: Helm, source: KubeObject, charts: Iterable[str]) -> Problem:
    what = "Git repository" if source.id.kind == "GitRepository" else "bucket"
    where = f"source '{helm.source}'" if helm.source else "its source"
    message = f"{where} is a {what}, so 'version' does not apply"
    alternatives = (
        [f"name a Helm repository to use a chart version ({declared('declared', '', charts)})"] if helm.source else []
    )
    fix = "; ".join(["remove 'version': 'ref' of the source says which revision is taken", *alternatives])
    return Problem(app.origin("helm", "version"), "no-version", message, fix=fix)
