"""Rules about objects of any kind: their provider, their namespace, their name, and the values of Secrets."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.kube import names
from tenantry.policy.resource import Resource, mapping
from tenantry.policy.rule import Violation

PROVIDER = "management"
"""The name of the fleet's provider, in every stack; with several management clusters, `management/CLUSTER` for each."""
_NAMESPACED = ("", "apps", "autoscaling", "batch", "networking.k8s.io", "policy", "rbac.authorization.k8s.io")
_CLUSTER_WIDE = (
    "ClusterRole",
    "ClusterRoleBinding",
    "IPAddress",
    "IngressClass",
    "Namespace",
    "Node",
    "PersistentVolume",
    "ServiceCIDR",
)
"""The kinds of those groups that have no namespace."""


def objects_use_the_fleets_provider(resource: Resource) -> Iterator[Violation]:
    """Every object uses the fleet's own provider. Another provider reaches a cluster that Flux should manage, or the
    cluster that the user's kubeconfig points to.
    """
    provider = resource.provider.name if resource.provider else ""
    if provider.partition("/")[0] != PROVIDER:
        what = f"provider '{provider}'" if provider else "no provider"
        fix = f"pass the program's provider '{PROVIDER}' in ResourceOptions; what a remote cluster gets, Flux brings there"
        yield Violation(resource, f"{resource} has {what}", fix)


def objects_are_whole(resource: Resource) -> Iterator[Violation]:
    """Every resource is one whole object. The rules cannot see what a Helm release, a patch or a list of Pulumi's own
    changes on the cluster, and these run with the rights of the user who runs Pulumi.
    """
    if not resource.kind or resource.kind != resource.type.rpartition(":")[2]:
        fix = "register the object itself; let Flux install charts (a HelmRelease), and change objects where they are declared"
        yield Violation(resource, f"{resource.type} '{resource.urn.rpartition('::')[2]}' is no whole object", fix)


def objects_stay_out_of_the_default_namespace(resource: Resource) -> Iterator[Violation]:
    """Every namespaced object names its namespace, and that is not 'default'. Nobody owns 'default', so no quota,
    policy or limit of a tenant applies there.
    """
    if resource.namespace == "default" or (not resource.namespace and _is_namespaced(resource)):
        what = "lies in namespace 'default'" if resource.namespace else "names no namespace"
        yield Violation(resource, f"{resource} {what}", "set metadata.namespace to the tenant's or the platform's")


def names_are_short_enough(resource: Resource) -> Iterator[Violation]:
    """Names fit where they are copied to. Flux turns the names of Kustomizations and HelmReleases into labels (63
    characters), and Helm accepts 53 for a release.
    """
    if resource.is_reconciler or resource.kind == "Namespace":
        yield from _too_long(resource, "its name", resource.name, names.MAX_LABEL)
    if resource.is_release:
        yield from _too_long(resource, "spec.releaseName", str(resource.spec.get("releaseName", "")), names.MAX_RELEASE)


def _too_long(resource: Resource, what: str, name: str, limit: int) -> Iterator[Violation]:
    if len(name) > limit:
        message = f"{resource}: {what} has {len(name)} characters, at most {limit} are allowed"
        yield Violation(resource, message, "choose a shorter one, or set platform.longNames: shorten")


def _is_namespaced(resource: Resource) -> bool:
    """Whether the kind is known to be namespaced. For other kinds the provider asks the cluster if it can."""
    if not resource.kind:
        return False
    known = resource.group in _NAMESPACED and resource.kind not in _CLUSTER_WIDE
    return known or resource.group.endswith(".toolkit.fluxcd.io")


def secrets_stay_out_of_files(resource: Resource) -> Iterator[Violation]:
    """A stack that writes files contains no values of Secrets. Many people read these files, and most of them are
    committed to Git.
    """
    if resource.kind != "Secret" or resource.group or not (resource.provider and resource.provider.to_files):
        return
    if mapping(resource.props.get("data")) or mapping(resource.props.get("stringData")):
        fix = "leave it out where the target is a directory, and let it be put on the cluster by other means"
        yield Violation(resource, f"the values of {resource} would be written into a file", fix)
