"""The kinds that a cluster serves without any definition, and those of Flux, each with its group and version."""

from __future__ import annotations

from tenantry.kube.objects import group_of, is_built_in, is_cluster_scoped
from tenantry.messages.text import closest

_NAMESPACED = {
    "v1": (
        *("Binding", "ConfigMap", "Endpoints", "Event", "LimitRange", "PersistentVolumeClaim", "Pod", "PodTemplate"),
        *("ReplicationController", "ResourceQuota", "Secret", "Service", "ServiceAccount"),
    ),
    "apps/v1": ("ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    "autoscaling/v2": ("HorizontalPodAutoscaler",),
    "batch/v1": ("CronJob", "Job"),
    "coordination.k8s.io/v1": ("Lease",),
    "discovery.k8s.io/v1": ("EndpointSlice",),
    "networking.k8s.io/v1": ("Ingress", "NetworkPolicy"),
    "policy/v1": ("PodDisruptionBudget",),
    "rbac.authorization.k8s.io/v1": ("Role", "RoleBinding"),
    "storage.k8s.io/v1": ("CSIStorageCapacity",),
}
_CLUSTER_SCOPED = {
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
_FLUX = {
    "helm.toolkit.fluxcd.io/v2": ("HelmRelease",),
    "image.toolkit.fluxcd.io/v1": ("ImagePolicy", "ImageRepository", "ImageUpdateAutomation"),
    "kustomize.toolkit.fluxcd.io/v1": ("Kustomization",),
    "notification.toolkit.fluxcd.io/v1": ("Receiver",),
    "notification.toolkit.fluxcd.io/v1beta3": ("Alert", "Provider"),
    "source.toolkit.fluxcd.io/v1": (
        *("Bucket", "ExternalArtifact", "GitRepository", "HelmChart", "HelmRepository", "OCIRepository"),
    ),
}
"""Source: the definitions of Flux 2.9, which serve one version of each kind."""
API_OF = {kind: api for part in (_NAMESPACED, _CLUSTER_SCOPED, _FLUX) for api, kinds in part.items() for kind in kinds}
"""Each kind with the group and version to write for it."""
_ALSO = {("autoscaling/v1", "HorizontalPodAutoscaler"), ("events.k8s.io/v1", "Event")}
_OF_FLUX = frozenset(group_of(api) for api in _FLUX)
OLD_GROUPS = frozenset({"", "apps", "autoscaling", "batch", "extensions", "policy"})
"""The groups without a dot: no definition can add one, and these get no more kinds."""
_SHORT = {
    **{
        "deploy": "Deployment",
        "sts": "StatefulSet",
        "ds": "DaemonSet",
        "rs": "ReplicaSet",
        "po": "Pod",
        "svc": "Service",
    },
    **{
        "cm": "ConfigMap",
        "pvc": "PersistentVolumeClaim",
        "pv": "PersistentVolume",
        "ns": "Namespace",
        "sa": "ServiceAccount",
    },
    **{
        "ing": "Ingress",
        "hpa": "HorizontalPodAutoscaler",
        "cj": "CronJob",
        "pdb": "PodDisruptionBudget",
        "netpol": "NetworkPolicy",
    },
    **{"crd": "CustomResourceDefinition", "hr": "HelmRelease", "ks": "Kustomization", "gitrepo": "GitRepository"},
}
"""The short names of kubectl."""
_BY_NAME = {
    **_SHORT,
    **{
        plural: kind
        for kind in API_OF
        for plural in (kind.lower(), f"{kind.lower()}s", f"{kind.lower()}es", f"{kind.lower()[:-1]}ies")
    },
}


def kind_named(name: str) -> str:
    """The kind that kubectl finds under a name such as `deployments.apps`, `Pods` or `sts`; "" if it is none of these."""
    return _BY_NAME.get(name.partition(".")[0].lower(), "")


def kinds_of(api_version: str) -> list[str]:
    """The kinds that are known in the group of an API version."""
    return [kind for kind, api in API_OF.items() if group_of(api) == group_of(api_version)]


def is_served(api_version: str, kind: str) -> bool:
    """Whether a cluster can serve the kind: of groups that definitions add, and of Kubernetes' newer kinds, all can be."""
    if API_OF.get(kind) == api_version or (api_version, kind) in _ALSO:
        return True
    group = group_of(api_version)
    if group in _OF_FLUX or group in OLD_GROUPS or "." not in group:
        return False
    if is_cluster_scoped(api_version, kind) and kind not in API_OF:  # one of the newer kinds, in several versions
        return True
    return not is_built_in(api_version) or not (kind in API_OF or closest(kind, kinds_of(api_version)))


def is_namespaced(api_version: str, kind: str) -> bool:
    """Whether the kind is Kubernetes' or Flux's own and is in namespaces; of others only their definition says it."""
    api = API_OF.get(kind, "")
    return bool(api) and group_of(api) == group_of(api_version) and not is_cluster_scoped(api, kind)
