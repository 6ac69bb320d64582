"""A Kubernetes object as the engine passes it to a policy, and the questions that rules ask about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

COMPONENTS = (
    "kubernetes:helm.sh/v2:Chart",
    "kubernetes:helm.sh/v3:Chart",
    "kubernetes:helm.sh/v4:Chart",
    "kubernetes:kustomize/",
    "kubernetes:kustomize:",
    "kubernetes:yaml/",
    "kubernetes:yaml:",
)
"""What only groups objects, by the beginnings of their types; the engine shows each of the objects too."""

TENANT = "toolkit.fluxcd.io/tenant"
ROLE = "toolkit.fluxcd.io/role"


@dataclass(frozen=True, slots=True)
class Provider:
    """The provider of an object. to_files: it writes objects into a directory."""

    name: str
    to_files: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    """props: the manifest, of mappings and sequences that need not be dicts and lists. type: Pulumi's token.

    by: the release that installs the object on another cluster; None: Pulumi registers it itself.
    """

    urn: str
    type: str
    props: Mapping[str, Any]
    provider: Provider | None = None
    by: Resource | None = None

    @property
    def is_object(self) -> bool:
        """Whether the resource is an object on a cluster."""
        return self.type.startswith("kubernetes:") and not self.type.startswith(COMPONENTS)

    @property
    def hub(self) -> str:
        """The management cluster that the object is created on; "" in an environment with one alone."""
        source = self.by or self
        return source.provider.name.partition("/")[2] if source.provider else ""

    @property
    def group(self) -> str:
        """The API group without its version; "" for Kubernetes' core."""
        return str(self.props.get("apiVersion", "")).rpartition("/")[0]

    @property
    def kind(self) -> str:
        return str(self.props.get("kind", ""))

    @property
    def name(self) -> str:
        return str(self._metadata.get("name", ""))

    @property
    def namespace(self) -> str:
        """The object's namespace; "" if it has none or names none."""
        return str(self._metadata.get("namespace") or "")

    @property
    def labels(self) -> Mapping[str, Any]:
        return mapping(self._metadata.get("labels"))

    @property
    def tenant(self) -> str:
        """The tenant that the object's label names; "" without the label."""
        return str(self.labels.get(TENANT, ""))

    @property
    def spec(self) -> Mapping[str, Any]:
        return mapping(self.props.get("spec"))

    @property
    def is_kustomization(self) -> bool:
        return (self.group, self.kind) == ("kustomize.toolkit.fluxcd.io", "Kustomization")

    @property
    def is_release(self) -> bool:
        return (self.group, self.kind) == ("helm.toolkit.fluxcd.io", "HelmRelease")

    @property
    def is_reconciler(self) -> bool:
        """Whether Flux applies something for this object by impersonating a service account."""
        return self.is_kustomization or self.is_release

    @property
    def _metadata(self) -> Mapping[str, Any]:
        return mapping(self.props.get("metadata"))

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        text = f"{self.kind} {place}" if self.kind else self.type
        return f"{text} (installed by {self.by})" if self.by else text


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one: each rule checks one thing, and the API server checks types."""
    return value if isinstance(value, Mapping) else {}


def entries(value: object) -> list[Mapping[str, Any]]:
    """The mappings in a list; empty if the value is not a list."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return []
    return [entry for entry in value if isinstance(entry, Mapping)]


def texts(value: object) -> list[str]:
    """The texts in a list; empty if the value is not a list."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        return []
    return [entry for entry in value if isinstance(entry, str)]


def lookup(value: object, path: str) -> list[Mapping[str, Any]]:
    """The mappings at a path such as `chart.spec.sourceRef`; `[]` stands for every entry of a list."""
    found = [mapping(value)]
    for part in path.split("."):
        key = part.removesuffix("[]")
        inner = [each.get(key) for each in found]
        found = [entry for each in inner for entry in (entries(each) if key != part else [mapping(each)])]
    return found


def as_text(value: object) -> Any:
    """Plain data with text for every value, to compare objects with the main file, of which each value is read as text.

    Empty entries are left out. A number is the same in all its forms: the engine passes 10 as 10.0.
    """
    if isinstance(value, Mapping):
        return {key: as_text(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_text(inner) for inner in value]
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return str(int(value)) if isinstance(value, float) and value.is_integer() else text
