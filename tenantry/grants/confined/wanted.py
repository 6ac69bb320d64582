"""Which values of a tenant's objects the main file alone decides, or the fleet for every tenant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tenantry.fleet.fleet import platform_account
from tenantry.grants.confined.place import ACCOUNT, APP, CLUSTER, ENVIRONMENT, MANAGED, ROLE, SOURCE, STATE, TENANT
from tenantry.kube.names import MAX_RELEASE, shortened
from tenantry.kube.objects import Manifest
from tenantry.messages.data import mapping_at

if TYPE_CHECKING:
    from tenantry.grants.confined.escapes import Object

Values = tuple[Any, ...]
_SHARD, _PRUNE, _PODS = "sharding.fluxcd.io/key", "kustomize.toolkit.fluxcd.io/prune", "pod-security.kubernetes.io/"
_ANNOTATIONS: dict[str, Values] = {
    "pulumi.com/deletionPropagationPolicy": ("background",),
    "pulumi.com/patchFieldManager": ("tenantry",),
    "pulumi.com/patchForce": ("true",),
    "helm.sh/resource-policy": ("keep",),
    _PRUNE: ("disabled",),
}
"""Those with an effect on Pulumi, Helm or Flux."""


def values(object: Object) -> Iterator[Values]:
    """Paths of fields, each with the values that the object may have there; None: it may lack the field."""
    place, kind = object.place, object.kind
    settings = place.settings(object.namespace or object.name)
    match kind:
        case "Baseline":
            release, is_active = f"{place.namespace}-baseline", place.fleet.clusters[place.cluster].state == "active"
            yield ("spec", "kubeConfig"), place.kubeconfig_reference
            yield ("spec", "serviceAccountName"), platform_account(place.fleet, place.environment, place.cluster)
            yield ("spec", "releaseName"), release, shortened(release, MAX_RELEASE)
            yield from ((("spec", key), place.platform.namespace) for key in ("targetNamespace", "storageNamespace"))
            yield ("spec", "driftDetection"), {"mode": "enabled"}
            yield ("spec", "suspend"), None, False, not is_active
            for action in ("install", "upgrade"):
                yield ("spec", action, "disableTakeOwnership"), True, *((None, False) if place.declared.adopt else ())
        case "Kustomization" | "HelmRelease":
            yield ("spec", "kubeConfig"), place.kubeconfig_reference
            yield ("spec", "serviceAccountName"), place.account
        case "Namespace":
            yield from ((("metadata", "labels", key), *accepted) for key, accepted in _labels(object).items())
        case "ServiceAccount":
            own = place.declared.serviceAccount if not object.is_beside else None
            yield ("metadata", "name"), place.namespace, *(() if object.is_beside else (place.frame.account,))
            yield ("automountServiceAccountToken",), None, False
            yield ("imagePullSecrets",), None, [{"name": name} for name in own.imagePullSecrets] if own else []
        case "ResourceQuota" if not place.grants("quota"):
            yield ("spec", "hard"), settings.quota
        case "LimitRange" if not place.grants("limits"):
            yield ("spec", "limits"), [{"type": "Container", **settings.limits}]
        case "NetworkPolicy" if not place.grants("network"):
            yield ("metadata", "name"), "tenantry-isolated"
            yield ("spec",), *_policies(settings.network, place.tenant, place.environment)
        case "RoleBinding":
            roles = {settings.role, *(owner.role for owner in settings.owners)}
            if place.grants("owners"):
                roles |= {"view", "edit"} if settings.role in ("edit", "admin") else {"view"}
            yield ("roleRef", "kind"), "ClusterRole"
            yield ("roleRef", "name"), *(roles if place.declared.clusterAdmin else roles - {"cluster-admin"})
        case "ClusterRole" | "ClusterRoleBinding":
            rights = {f"tenantry.{place.namespace}.{key}": right for key, right in place.declared.clusterRoles.items()}
            right = rights.get(object.name)
            yield ("metadata", "name"), *rights
            if kind == "ClusterRole":
                yield ("rules",), [rule.model_dump(exclude_none=True) for rule in (right and right.rules) or ()]
            else:
                yield ("roleRef", "kind"), "ClusterRole"
                yield ("roleRef", "name"), (right and right.role) or object.name
        case "Secret":
            yield ("type",), None, "Opaque", "kubernetes.io/dockerconfigjson"


def metadata(object: Object, kind: str) -> Mapping[str, Values | None]:
    """The labels or annotations that the object may have, each with its values; None: any value."""
    place, is_namespace = object.place, object.kind == "Namespace"
    accepted: dict[str, Values | None] = {}
    if object.declared is not None:
        accepted = {key: (value,) for key, value in mapping_at(object.declared, "metadata", kind).items()}
    elif is_namespace:
        accepted = {key: (value,) for key, value in getattr(place.settings(object.name), kind).items()}
    elif object.kind == "ServiceAccount" and kind == "annotations" and place.declared.serviceAccount:
        accepted = dict.fromkeys(place.declared.serviceAccount.annotations or ())
    elif object.is_flux:
        accepted = {key: None for group, key in place.frame.metadata if group == kind}
    # What has an effect on the fleet, Pulumi, Flux or pod security comes from the fleet alone.
    for key in list(accepted):
        if key.startswith(("tenantry/", "pulumi.com/", _PODS)) or key.partition("/")[0].endswith("fluxcd.io"):
            del accepted[key]
    if kind == "annotations":
        accepted |= {**_ANNOTATIONS, **({"pulumi.com/skipAwait": ("true",)} if object.declared is not None else {})}
        return {**accepted, "tenantry/leaving": None} if is_namespace else accepted
    accepted |= {**_labels(object), STATE: None if object.app else (*place.states(object.namespace or object.name),)}
    if not is_namespace:
        accepted |= {APP: None, SOURCE: None}
    if object.is_flux:
        names = [place.cluster] if CLUSTER in object.labels else list(place.fleet.clusters)
        accepted[_SHARD] = tuple(place.fleet.clusters[name].shard for name in names)
    return accepted


def _labels(object: Object) -> dict[str, Values]:
    """The fleet's labels; all that a namespace has to have."""
    place, kind = object.place, object.kind
    labels: dict[str, Values] = {
        MANAGED: ("tenantry", None),
        CLUSTER: (place.cluster, None),
        TENANT: (place.tenant,),
        ENVIRONMENT: (place.environment,),
        _PRUNE: ("disabled",),
    }
    if kind in ("ConfigMap", "Secret"):
        labels["reconcile.fluxcd.io/watch"] = ("Enabled",)
    elif kind == "Namespace":
        labels[ROLE] = ("tenant",)
        if place.kubeconfig is None and place.frame.account != place.tenant:
            labels[ACCOUNT] = (place.frame.account,)
        pods = place.settings(object.name).podSecurity
        for mode in ("enforce", "audit", "warn"):
            if level := getattr(pods, mode):
                labels[_PODS + mode] = (level,)
                if pods.version:
                    labels[f"{_PODS}{mode}-version"] = (pods.version,)
    return labels


