"""Blocks whose keys are Flux's own: `kustomize:` and `helm:`, as written and as merged for one placement."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer, model_validator
from pydantic_core import InitErrorDetails, ValidationError

from tenantry.messages.data import ordered, tree
from tenantry.model.durations import Duration
from tenantry.model.scalars import (
    DirectoryPath,
    LabelKey,
    LabelValue,
    Name,
    ObjectName,
    Refers,
    SourcePath,
    SubstituteValue,
    Text,
)
from tenantry.model.strict import Fillable, Keys, Model, none_or_several

SET_FOR_APPS = {
    "dependsOn": "the fleet sets it from 'dependsOn' of the app",
    "kubeConfig": "the fleet sets it for each cluster the app is placed on",
    "serviceAccountName": "the fleet sets it: apps run as their tenant's service account, add-ons as the platform's",
    "sourceRef": "the fleet sets it from 'source'",
}
"""Keys of Kustomizations and HelmReleases that no author may set, and why."""


@dataclass(frozen=True, slots=True)
class OneKey:
    """Checks a mapping of Flux's keys of which one is given. Keys and values are checked against Flux's schema.

    lifted_by: a key that lifts the choice: beside it any of the others may stand, or none. more: those that do not count.
    """

    keys: tuple[str, ...]
    lifted_by: str
    more: tuple[str, ...] = ()

    def __call__(self, value: dict[str, Any]) -> dict[str, Any]:
        given = [key for key in self.keys if value.get(key) is not None]
        is_known = value.keys() <= {*self.keys, self.lifted_by, *self.more}  # else the unknown key is the mistake
        if is_known and value.get(self.lifted_by) is None and len(given) != 1:
            raise none_or_several(self.keys, given)
        return value


_ORDER = {
    "Kustomization": tree(
        "source path interval retryInterval timeout prune wait force deletionPolicy targetNamespace namePrefix nameSuffix"
        " components images(name newName newTag digest)"
        " patches(patch target(group version kind name namespace labelSelector annotationSelector))"
        " postBuild(substitute substituteFrom(kind name optional) substituteStrategy) commonMetadata"
    ),
    "HelmRelease": tree(
        "source chart version valuesFiles values interval chartInterval timeout releaseName targetNamespace storageNamespace"
        " commonMetadata driftDetection"
    ),
    "GitRepository": tree("url ref(branch tag semver name commit) interval timeout sparseCheckout"),
    "OCIRepository": tree("url ref(tag semver digest semverFilter) interval timeout"),
}
"""The order of keys in objects, whatever their order in the file: what says most comes first. Others follow as they are written."""


class FluxBlock(Model):
    """A block whose keys are those of a Flux kind's spec.

    Fields are the keys that mean more to the fleet than to Flux; all others are Flux's, and checked against its schema by
    `tenantry.fleet.blocks`, so that a new version of Flux brings its keys along.
    """

    model_config = ConfigDict(extra="allow")

    flux_kind: ClassVar[str]
    of_one_app: ClassVar[tuple[str, ...]] = ()
    """Keys that each app says itself: a block for all apps of a tenant has none of them."""
    parts: ClassVar[dict[str, tuple[str, ...]]] = {}
    """Keys that belong to another kind, which the plan makes beside this one."""
    required: ClassVar[tuple[str, ...]] = ()
    """Flux's own keys without which a whole block is refused. Others that Flux requires have defaults, or are fields."""
    defaults: ClassVar[Mapping[str, Any]] = {}
    """Values of Flux's own keys that a whole block has if nobody wrote others."""

    @classmethod
    def order(cls) -> tuple[str, ...]:
        """The keys that come first in objects."""
        return tuple(_ORDER.get(cls.flux_kind, ()))

    @model_serializer(mode="wrap")
    def _ordered(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        in_order: dict[str, Any] = ordered(dump(self), _ORDER.get(self.flux_kind, {}))
        return in_order

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

    @classmethod
    def choices(cls) -> dict[str, OneKey]:
        """The fields that are mappings of Flux's keys, of which one is given."""
        noted = (
            (key, getattr(mark, "func", None)) for key, field in cls.model_fields.items() for mark in field.metadata
        )
        return {key: check for key, check in noted if isinstance(check, OneKey)}

    @classmethod
    def completed(cls, written: dict[str, Any]) -> dict[str, Any]:
        """What was written, with what the fleet adds."""
        return {**cls.defaults, **written}

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        """Raises: ValidationError: with each of the required keys that is missing."""
        if cls.partial or not isinstance(value, dict):
            return value
        if missing := [key for key in cls.required if value.get(key) is None]:
            details = [InitErrorDetails(type="missing", loc=(key,), input=value) for key in missing]
            raise ValidationError.from_exception_data(cls.__name__, details)
        return cls.completed(value)


def _given(entries: dict[str, str | None]) -> dict[str, str | None]:
    return {key: value for key, value in entries.items() if value is not None}


class Metadata(Model):
    """Labels and annotations: of a manifest, of an object on the management cluster, or of all objects of an app. `null` removes
    one that a less specific layer sets.
    """

    owned = {
        "namespace": "an object is in the namespaces for which it is declared, one under 'clusterObjects:' in none"
    }

    name: Fillable[ObjectName] | None = None
    """The name of the object of a manifest. Default: the key of the entry."""
    labels: Annotated[dict[LabelKey, Fillable[LabelValue] | None], AfterValidator(_given)] | None = None
    """Labels. Those that Tenantry, Flux, Helm and Kubernetes set are refused."""
    annotations: Annotated[dict[LabelKey, str | None], AfterValidator(_given)] | None = None
    """Annotations. Those that Tenantry, Flux, Pulumi and other tools set themselves are refused."""


NAMELESS = Keys(without=("name",))
"""Marks the metadata of what has its name from elsewhere."""


_NAMESPACES = "the fleet sets it: a tenant's namespaces are its baseline's, an add-on's are made when needed"


class HelmPatch(FluxBlock):
    """The HelmRelease of an app. It takes all fields of Flux's spec; in an override `null` removes a value.

    `interval` and `timeout` are those of the tenant, unless the block says otherwise. A failed install or upgrade is retried
    every `retryInterval` of the tenant, unless its `strategy` or `remediation` says otherwise. Flux corrects drift, but leaves
    alone what autoscalers and, of add-ons, injectors of CA bundles write, unless `driftDetection` says otherwise. An add-on's
    upgrade replaces the chart's CRDs, unless `upgrade.crds` says otherwise or `install` skips them.
    """

    flux_kind = "HelmRelease"
    owned = {
        **SET_FOR_APPS,
        "chartRef": "the fleet sets it from 'source', 'chart' and 'version'",
        "install.createNamespace": _NAMESPACES,
    }
    parts = {"HelmChart": ("ignoreMissingValuesFiles", "reconcileStrategy", "verify")}
    of_one_app = (
        *("chart", "chartInterval", "releaseName", "source", "storageNamespace", "targetNamespace", "valuesFiles"),
        *("version", *parts["HelmChart"]),
    )

    source: Annotated[str, Refers("sources")] | None = None
    """A source of the tenant. An add-on names one of `platform.sources`, or omits this key and has a `source` of its own."""
    chart: Text | None = None
    """The chart's name in a Helm repository, or its directory in a Git repository."""
    version: Text | None = None
    """A version or a range, for example `1.2.x`. Required with a Helm repository, refused with a Git repository."""
    valuesFiles: list[SourcePath] | None = None
    """Values files in the source; later files take precedence. Default: the chart's own. `values` takes precedence
    over them."""
    values: dict[str, Any] | None = None
    """The chart's values. Placeholders are filled in; `null` removes a value of a less specific layer."""
    chartInterval: Fillable[Duration] | None = None
    """How often Flux looks for a new version of the chart, or for a new revision of its source. Default: the tenant's `interval`.
    An app that sets it has a HelmChart of its own; others share one for each source, chart and version."""
    releaseName: Fillable[Name] | None = None
    """The name of the Helm release, at most 53 characters. Default: the app's name. A changed name uninstalls the old
    release and installs a new one."""
    targetNamespace: Fillable[Name] | None = None
    """The namespace to install into: one of the tenant's, by key or name. Default: the main one. An add-on may name
    any namespace; it is created if needed."""
    storageNamespace: Fillable[Name] | None = None
    """The namespace in which Helm stores the release: one of the tenant's, by key or name. Default: the main one. Another one
    uninstalls the release and installs a new one."""
    commonMetadata: Annotated[Metadata, NAMELESS] | None = None
    """Labels and annotations for every object."""


class Helm(HelmPatch):
    """A complete `helm:` block of one placement."""

    @classmethod
    def completed(cls, written: dict[str, Any]) -> dict[str, Any]:
        # Flux leaves drift alone unless it is told otherwise; what to ignore does not mean to stop looking.
        drift = written.get("driftDetection") or {}
        detected = {"mode": "enabled", **drift} if isinstance(drift, dict) else drift
        return super().completed({**written, "driftDetection": detected})


class PostBuild(Model):
    """Substitution after building."""

    model_config = ConfigDict(extra="allow")

    part_of: ClassVar[tuple[str, str]] = ("Kustomization", "postBuild")
    """The kind of Flux, and the key of its spec, of which all other keys are."""

    substitute: dict[Annotated[str, Field(pattern=r"^[_A-Za-z][_A-Za-z0-9]*$")], SubstituteValue | None] | None = None
    """Values for `${NAME}` in the built manifests."""


class KustomizePatch(FluxBlock):
    """The Kustomization of an app. It takes all fields of Flux's spec; in an override `null` removes a value.

    `interval`, `retryInterval` and `timeout` are those of the tenant, unless the block says otherwise. `wait` is false with
    `healthChecks`, which Flux would ignore.
    """

    flux_kind = "Kustomization"
    owned = {
        **SET_FOR_APPS,
        "decryption.serviceAccountName": "Flux would use the rights of any service account beside the clusters' keys",
    }
    of_one_app = ("components", "namePrefix", "nameSuffix", "path", "source", "targetNamespace")

    source: Annotated[str, Refers("sources")] | None = None
    """A source of the tenant. An add-on names one of `platform.sources`, or omits this key and has a `source` of its own."""
    path: DirectoryPath | None = None
    """The directory in the source to build."""
    targetNamespace: Fillable[Name] | None = None
    """The namespace of namespaced objects: one of the tenant's, by key or name. Default: the main one; for an add-on,
    the one in the manifests."""
    postBuild: PostBuild | None = None
    """Substitution after building."""
    commonMetadata: Annotated[Metadata, NAMELESS] | None = None
    """Labels and annotations for every object."""


class Kustomize(KustomizePatch):
    """A complete `kustomize:` block of one placement."""

    defaults = {"prune": True, "wait": True, "deletionPolicy": "WaitForTermination"}

    path: DirectoryPath = "./"

    @classmethod
    def completed(cls, written: dict[str, Any]) -> dict[str, Any]:
        # Flux ignores `healthChecks` where `wait` is true, so they are not ignored for a `wait` that nobody wrote.
        checks = {"wait": False} if written.get("healthChecks") else {}
        return super().completed(checks | written)
