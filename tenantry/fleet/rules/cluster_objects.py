"""Rules about the platform team's manifests outside of namespaces, as they are written; the plan checks their names."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.kube.kinds import group_of, is_built_in, is_cluster_scoped, is_of_flux
from tenantry.messages.errors import Finding
from tenantry.model.objects import ObjectManifest

_ELSEWHERE = {
    "Namespace": "declare it under 'namespaces:' of the tenant",
    "ClusterRole": "declare it under 'clusterRoles:' of the tenant",
    "ClusterRoleBinding": "declare it under 'clusterRoles:' of the tenant",
}
_OF_THE_CLUSTER = ("admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io")


def cluster_objects_are_a_tenants_own(fleet: Fleet) -> Iterator[Finding]:
    """What changes the cluster for all, such as a webhook, belongs to no single tenant."""
    for at, each in walk.cluster_objects(fleet):
        if found := _refused(each):
            code, message, fix = found
            yield Finding((*at, "kind"), code, message, fix=fix)


def _refused(each: ObjectManifest) -> tuple[str, str, str] | None:
    group, kind = group_of(each.apiVersion), each.kind
    if is_of_flux(each.apiVersion):
        return "flux-object", f"a {kind} is an object of Flux, which the fleet makes itself", "declare it under 'apps:'"
    if kind.endswith("List"):
        return "not-single", f"a {kind} holds several objects", "make an entry of each of them"
    if is_built_in(each.apiVersion) and not is_cluster_scoped(each.apiVersion, kind):
        return "namespaced", f"a {kind} is in a namespace", "declare it under 'objects:' of the tenant"
    if kind in _ELSEWHERE and is_cluster_scoped(each.apiVersion, kind):
        return "owned-kind", f"a {kind} of a tenant has a key of its own", _ELSEWHERE[kind]
    if group in _OF_THE_CLUSTER or (group, kind) == ("", "Node"):
        return "of-the-cluster", f"a {kind} is for the whole cluster, not for one tenant", "install it by an add-on"
    return None
