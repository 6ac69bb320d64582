"""Rules about rights of tenants outside of their namespaces."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.messages.errors import Finding
from tenantry.model.cluster_rights import PolicyRule

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
_USER_FACING = ("admin", "cluster-admin", "edit", "view")


def rights_on_clusters_reach_no_other_tenant(fleet: Fleet) -> Iterator[Finding]:
    """More than that takes the word that whoever reviews a tenant's entry sees."""
    for at, frame in walk.frames(fleet):
        for key, rights in frame.clusterRoles.items() if not frame.clusterAdmin else ():
            here = (*at, "clusterRoles", key)
            for index, rule in enumerate(rights.rules or ()):
                if what := _too_far(rule):
                    yield _finding((*here, "rules", index), what)
            if rights.role and (rights.role in _USER_FACING or rights.role.startswith("system:")):
                yield _finding((*here, "role"), f"role '{rights.role}'")


def _finding(at: tuple[str | int, ...], what: str) -> Finding:
    return Finding(
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
