"""Kinds of Kubernetes' own: which are cluster-scoped, and which groups every cluster serves."""

from __future__ import annotations

_CLUSTER_SCOPED = {
    "": ("ComponentStatus", "Namespace", "Node", "PersistentVolume"),
    "admissionregistration.k8s.io": (
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    ),
    "apiextensions.k8s.io": ("CustomResourceDefinition",),
    "apiregistration.k8s.io": ("APIService",),
    "certificates.k8s.io": ("CertificateSigningRequest", "ClusterTrustBundle"),
    "flowcontrol.apiserver.k8s.io": ("FlowSchema", "PriorityLevelConfiguration"),
    "networking.k8s.io": ("IPAddress", "IngressClass", "ServiceCIDR"),
    "node.k8s.io": ("RuntimeClass",),
    "rbac.authorization.k8s.io": ("ClusterRole", "ClusterRoleBinding"),
    "resource.k8s.io": ("DeviceClass", "DeviceTaintRule", "ResourceSlice"),
    "scheduling.k8s.io": ("PriorityClass",),
    "storage.k8s.io": ("CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"),
}
"""By group. Source: `kubectl api-resources --namespaced=false`, Kubernetes 1.34."""
_GROUPS = frozenset(
    {
        *_CLUSTER_SCOPED,
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
    return kind in _CLUSTER_SCOPED.get(group_of(api_version), ())


def holds_data(group: str, kind: str) -> bool:
    """Whether data can be lost with an object of the kind."""
    return kind in _HOLD_DATA.get(group, ())


def is_of_flux(api_version: str) -> bool:
    return group_of(api_version).endswith(".fluxcd.io")
