"""Rules about what tenants have: names, rights, states, manifests and metadata. The plan checks the names of objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.flux.kinds import kind_problem
from tenantry.grants.grants import is_filled
from tenantry.kube.names import OWNED_ANNOTATIONS, OWNED_LABELS, PLATFORM
from tenantry.kube.objects import group_of, is_built_in, is_cluster_scoped, is_of_flux
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful
from tenantry.model import PlacedSettings
from tenantry.model.flux import Metadata
from tenantry.model.tenancy import OWN_ROLES, ExtraNamespace, ObjectManifest, PolicyRule, ServiceAccount

_BY_SETTING = {
    "pod-security.kubernetes.io/": "set 'podSecurity:' instead",
    "sharding.fluxcd.io/key": "set 'shard:' of the cluster instead",
}


def metadata_leaves_the_fleets_alone(fleet: Fleet) -> Iterator[Problem]:
    """Of namespaces, of accounts and of manifests, and more strictly of objects of Flux."""
    for place, of_flux in _metadata(fleet):
        kind, key = str(place[-2])[:-1], str(place[-1])
        owned = OWNED_LABELS if kind == "label" and not of_flux else OWNED_ANNOTATIONS
        if key.startswith(owned) or (of_flux and key.partition("/")[0].endswith("fluxcd.io")):
            fix = next((fix for prefix, fix in _BY_SETTING.items() if key.startswith(prefix)), "remove it")
            message = f"{kind} '{key}' is reserved for Tenantry, Flux and their tools"
            yield Problem(place, f"owned-{kind}", message, fix=fix, at_key=True)


def included_files_set_no_metadata(fleet: Fleet) -> Iterator[Problem]:
    """Labels and annotations of Flux objects say things to other programs of the management cluster."""
    for place, of_flux in _metadata(fleet):
        if of_flux and is_filled(fleet, place):
            kind = str(place[-2])[:-1]
            message = f"{kind} '{place[-1]}' of Flux objects is not for the file of tenant '{place[1]}'"
            fix = f"remove it, or ask the platform team to set it in {fleet.source.file}"
            yield Problem(place, "not-granted", message, fix=fix, at_key=True)


def _metadata(fleet: Fleet) -> Iterator[tuple[Path, bool]]:
    """The place of each label and annotation that the file gives to objects, and whether these are Flux's own."""
    manifests = {at for at, _ in walk.every(fleet, ObjectManifest)}
    for model in (PlacedSettings, ExtraNamespace, ServiceAccount, Metadata):
        for at, given in walk.every(fleet, model):
            of_flux = model is Metadata and at[:-1] not in manifests
            # What a template says of objects of Flux comes with each tenant. `commonMetadata` is for what an app applies.
            if not of_flux or (at[-1] == "metadata" and at[0] in ("tenants", "platform")):
                for kind in ("labels", "annotations"):
                    yield from (((*at, kind, key), of_flux) for key in getattr(given, kind, None) or {})


def no_tenant_is_named_like_the_platform(fleet: Fleet) -> Iterator[Problem]:
    if PLATFORM in fleet.document.tenants:
        why = "add-ons are called 'platform/<add-on>', as apps of such a tenant would be"
        message = f"a tenant cannot be called '{PLATFORM}': {why}"
        yield Problem(("tenants", PLATFORM), "reserved-name", message, fix="rename the tenant", at_key=True)


_READ = frozenset({"get", "list", "watch"})


_CHANGE = _READ | {"create", "delete", "deletecollection", "patch", "update"}


_HARMLESS = {
    ("", "persistentvolumes"): _CHANGE,
    ("", "nodes"): _READ,
    ("", "namespaces"): _READ,
    ("networking.k8s.io", "ingressclasses"): _CHANGE,
    ("scheduling.k8s.io", "priorityclasses"): _CHANGE,
    ("node.k8s.io", "runtimeclasses"): _READ,
    ("storage.k8s.io", "csidrivers"): _READ,
    ("storage.k8s.io", "csinodes"): _READ,
    ("storage.k8s.io", "storageclasses"): _CHANGE,
    ("storage.k8s.io", "volumeattachments"): _READ,
}
"""Cluster-scoped resources that lead into nobody's namespace, and the verbs that may be given. Any other resource could be
namespaced, and so that of all tenants, or a way to more rights."""


