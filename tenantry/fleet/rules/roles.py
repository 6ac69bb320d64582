"""Rules about ClusterRoles by name: misspelled ones, and one that cannot apply anything."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.messages.errors import Finding, Path
from tenantry.messages.findings import doubtful
from tenantry.model import PlacedSettings

_KNOWN = ("admin", "cluster-admin", "edit", "view")
"""Kubernetes' own roles for users. Source: kubernetes.io, "Using RBAC Authorization", user-facing roles."""
_ALIKE = 0.7


def roles_are_not_misspelled(fleet: Fleet) -> Iterator[Finding]:
    for path, role in _roles(fleet):
        if role not in _KNOWN and (near := _closest(role)):
            yield doubtful(
                path,
                "unusual-role",
                f"Kubernetes has no ClusterRole '{role}' of its own",
                (f"closest: {near}",),
                fix=f"write '{near}', unless the clusters have a ClusterRole of that name",
            )


def roles_of_tenants_may_apply_something(fleet: Fleet) -> Iterator[Finding]:
    """A role under `defaults` is reported once, no matter how many tenants inherit it."""
    default = fleet.document.defaults.role
    for tenant, declared in fleet.document.tenants.items():
        own = "role" in fleet.raw("tenants", tenant)
        if declared.apps and (declared.role if own else default) == "view":
            yield doubtful(
                ("tenants", tenant, "role") if own else ("defaults", "role"),
                "read-only-role",
                "with role 'view' apps may read, but can apply nothing",
                fix="write 'edit', 'admin' or a ClusterRole of your own",
            )


def _roles(fleet: Fleet) -> Iterator[tuple[Path, str]]:
    for at, given in walk.settings(fleet):
        if isinstance(given, PlacedSettings):
            yield from walk.roles_in(at, given)


def _closest(role: str) -> str | None:
    """The known role that was probably meant. Names with more or fewer words, such as `my-admin`, are custom roles."""
    words = role.lower()
    alike = {each: SequenceMatcher(None, words, each).ratio() for each in _KNOWN if each.count("-") == words.count("-")}
    near = max(alike, key=lambda each: alike[each], default=None)
    return near if near and alike[near] >= _ALIKE else None
