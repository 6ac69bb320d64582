"""`helm:` blocks: `HelmPatch` as written, `Helm` as merged for one placement."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from tenantry.model.fillable import Fillable
from tenantry.model.flux import SET_FOR_APPS, CommonMetadata, FluxBlock
from tenantry.model.scalars import Duration, Name, Refers, SourcePath, Text

_NAMESPACES = "the fleet sets it: a tenant's namespaces are its baseline's, an add-on's are made when needed"
_STORAGE = "the fleet sets it: releases are stored in the namespace they install to"


class HelmPatch(FluxBlock):
    """A `helm:` block as written. Overrides may complete it; `null` removes a value.

    A failed install or upgrade is retried every `retryInterval` of the tenant, unless its `strategy` or
    `remediation` says otherwise.
    """

    flux_kind = "HelmRelease"
    owned = {
        **SET_FOR_APPS,
        "chartRef": "the fleet sets it from 'source', 'chart' and 'version'",
        "install.createNamespace": _NAMESPACES,
        "storageNamespace": _STORAGE,
    }
    parts = {"HelmChart": ("ignoreMissingValuesFiles", "reconcileStrategy", "verify")}

    source: Annotated[str, Refers("sources")] | None = None
    """A source of the tenant. Add-ons have their own source and omit this key."""
    chart: Text | None = None
    """The chart's name in a Helm repository, or its directory in a Git repository."""
    version: Text | None = None
    """A version or a range, for example `1.2.x`. Required with a Helm repository, refused with a Git repository."""
    updates: Text | None = None
    """The range in which `tenantry update` raises an exact `version`, for example `1.x`. Default: versions of the same
    major; of the same minor below 1.0.0. A version that Flux follows by range is not raised."""
    valuesFiles: list[SourcePath] | None = None
    """Values files in the source; later files take precedence. Default: the chart's own. `values` takes precedence
    over them."""
    values: dict[str, Any] | None = None
    """The chart's values. Placeholders are filled in; `null` removes a value of a less specific layer."""
    interval: Fillable[Duration] | None = None
    """How often the release is reconciled. Default: the tenant's `interval`."""
    chartInterval: Fillable[Duration] | None = None
    """How often Flux looks for a new version of the chart, or for a new revision of its source. Default: the tenant's `interval`.
    An app that sets it has a HelmChart of its own; others share one for each source, chart and version."""
    timeout: Fillable[Duration] | None = None
    """How long one Helm action may take. Default: the tenant's `timeout`."""
    releaseName: Fillable[Name] | None = None
    """The name of the Helm release, at most 53 characters. Default: the app's name. A changed name uninstalls the old
    release and installs a new one."""
    targetNamespace: Fillable[Name] | None = None
    """The namespace to install into: one of the tenant's, by key or name. Default: the main one. An add-on may name
    any namespace; it is created if needed."""
    commonMetadata: CommonMetadata | None = None
    """Labels and annotations for every object."""


def _detecting_drift(written: Any) -> Any:
    """Flux leaves drift alone unless it is told otherwise; what to ignore does not mean to stop looking."""
    return {"mode": "enabled", **written} if isinstance(written, dict) else written


class Helm(HelmPatch):
    """A complete `helm:` block of one placement."""

    driftDetection: Annotated[dict[str, Any], BeforeValidator(_detecting_drift)] = {"mode": "enabled"}
