"""Rules about the platform team's manifests and the metadata of Flux objects, as written. The plan checks their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.flux.kinds import kind_problem
from tenantry.grants.grants import filled_tenants, is_filled
from tenantry.kube.names import OWNED_ANNOTATIONS
from tenantry.kube.objects import group_of, is_built_in, is_cluster_scoped, is_of_flux
from tenantry.messages.errors import Path, Problem
from tenantry.model.flux import Metadata
from tenantry.model.tenancy import ObjectManifest

_Refusal: TypeAlias = tuple[str, str, str] | None
"""The code, the message and the fix of a finding about the kind of a manifest."""


def objects_are_of_kinds_for_namespaces(fleet: Fleet) -> Iterator[Problem]:
    for at, manifest in walk.objects(fleet):
        refusal: _Refusal = None
        if is_cluster_scoped(manifest.apiVersion, manifest.kind):
            fix = "install it by an add-on's chart or manifests"
            if at[0] in ("defaults", "templates", "tenants"):
                fix = "declare it under 'clusterObjects:' of a tenant"
            refusal = "cluster-scoped", f"a {manifest.kind} is in no namespace", fix
        yield from _of_kind(at, manifest, refusal)


def _of_kind(at: Path, manifest: ObjectManifest, refusal: _Refusal) -> Iterator[Problem]:
    """An object of Flux's would act without the checks of apps; a list would hide what is in it.

    A version that Kubernetes has removed, or a kind that it never had, would fail every run.
    """
    if is_of_flux(manifest.apiVersion):
        message = f"a {manifest.kind} is an object of Flux, which the fleet makes itself"
        refusal = "flux-object", message, "declare it under 'apps:' or 'addons:', 'sources:' or 'alerts:'"
    elif manifest.kind.endswith("List"):
        refusal = "not-single", f"a {manifest.kind} holds several objects", "make an entry of each of them"
    if refusal:
        code, message, fix = refusal
        yield Problem((*at, "kind"), code, message, fix=fix)
    elif misread := kind_problem(manifest.apiVersion, manifest.kind):
        key, problem = misread
        yield Problem((*at, key), problem.code, problem.message, fix=problem.fix)


def objects_hold_no_values_of_secrets(fleet: Fleet) -> Iterator[Problem]:
    for at, manifest in walk.objects(fleet):
        for key in ("data", "stringData"):
            if (manifest.apiVersion, manifest.kind) == ("v1", "Secret") and (manifest.model_extra or {}).get(key):
                yield Problem(
                    (*at, key),
                    "secret-values",
                    "a Secret would hold values that everybody who reads the file can see",
                    fix="declare 'credentials:' instead, or an ExternalSecret or SealedSecret",
                    at_key=True,
                )


_ELSEWHERE = {
    "Namespace": "declare it under 'namespaces:' of the tenant",
    "ClusterRole": "declare it under 'clusterRoles:' of the tenant",
    "ClusterRoleBinding": "declare it under 'clusterRoles:' of the tenant",
}
_OF_THE_CLUSTER = ("admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io")


def cluster_objects_are_a_tenants_own(fleet: Fleet) -> Iterator[Problem]:
    """What changes the cluster for all, such as a webhook, belongs to no single tenant."""
    for at, manifest in walk.cluster_objects(fleet):
        group, kind = group_of(manifest.apiVersion), manifest.kind
        refusal: _Refusal = None
        if is_built_in(manifest.apiVersion) and not is_cluster_scoped(manifest.apiVersion, kind):
            refusal = "namespaced", f"a {kind} is in a namespace", "declare it under 'objects:' of the tenant"
        elif kind in _ELSEWHERE and is_cluster_scoped(manifest.apiVersion, kind):
            refusal = "owned-kind", f"a {kind} of a tenant has a key of its own", _ELSEWHERE[kind]
        elif group in _OF_THE_CLUSTER or (group, kind) == ("", "Node"):
            message = f"a {kind} is for the whole cluster, not for one tenant"
            refusal = "of-the-cluster", message, "install it by an add-on"
        yield from _of_kind(at, manifest, refusal)


_SHARD = "sharding.fluxcd.io/key"


def metadata_leaves_the_fleets_alone(fleet: Fleet) -> Iterator[Problem]:
    for at, metadata in _metadata(fleet):
        for kind, key in _keys(metadata):
            if key.startswith(OWNED_ANNOTATIONS) or key.partition("/")[0].endswith("fluxcd.io"):
                fix = "set 'shard:' of the cluster instead" if key == _SHARD else "remove it"
                message = f"{kind[:-1]} '{key}' of Flux objects is reserved for Tenantry, Flux and their tools"
                yield Problem((*at, kind, key), f"owned-{kind[:-1]}", message, fix=fix, at_key=True)


def included_files_set_no_metadata(fleet: Fleet) -> Iterator[Problem]:
    """Labels and annotations of Flux objects say things to other programs of the management cluster."""
    tenants = {tenant for tenant, _ in filled_tenants(fleet)}
    for at, metadata in _metadata(fleet):
        for kind, key in _keys(metadata) if at[0] == "tenants" and at[1] in tenants else ():
            if is_filled(fleet, (*at, kind, key)):
                message = f"{kind[:-1]} '{key}' of Flux objects is not for the file of tenant '{at[1]}'"
                fix = f"remove it, or ask the platform team to set it in {fleet.source.file}"
                yield Problem((*at, kind, key), "not-granted", message, fix=fix, at_key=True)


def _metadata(fleet: Fleet) -> Iterator[tuple[Path, Metadata]]:
    """Wherever the file says something of the metadata of Flux objects."""
    for app_at, _, _, app in walk.apps(fleet):
        levels = (
            ((*app_at,), app.metadata),
            *((path, manifest.metadata) for path, manifest in walk.app_patches(fleet, app_at, app)),
        )
        yield from (((*path, "metadata"), metadata) for path, metadata in levels if metadata)
    for source_at, source in walk.sources(fleet):
        parts = (
            (source_at, source.metadata),
            *((p, manifest.metadata) for p, manifest in walk.source_patches(fleet, source_at)),
        )
        yield from (((*path, "metadata"), metadata) for path, metadata in parts if metadata)


def _keys(metadata: Metadata) -> Iterator[tuple[str, str]]:
    yield from (("labels", key) for key in metadata.labels or {})
    yield from (("annotations", key) for key in metadata.annotations or {})
