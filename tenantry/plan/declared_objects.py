"""The platform team's own objects: declared manifests, filled in and checked, and what a tenant has outside of namespaces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic_core import ValidationError

from tenantry.fleet.shape import findings_of
from tenantry.flux.manifests import manifest_problems
from tenantry.grants.rules import CLUSTER_ADMIN
from tenantry.kube.objects import Manifest, group_of, is_of_flux, object_id
from tenantry.kube.values import gives_all
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import InvalidPart, Path, Problem, Problems, collecting, raise_invalid
from tenantry.messages.placeholders import Variables, fill_manifest
from tenantry.messages.text import listed
from tenantry.model.strict import FILLED
from tenantry.model.tenancy import ClusterRights, ObjectManifest
from tenantry.plan.objects.baseline import METADATA, metadata_services, users_of
from tenantry.plan.objects.scope import Scope, installed_labels

_RBAC = "rbac.authorization.k8s.io"
_NAMED_BY_BASELINES = ("LimitRange", "NetworkPolicy", "ResourceQuota", "RoleBinding")
_OF_BASELINES = re.compile(r"tenantry($|[-.])")
_KUBERNETES_OWN = (("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default"))
"""Kinds and names of what Kubernetes makes in every namespace."""


@dataclass(frozen=True, slots=True)
class DeclaredObject:
    """A manifest for one namespace, and where it is written."""

    manifest: Manifest
    at: Path

    @property
    def namespace(self) -> str:
        return str(self.manifest["metadata"]["namespace"])


def declared_objects(
    scope: Scope,
    written: Mapping[str, Any],
    variables: Variables,
    origin: Callable[[Path], Path],
    taken: Iterable[Manifest] = (),
    holder: Callable[[str], str | None] = lambda _: None,
    *,
    cluster_admin: bool = False,
    network: str = "",
) -> list[DeclaredObject]:
    """The objects in the scope's namespace.

    Args:   origin: where the setting at a path is written. taken: the fleet's own manifests in the namespace.
            holder: who has another namespace, in words. cluster_admin: whether the tenant may have it. network: its setting.
    Raises: InvalidPart: one of them cannot be there; all findings together.
    """
    findings = Problems()
    made: list[DeclaredObject] = []
    used = {_key(manifest) for manifest in taken}
    # An add-on's account is the platform's.
    account = {"account": users_of(scope)[0]} if scope.tenant else {}
    variables = {**variables, "namespace": scope.namespace, **account}
    for key, data in sorted(written.items()):
        at = ("objects", key)
        if is_of_flux(str(data["apiVersion"])):
            continue  # the rules refuse it
        with collecting(findings):
            manifest = manifest_of(at, data, variables)
            meta = manifest["metadata"]
            labels = {**meta["labels"], **installed_labels(scope)}
            manifest["metadata"] = {"name": meta["name"], "namespace": scope.namespace, **meta, "labels": labels}
            findings += _problems(manifest, at, network)
            if group_of(manifest["apiVersion"]) == _RBAC and scope.tenant:
                findings += _rights(scope, manifest, at, holder, cluster_admin=cluster_admin)
            # Names that a tenant's baseline can have with other settings.
            is_fleets = scope.tenant and manifest["kind"] in _NAMED_BY_BASELINES and _OF_BASELINES.match(meta["name"])
            if _key(manifest) in used or is_fleets:
                twice = "Tenantry makes an object of that name, or another entry does"
                message = f"{object_id(manifest)} would be created twice: {twice}"
                findings.append(Problem(at, "duplicate-name", message, fix="set another 'metadata.name'", at_key=True))
            used.add(_key(manifest))
            made.append(DeclaredObject(manifest, origin(at)))
    raise_invalid(replace(finding, path=origin(finding.path)) for finding in findings)
    return made


def _key(manifest: Manifest) -> tuple[str, str, str]:
    """What the API server tells objects of a namespace apart by: versions of a group show the same objects."""
    id = object_id(manifest)
    return group_of(id.api_version), id.kind, id.name


def manifest_of(at: Path, data: Mapping[str, Any], variables: Variables) -> dict[str, Any]:
    """The entry at a path, filled in; without what the fleet adds. Raises: InvalidPart: it is not valid then."""
    filled = fill_manifest(data, variables, at)
    try:
        ObjectManifest.model_validate(filled, context=FILLED)
    except ValidationError as error:
        raise InvalidPart(findings_of(error, ObjectManifest, filled, at)) from None
    raise_invalid(manifest_problems(filled, at))
    given = filled.pop("metadata", None) or {}
    metadata = {
        "name": given.get("name") or at[-1],
        "labels": given.get("labels") or {},
        **({"annotations": given["annotations"]} if given.get("annotations") else {}),
    }
    return {"apiVersion": filled.pop("apiVersion"), "kind": filled.pop("kind"), "metadata": metadata, **filled}


def _problems(manifest: Manifest, at: Path, network: str) -> Iterator[Problem]:
    kind, name = str(manifest["kind"]), str(manifest["metadata"]["name"])
    if (kind, name) in _KUBERNETES_OWN:
        message = f"{kind} '{name}' is made by Kubernetes in every namespace"
        yield Problem(at, "kubernetes-own", message, fix="choose another name, or remove it", at_key=True)
    if network == "strict" and kind == "NetworkPolicy" and (services := metadata_services(manifest)):
        colon = ":" in services[0]
        left_out = ", ".join(f'"{service}"' for service in METADATA if (":" in service) is colon)
        rule = f'to: [{{ipBlock: {{cidr: "{"::/0" if colon else "0.0.0.0/0"}", except: [{left_out}]}}}}]'
        message = f"policy '{name}' leads to metadata services of clouds ({listed(services)}), which 'strict' forbids"
        fix = f"name where the pods may connect to, or write '{rule}'"
        yield Problem((*at, "spec"), "metadata-service", message, fix=fix)


def _rights(
    scope: Scope, manifest: Manifest, at: Path, holder: Callable[[str], str | None], *, cluster_admin: bool
) -> Iterator[Problem]:
    """What a tenant would have or give by a role or binding that it must not. Add-ons are the platform's, which decides itself."""
    kind = manifest["kind"]
    is_binding = kind == "RoleBinding"
    is_admin = is_binding and mapping_at(dict(manifest), "roleRef").get("name") == CLUSTER_ADMIN
    if not cluster_admin and (is_admin or (not is_binding and gives_all(mappings_in(manifest.get("rules"))))):
        message = f"tenant '{scope.tenant}' would get {CLUSTER_ADMIN} in its namespaces"
        fix = "choose another role, or set 'clusterAdmin: true' for the tenant"
        yield Problem((*at, "roleRef" if is_binding else "rules"), "cluster-admin", message, fix=fix)
    own = {scope.namespace, scope.storage, *scope.namespaces.values()}
    for index, subject in enumerate(mappings_in(manifest.get("subjects"))):
        if whose := _whose(scope, subject, own, holder):
            message = (
                f"'{subject.get('name')}' is {whose}, and not tenant '{scope.tenant}' or somebody whom it may let in"
            )
            yield Problem((*at, "subjects", index), "foreign-account", message, fix="name somebody else, or remove it")


