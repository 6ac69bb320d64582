"""Blocks whose keys are Flux's own."""

from typing import Any, ClassVar

from pydantic import ConfigDict

from tenantry.model.fillable import Fillable
from tenantry.model.scalars import LabelKey, LabelValue
from tenantry.model.strict import Model

SET_FOR_APPS = {
    "dependsOn": "the fleet sets it from 'dependsOn' of the app",
    "kubeConfig": "the fleet sets it for each cluster the app is placed on",
    "serviceAccountName": "the fleet sets it: apps run as their tenant's service account, add-ons as the platform's",
    "sourceRef": "the fleet sets it from 'source'",
}
"""Keys of Kustomizations and HelmReleases that no author may set, and why."""


class FluxBlock(Model):
    """A block whose keys are those of a Flux kind's spec.

    Fields are the keys that mean more to the fleet than to Flux; all others are Flux's, and checked against its schema by
    `tenantry.fleet.blocks`, so that a new version of Flux brings its keys along.
    """

    model_config = ConfigDict(extra="allow")

    flux_kind: ClassVar[str]
    parts: ClassVar[dict[str, tuple[str, ...]]] = {}
    """Keys that belong to another kind, which the plan makes beside this one."""

    @property
    def flux(self) -> dict[str, Any]:
        """What was written of Flux's own keys."""
        return {key: value for key, value in self._extra.items() if key not in self.foreign_keys()}

    def part(self, kind: str) -> dict[str, Any]:
        """What was written of another kind's keys."""
        return {key: self._extra[key] for key in self.parts[kind] if key in self._extra}

    @property
    def _extra(self) -> dict[str, Any]:
        return self.model_extra or {}

    @classmethod
    def foreign_keys(cls) -> set[str]:
        """All keys that belong to other kinds."""
        return {key for keys in cls.parts.values() for key in keys}


class CommonMetadata(Model):
    labels: dict[LabelKey, Fillable[LabelValue] | None] | None = None
    """Labels for every object of the app."""
    annotations: dict[LabelKey, str | None] | None = None
    """Annotations for every object of the app."""


class FluxMetadata(Model):
    """Labels and annotations of the Flux object itself, on the management cluster."""

    labels: dict[LabelKey, Fillable[LabelValue] | None] | None = None
    """Labels of the Flux object. Labels that Tenantry, Flux and Helm set themselves are refused."""
    annotations: dict[LabelKey, str | None] | None = None
    """Annotations of the Flux object. Annotations that Tenantry, Flux and Pulumi set themselves are refused."""
