"""Rules about workload identity. Without them, Flux would find each mistake only when it requests a token."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenantry.addresses import BadAddress, read
from tenantry.fleet.fleet import Fleet
from tenantry.messages.errors import Path, Problem
from tenantry.messages.redact import shorten
from tenantry.model import ConfigMap

_CLUSTER = {
    "aws": (re.compile(r"arn:aws[\w-]*:eks:[^:]+:[0-9]+:cluster/.+"), "arn:aws:eks:REGION:ACCOUNT:cluster/NAME"),
    "azure": (
        re.compile(
            r"/subscriptions/[^/]{36}/resourceGroups/[^/]+/providers/Microsoft\.ContainerService/managedClusters/[^/]+",
            re.IGNORECASE,
        ),
        "/subscriptions/ID/resourceGroups/GROUP/providers/Microsoft.ContainerService/managedClusters/NAME",
    ),
    "gcp": (
        re.compile(r"projects/[^/]+/locations/[^/]+/clusters/[^/]+"),
        "projects/PROJECT/locations/LOCATION/clusters/NAME",
    ),
}
"""Provider -> how it names clusters, and that form in words. Source: fluxcd/pkg/auth, each provider's options.go."""

_CERTIFICATES = re.compile(r"\s*(-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*)+")


def workload_identities_say_what_their_provider_needs(fleet: Fleet) -> Iterator[Problem]:
    for at, name, config in _config_maps(fleet):
        given = config.model_dump(exclude_none=True, exclude={"name", "namespace", "provider"})
        if config.provider is None and given:
            yield Problem(
                at,
                "no-provider",
                f"cluster '{name}' sets {', '.join(map(repr, given))} without 'provider'",
                ("without 'provider' Tenantry expects an existing ConfigMap, which holds these values itself",),
                fix="set 'provider:' to have Tenantry create the ConfigMap, or remove the other keys",
            )
        elif lacking := _lacking(config):
            yield Problem(
                at, "missing-key", f"provider '{config.provider}' of cluster '{name}' needs {lacking}", fix="add it"
            )


def workload_identities_are_addressed_as_flux_wants(fleet: Fleet) -> Iterator[Problem]:
    for at, name, config in _config_maps(fleet):
        yield from _cluster_problem(at, name, config)
        if config.address and not _is_address(config.address):
            yield Problem(
                (*at, "address"),
                "bad-url",
                f"the address of cluster '{name}' is not one that Flux accepts",
                ("expected: https://HOST or https://HOST:PORT, without a path",),
            )
        if config.certificateAuthority and not _CERTIFICATES.fullmatch(config.certificateAuthority):
            yield Problem(
                (*at, "certificateAuthority"),
                "bad-certificate",
                f"the certificate authority of cluster '{name}' is not valid",
                ("expected: certificates in PEM, from '-----BEGIN CERTIFICATE-----' on, and nothing else",),
                fix="write it as a block: 'certificateAuthority: |'",
            )


def workload_identities_are_not_the_platforms(fleet: Fleet) -> Iterator[Problem]:
    """A stack creates the platform's account, and would remove the cloud's annotations from one of the same name."""
    platforms = {
        (cluster.kubeconfig.resolved.namespace, cluster.platformServiceAccount)
        for cluster in fleet.clusters.values()
        if cluster.kubeconfig
    }
    for at, name, config in _config_maps(fleet):
        if (config.namespace, config.serviceAccountName) in platforms:
            yield Problem(
                (*at, "serviceAccountName"),
                "shared-account",
                f"cluster '{name}' is reached with the token of '{config.serviceAccountName}', which is the platform's own account",
                ("Flux gets the token as one account, and acts as the other on the cluster",),
                fix="name another service account, or set another 'platformServiceAccount'",
            )


def _config_maps(fleet: Fleet) -> Iterator[tuple[Path, str, ConfigMap]]:
    for name, cluster in fleet.clusters.items():
        if cluster.kubeconfig and cluster.kubeconfig.configMap:
            yield ("clusters", name, "kubeconfig", "configMap"), name, cluster.kubeconfig.configMap


def _lacking(config: ConfigMap) -> str | None:
    """The settings that Flux needs in addition, in words."""
    match config.provider:
        case "generic":
            return None if config.address else "'address'"
        case "aws":
            return None if config.cluster else "'cluster', which also gives the region"
        case "azure" | "gcp":
            known = config.cluster or (config.address and config.certificateAuthority)
            return None if known else "'cluster', or both 'address' and 'certificateAuthority'"
        case None:
            return None


def _cluster_problem(at: Path, name: str, config: ConfigMap) -> Iterator[Problem]:
    if config.cluster is None or config.provider is None:
        return
    if config.provider == "generic":
        message = f"cluster '{name}' has provider 'generic', which takes no cluster name"
        yield Problem((*at, "cluster"), "unused-key", message, fix="remove 'cluster', and set 'address'")
        return
    pattern, form = _CLUSTER[config.provider]
    if not pattern.fullmatch(config.cluster):
        message = f"'{shorten(config.cluster)}' is not how provider '{config.provider}' names a cluster"
        yield Problem((*at, "cluster"), "bad-value", message, (f"expected: {form}",))


def _is_address(address: str) -> bool:
    """Whether Flux would talk to exactly what is written: it forgets paths, and takes no other protocol.

    Who is told so does not see the address again: it could hold a password.
    """
    try:
        found = read(address)
    except BadAddress:
        return False
    return found.scheme == "https" and not (found.user or found.path or found.query)