def _whose(scope: Scope, subject: Mapping[str, Any], own: set[str], holder: Callable[[str], str | None]) -> str:
    """To whom a subject belongs that a tenant may not let in, in words; "" if it may."""
    name = str(subject.get("name", ""))
    if subject.get("kind") == "ServiceAccount":
        namespace = str(subject.get("namespace") or "")
        owner = holder(namespace) if namespace and namespace not in own else None
        return f"a service account of {owner}" if owner else ""
    is_own = subject.get("kind") == "User" and name in users_of(scope)
    return "reserved by Kubernetes" if name.startswith("system:") and not is_own else ""


def cluster_rights(scope: Scope, declared: Mapping[str, ClusterRights]) -> Iterator[Manifest]:
    """The ClusterRoles and ClusterRoleBindings of a placement, sorted by their keys."""
    for key, rights in sorted(declared.items()):
        # A namespace and a key contain no dot, so no two names are the same.
        name = f"tenantry.{scope.namespace}.{key}"
        if rights.rules is not None:
            rules = [rule.model_dump(exclude_none=True) for rule in rights.rules]
            yield _cluster_wide(scope, "ClusterRole", name, {"rules": rules})
        users = [{"apiGroup": _RBAC, "kind": "User", "name": user} for user in users_of(scope)]
        role = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": rights.role or name}
        yield _cluster_wide(scope, "ClusterRoleBinding", name, {"roleRef": role, "subjects": users})


def cluster_objects(scope: Scope, declared: Mapping[str, ObjectManifest], variables: Variables) -> list[DeclaredObject]:
    """The tenant's own cluster-scoped objects, sorted by their keys. Raises: InvalidPart: some cannot be there."""
    made: list[DeclaredObject] = []
    findings = Problems()
    for key, declared_object in sorted(declared.items()):
        at = ("tenants", scope.tenant, "clusterObjects", key)
        with collecting(findings):
            data = declared_object.model_dump(exclude_none=True)
            manifest = manifest_of(at, data, {**variables, "namespace": scope.namespace})
            manifest["metadata"]["labels"] |= installed_labels(scope)
            made.append(DeclaredObject(manifest, at))
    raise_invalid(findings)
    return made


def claim_of(cluster: str, manifest: Manifest) -> tuple[str, str, str, str]:
    """What the API server of a cluster tells cluster-scoped objects apart by: versions of a group show the same ones."""
    id = object_id(manifest)
    return cluster, group_of(id.api_version), id.kind, id.name


def _cluster_wide(scope: Scope, kind: str, name: str, body: Mapping[str, Any]) -> Manifest:
    metadata = {"name": name, "labels": installed_labels(scope)}
    return {"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": metadata, **body}
