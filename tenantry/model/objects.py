"""Manifests that the platform team writes for the namespaces of tenants and add-ons."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from tenantry.model.scalars import LabelKey, LabelValue, ObjectName
from tenantry.model.strict import Fillable, Model

_API = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?v[0-9]+((alpha|beta)[0-9]+)?$"


class ObjectMetadata(Model):
    owned = {"namespace": "the fleet puts the object into the namespaces that it is declared for"}

    name: Fillable[ObjectName] | None = None
    """The object's name. Default: the key of the entry."""
    labels: dict[LabelKey, Fillable[LabelValue]] | None = None
    """Labels, in addition to Tenantry's own."""
    annotations: dict[LabelKey, str] | None = None
    """Annotations. Those that Tenantry and its tools set themselves are refused."""


class ObjectManifest(Model):
    """A manifest of any kind. All texts can hold placeholders: those of apps, `{namespace}` and `{account}`, which is the name of
    the User whom Flux impersonates for the tenant there.
    """

    model_config = ConfigDict(extra="allow")

    apiVersion: Annotated[str, Field(pattern=_API)]
    """Group and version, such as `external-secrets.io/v1`."""
    kind: Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9]*$")]
    """The kind."""
    metadata: ObjectMetadata | None = None
    """Name, labels and annotations."""


class ClusterObjectMetadata(ObjectMetadata):
    owned = {"namespace": "a cluster-scoped object is in no namespace"}


class ClusterObject(ObjectManifest):
    """A manifest of a cluster-scoped kind. All texts can hold placeholders: those of apps, and `{namespace}`."""

    metadata: ClusterObjectMetadata | None = None
    """Name, labels and annotations."""


def as_written(objects: Mapping[str, ObjectManifest | None]) -> dict[str, dict[str, Any]]:
    """The manifests by name, without those that `null` removes."""
    return {name: manifest.model_dump(exclude_none=True) for name, manifest in objects.items() if manifest is not None}
