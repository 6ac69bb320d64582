"""Who gets `cluster-admin` in tenants' namespaces, and which tenants get rights on whole clusters, as far as two plans differ.

The name of a ClusterRole does not tell its rules: only those of `cluster-admin` and of the plan's own roles are known here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tenantry.fleet.rules.frames import CLUSTER_ADMIN
from tenantry.kube.objects import KubeObject, Manifest
from tenantry.kube.rights import Right, rights_of_rules
from tenantry.messages.data import mapping_at
from tenantry.plan.plan import Plan

_OF_FLUX = "system:serviceaccount:"
_BINDINGS = ("RoleBinding", "ClusterRoleBinding")


class ClusterAdmin(NamedTuple):
    """Somebody with `cluster-admin` on a cluster. wide: on all of it, and not only in the tenant's namespaces."""

    tenant: str
    cluster: str
    who: str
    wide: bool = False


class ClusterRight(NamedTuple):
    """A right of a tenant on a whole cluster. key: of `clusterRoles`; right: one of the rules, or the name of an existing role."""

    tenant: str
    cluster: str
    key: str
    right: Right | str


def new_admins(before: Plan, after: Plan) -> tuple[ClusterAdmin, ...]:
    """Those that only the second plan has, each once."""
    there = set(_admins(before))
    return tuple(each for each in dict.fromkeys(_admins(after)) if each not in there)


def new_rights(before: Plan, after: Plan) -> tuple[ClusterRight, ...]:
    """Those that only the second plan gives, under whatever key; without `cluster-admin`."""
    there = {each._replace(key="") for each in _rights(before)}
    return tuple(each for each in dict.fromkeys(_rights(after)) if each._replace(key="") not in there)


def newly_allowed(before: Plan, after: Plan) -> tuple[str, ...]:
    """The tenants that only the second plan allows to give `cluster-admin`, whether they do or not."""
    there = set(_allowed(before))
    return tuple(each for each in dict.fromkeys(_allowed(after)) if each not in there)


def _allowed(plan: Plan) -> Iterator[str]:
    return (each.tenant for each in plan.placements if each.cluster_admin)


def _admins(plan: Plan) -> Iterator[ClusterAdmin]:
    for each, manifest in _of_tenants(plan):
        if manifest["kind"] in _BINDINGS and manifest["roleRef"]["name"] == CLUSTER_ADMIN:
            wide = manifest["kind"] == "ClusterRoleBinding"
            for subject in manifest.get("subjects", ()):
                yield ClusterAdmin(each.owner.tenant, each.owner.cluster, _in_words(subject), wide)


def _rights(plan: Plan) -> Iterator[ClusterRight]:
    found = [(each.owner, manifest) for each, manifest in _of_tenants(plan) if "namespace" not in manifest["metadata"]]
    rules = {
        (owner, manifest["metadata"]["name"]): manifest["rules"]
        for owner, manifest in found
        if manifest["kind"] == "ClusterRole"
    }
    for owner, manifest in found:
        if manifest["kind"] != "ClusterRoleBinding" or (role := manifest["roleRef"]["name"]) == CLUSTER_ADMIN:
            continue
        key = manifest["metadata"]["name"].rpartition(".")[2]
        rights = rights_of_rules(rules[owner, role]) if (owner, role) in rules else [f"role {role}"]
        yield from (ClusterRight(owner.tenant, owner.cluster, key, each) for each in rights)


def _of_tenants(plan: Plan) -> Iterator[tuple[KubeObject, Manifest]]:
    """The tenants' objects, and those that they install as baselines of remote clusters."""
    apps = {each.id for each in plan.apps}
    for each in plan.objects:
        if each.owner.tenant and each.id not in apps:
            objects = mapping_at(dict(each.manifest), "spec", "values").get("objects", ())
            yield from ((each, manifest) for manifest in (each.manifest, *objects))


def _in_words(subject: dict[str, Any]) -> str:
    kind, name = subject["kind"], subject["name"]
    if kind == "ServiceAccount":
        return f"service account {subject['namespace']}/{name}"
    return "its apps" if kind == "User" and name.startswith(_OF_FLUX) else f"{kind.lower()} '{name}'"