def rights_on_clusters_reach_no_other_tenant(fleet: Fleet) -> Iterator[Problem]:
    """More than that takes the word that whoever reviews a tenant's entry sees."""
    for at, frame in walk.levels(fleet):
        for key, rights in frame.clusterRoles.items() if not frame.clusterAdmin else ():
            place = (*at, "clusterRoles", key)
            for index, rule in enumerate(rights.rules or ()):
                if what := _too_far(rule):
                    yield _finding((*place, "rules", index), what)
            if rights.role and (rights.role in OWN_ROLES or rights.role.startswith("system:")):
                yield _finding((*place, "role"), f"role '{rights.role}'")


def _finding(at: tuple[str | int, ...], what: str) -> Problem:
    return Problem(
        at,
        "cluster-rights",
        f"{what} on the whole cluster reaches what belongs to others",
        fix="name cluster-scoped resources such as persistentvolumes, or set 'clusterAdmin: true' for the tenant",
    )


def _too_far(rule: PolicyRule) -> str:
    """The part of a rule that reaches further than it may, in words; "" if none does."""
    for group in rule.apiGroups or ("",):
        for resource in rule.resources:
            allowed = _HARMLESS.get((group, resource))
            if allowed is None:
                return f"'{resource}'" + (f" of '{group}'" if group else "")
            if further := next((verb for verb in rule.verbs if verb not in allowed), None):
                return f"'{further}' of '{resource}'"
    return ""


def states_of_tenants_are_placed(fleet: Fleet) -> Iterator[Problem]:
    """A tenant without apps is placed to be off-boarded, on the clusters of its own selector, and for nothing else."""
    for name, tenant in fleet.document.tenants.items():
        at = ("tenants", name, "state")
        message = f"'state: {tenant.state}' of tenant '{name}' has no effect: it has no apps"
        if tenant.state == "removing" and not tenant.apps:
            fix = "remove the tenant: namespaces that it had stay with their data"
            yield doubtful(at, "no-effect", message, fix=fix)
        elif tenant.state == "offboarding" and not (tenant.apps or tenant.clusters):
            fix = "write on which 'clusters' its namespaces go with their data"
            yield doubtful(at, "no-effect", f"{message} and no 'clusters'", fix=fix)


_Refusal: TypeAlias = tuple[str, str, str] | None
"""The code, the message and the fix of a finding about the kind of a manifest."""


def objects_are_of_kinds_for_namespaces(fleet: Fleet) -> Iterator[Problem]:
    for at, manifest in walk.objects(fleet, "objects"):
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
    elif problem := kind_problem(manifest.apiVersion, manifest.kind):
        yield problem.below(*at)


def objects_hold_no_values_of_secrets(fleet: Fleet) -> Iterator[Problem]:
    for at, manifest in walk.objects(fleet, "objects"):
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


OF_THE_CLUSTER = ("admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io")
"""The groups of which no tenant has objects."""


def cluster_objects_are_a_tenants_own(fleet: Fleet) -> Iterator[Problem]:
    """What changes the cluster for all, such as a webhook, belongs to no single tenant."""
    for at, manifest in walk.objects(fleet, "clusterObjects"):
        group, kind = group_of(manifest.apiVersion), manifest.kind
        refusal: _Refusal = None
        if is_built_in(manifest.apiVersion) and not is_cluster_scoped(manifest.apiVersion, kind):
            refusal = "namespaced", f"a {kind} is in a namespace", "declare it under 'objects:' of the tenant"
        elif kind in _ELSEWHERE and is_cluster_scoped(manifest.apiVersion, kind):
            refusal = "owned-kind", f"a {kind} of a tenant has a key of its own", _ELSEWHERE[kind]
        elif group in OF_THE_CLUSTER or (group, kind) == ("", "Node"):
            message = f"a {kind} is for the whole cluster, not for one tenant"
            refusal = "of-the-cluster", message, "install it by an add-on"
        yield from _of_kind(at, manifest, refusal)