def _policies(network: str, tenant: str, environment: str) -> Iterator[Manifest]:
    """The specs that isolate a namespace: from all but its own pods, or from all but those of the tenant's namespaces."""
    whole = {"namespaceSelector": {"matchLabels": {TENANT: tenant, ENVIRONMENT: environment}}}
    no_tenants = {"key": TENANT, "operator": "DoesNotExist"}
    platform = {"namespaceSelector": {"matchExpressions": [no_tenants]}}
    addons = {"namespaceSelector": {"matchExpressions": [{"key": APP, "operator": "Exists"}, no_tenants]}}
    names = [platform, {"ipBlock": {"cidr": "169.254.20.10/32"}}]
    private = [{"ipBlock": {"cidr": cidr}} for cidr in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")]
    ports = [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]
    pods: Manifest = {"podSelector": {}}
    for own in ([pods], [pods, whole]):
        if network == "isolated":
            peers = [pods, platform, *own[1:]]
            yield {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": peers}]}
        elif network == "strict":
            out: list[Manifest] = [{"to": own}, {"to": names, "ports": ports}]
            # API servers at private addresses, and not what tells machines who they are.
            local = {"ipBlock": {"cidr": "fc00::/7", "except": ["fd00:ec2::254/128", "fd20:ce::254/128"]}}
            out.append({"to": [*private, local], "ports": [{"protocol": "TCP", "port": 6443}]})
            into = [{"from": [*own, addons]}]
            yield {"podSelector": {}, "policyTypes": ["Ingress", "Egress"], "ingress": into, "egress": out}
