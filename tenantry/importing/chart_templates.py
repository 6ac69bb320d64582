"""Releases with `spec.chart`, a template from which helm-controller makes a HelmChart. Plans have `spec.chartRef` to their own."""

from __future__ import annotations

from typing import Any

from tenantry.kube.objects import Manifest
from tenantry.messages.data import mapping_at

_OF_CHART = (
    "chart",
    "ignoreMissingValuesFiles",
    "interval",
    "reconcileStrategy",
    "sourceRef",
    "valuesFiles",
    "verify",
    "version",
)


def alike(read: Manifest, planned: Manifest, chart: Manifest | None) -> tuple[Manifest, Manifest]:
    """The release as it was read and as it is planned, both with a template, so that their charts can be compared.

    The planned one keeps its `chartRef`, because adoption changes that.
    """
    template = mapping_at(read, "spec", "chart")
    if not template or chart is None:
        return read, planned
    spec = mapping_at(template, "spec")
    interval = read["spec"].get("interval")
    return (
        _with_template(read, {**template, "spec": {"interval": interval, "version": "*", **spec}}),
        _with_template(planned, {**_metadata(template), "spec": _spec_of(chart)}),
    )


def _with_template(release: Manifest, template: dict[str, Any]) -> Manifest:
    return {**release, "spec": {**release["spec"], "chart": template}}


def _spec_of(chart: Manifest) -> dict[str, Any]:
    return {key: value for key, value in chart["spec"].items() if key in _OF_CHART}


def _metadata(template: dict[str, Any]) -> dict[str, Any]:
    """Labels of the generated HelmChart, which goes."""
    return {"metadata": template["metadata"]} if "metadata" in template else {}
