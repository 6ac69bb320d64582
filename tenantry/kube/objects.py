"""Kubernetes objects: their kinds, and a planned object with its identity, its owner and its dependencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeAlias

Manifest: TypeAlias = Mapping[str, Any]
"""A Kubernetes object as plain data, as it would stand in a YAML file."""
REGISTRY_KEY = ".dockerconfigjson"
"""The only key in a Secret with credentials of a registry."""


class ObjectId(NamedTuple):
    """The identity of an object for the API server. namespace: "" for cluster-scoped kinds."""

    api_version: str
    kind: str
    namespace: str
    name: str

    @property
    def full_name(self) -> str:
        """NAMESPACE/NAME, or the name of an object without a namespace."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def logical_name(self) -> str:
        """The name in Pulumi's state; with the type token it is unique, and made of stable keys only."""
        return self.full_name

    def __str__(self) -> str:
        return f"{self.kind} {self.full_name}"


class Owner(NamedTuple):
    """The part of the fleet an object belongs to; components form the same tree.

    ("", "") the fleet, ("", cluster) a cluster, (tenant, "") a tenant, (tenant, cluster) a placement.
    """

    tenant: str = ""
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class SecretValues:
    """The values of the stack's secret config that a Secret gets. A plan contains only their names.

    path:     where they stand: ("credentials", tenant, name) or ("platformCredentials", name).
    keys:     the names of the values there.
    registry: the host they are for, if they become the configuration of a registry's client; else "".
    """

    path: tuple[str, ...]
    keys: tuple[str, ...]
    registry: str = ""


@dataclass(frozen=True, slots=True)
class KubeObject:
    """One object of a plan; immutable, although the manifest's type cannot say so.

    secret: the values of a Secret, which its manifest does not contain; None for all other objects.
    protect: whether Pulumi refuses to delete it.
    retained: whether it stays on the cluster when Pulumi deletes its resource.
    rewritten: fields in which the API server keeps another value than the planned one, whatever is written, as paths from the top:
    Pulumi leaves these alone.
    awaited: whether what depends on it is applied only when it is ready, where Flux itself cannot wait.
    """

    json_keys: ClassVar = ("id",)
    manifest: Manifest
    owner: Owner
    depends_on: tuple[ObjectId, ...] = ()
    secret: SecretValues | None = None
    protect: bool = False
    retained: bool = False
    rewritten: tuple[tuple[str, ...], ...] = ()
    awaited: bool = False

    id: ObjectId = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Plans ask for it a dozen times for each object.
        object.__setattr__(self, "id", object_id(self.manifest))

    @property
    def logical_name(self) -> str:
        return self.id.logical_name


def object_id(manifest: Manifest) -> ObjectId:
    metadata = manifest["metadata"]
    return ObjectId(manifest["apiVersion"], manifest["kind"], metadata.get("namespace", ""), metadata["name"])


def readable_id(manifest: Any) -> ObjectId | None:
    """As `object_id`, for an object that others wrote; None if it is malformed."""
    if not isinstance(manifest, dict) or not isinstance(metadata := manifest.get("metadata"), dict):
        return None
    api_version, kind = manifest.get("apiVersion"), manifest.get("kind")
    namespace, name = metadata.get("namespace") or "", metadata.get("name")
    if isinstance(api_version, str) and isinstance(kind, str) and isinstance(namespace, str) and isinstance(name, str):
        return ObjectId(api_version, kind, namespace, name)
    return None


def marked(
    manifest: Manifest, *, labels: Mapping[str, str] | None = None, annotations: Mapping[str, str] | None = None
) -> Manifest:
    """The manifest with more labels and annotations. Others may have written theirs as `null`."""
    metadata = dict(manifest["metadata"])
    for key, more in (("labels", labels), ("annotations", annotations)):
        if more:
            metadata[key] = {**(metadata.get(key) or {}), **more}
    return {**manifest, "metadata": metadata}


def labels_of(manifest: Manifest) -> Mapping[str, Any]:
    """The labels of an object that others wrote; empty if they are malformed. A value may be."""
    metadata = manifest.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    return labels if isinstance(labels, dict) else {}


CLUSTER_SCOPED = {
    "v1": ("ComponentStatus", "Namespace", "Node", "PersistentVolume"),
    "admissionregistration.k8s.io/v1": ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"),
    "apiextensions.k8s.io/v1": ("CustomResourceDefinition",),
    "apiregistration.k8s.io/v1": ("APIService",),
    "networking.k8s.io/v1": ("IngressClass",),
    "node.k8s.io/v1": ("RuntimeClass",),
    "rbac.authorization.k8s.io/v1": ("ClusterRole", "ClusterRoleBinding"),
    "scheduling.k8s.io/v1": ("PriorityClass",),
    "storage.k8s.io/v1": ("CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"),
}
"""By group and version. Source: `kubectl api-resources --namespaced=false`, Kubernetes 1.34."""
_NEWER = {
    "admissionregistration.k8s.io": (
        *("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"),
        *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
    ),
    "certificates.k8s.io": ("CertificateSigningRequest", "ClusterTrustBundle"),
    "flowcontrol.apiserver.k8s.io": ("FlowSchema", "PriorityLevelConfiguration"),
    "networking.k8s.io": ("IPAddress", "ServiceCIDR"),
    "resource.k8s.io": ("DeviceClass", "DeviceTaintRule", "ResourceSlice"),
    "storage.k8s.io": ("VolumeAttributesClass",),
}
"""By group: the others, which clusters serve in several versions."""
_GROUPS = frozenset(
    {
        *(api.rpartition("/")[0] for api in CLUSTER_SCOPED),
        *_NEWER,
        *("apps", "autoscaling", "batch", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "policy"),
    }
)
_HOLD_DATA = {
    "": ("Namespace", "PersistentVolume", "PersistentVolumeClaim"),
    "apiextensions.k8s.io": ("CustomResourceDefinition",),
}
"""By group. With a Namespace goes everything in it, and with a CustomResourceDefinition every object of its kind."""


def group_of(api_version: str) -> str:
    """The API group without its version; "" for Kubernetes' core."""
    return api_version.rpartition("/")[0]


def is_built_in(api_version: str) -> bool:
    """Whether the kinds of a group are Kubernetes' own, so that a cluster serves them without any definition."""
    return group_of(api_version) in _GROUPS


def is_cluster_scoped(api_version: str, kind: str) -> bool:
    """Whether Kubernetes itself has the kind, outside of namespaces."""
    group = group_of(api_version)
    return kind in _NEWER.get(group, ()) or kind in CLUSTER_SCOPED.get(f"{group}/v1" if group else "v1", ())


def holds_data(group: str, kind: str) -> bool:
    """Whether data can be lost with an object of the kind."""
    return kind in _HOLD_DATA.get(group, ())


def is_of_flux(api_version: str) -> bool:
    return group_of(api_version).endswith(".fluxcd.io")
