"""Rules about grants, and what included files choose within them: clusters, roles, intervals, and what they name."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import (
    cluster_is_granted,
    granted_selector,
    is_management,
    is_taken,
    matches,
    selector_of,
)
from tenantry.fleet.templates import DEFAULTS
from tenantry.grants.authors import foreign_names
from tenantry.grants.frames import PARTS
from tenantry.grants.grants import filled_entries, filled_tenants, grant_at, is_filled
from tenantry.grants.limits import beyond_limits, limited_in_tenant, refused_by_policy, too_many
from tenantry.messages.errors import Path, Problem
from tenantry.messages.placeholders import is_unfilled
from tenantry.messages.problems import doubtful
from tenantry.messages.redact import shorten
from tenantry.messages.text import listed
from tenantry.model import PlacedSettings
from tenantry.source.parsed_file import override_of


def included_files_choose_granted_clusters(fleet: Fleet) -> Iterator[Problem]:
    """An override brings nothing to a cluster, whichever it names."""
    for at, owner, selector in walk.selectors(fleet):
        if not is_filled(fleet, at) or override_of(at):
            continue
        tenant = str(at[1])
        granted = [name for name in fleet.clusters if cluster_is_granted(fleet, tenant, name)]
        for index, name in enumerate(selector.names or ()):
            if name in fleet.clusters and name not in granted:
                yield _not_granted(
                    fleet,
                    tenant,
                    "clusters",
                    (*at, "names", index),
                    f"{owner} selects cluster '{name}', which is not granted to it",
                    granted,
                )


def apps_of_included_files_are_placed(fleet: Fleet) -> Iterator[Problem]:
    """By a name that is not granted is reported by another rule; here a selector takes clusters, and none of them is granted."""
    for tenant, app in filled_entries(fleet, "apps"):
        if app not in fleet.document.tenants[tenant].apps:
            continue
        selector, place = selector_of(fleet, ("tenants", tenant, "apps", app))
        taken = any(selector and matches(selector, name, cluster) for name, cluster in fleet.clusters.items())
        by_name = selector and selector.names is not None and is_filled(fleet, place)
        if taken and not by_name and not is_taken(fleet, tenant, app):
            granted = [name for name in fleet.clusters if cluster_is_granted(fleet, tenant, name)]
            message = f"app '{app}' of tenant '{tenant}' selects no cluster that is granted to the tenant"
            problem = _not_granted(fleet, tenant, "clusters", ("tenants", tenant, "apps", app), message, granted)
            yield replace(problem, notes=(*problem.notes, *_left_out(fleet, tenant)), at_key=True)


def _left_out(fleet: Fleet, tenant: str) -> Iterator[str]:
    """The management clusters that a granted `all` does not include."""
    selector, at = granted_selector(fleet, tenant)
    clusters = fleet.clusters.items() if selector and selector.all else ()
    names = [
        name
        for name, cluster in clusters
        if selector and is_management(fleet, name) and matches(selector, name, cluster)
    ]
    if names:
        where = fleet.source.line_of(at)
        yield f"'all' does not include management clusters ({listed(names)}): name them, or select them by labels ({where})"


def included_files_give_owners_few_rights(fleet: Fleet) -> Iterator[Problem]:
    for tenant, _ in filled_tenants(fleet):
        allowed = owners_roles(fleet, tenant)
        for path, role in walk.roles_of(fleet, tenant):
            if is_filled(fleet, path) and role not in allowed:
                yield Problem(
                    path,
                    "not-granted",
                    f"role '{shorten(role)}' is not for owners in the file of tenant '{tenant}'",
                    (f"allowed: {listed(allowed)}",),
                    fix=f"write one of these, or ask the platform team to add the owner in {fleet.source.file}",
                )


def owners_roles(fleet: Fleet, tenant: str) -> tuple[str, ...]:
    """The roles that owners in a team's file may have: `edit` only where the tenant may do as much, everywhere."""
    own = {role for path, role in walk.roles_of(fleet, tenant) if "owners" not in path}
    return ("view", "edit") if own <= {"edit", "admin"} else ("view",)


def included_files_keep_to_their_limits(fleet: Fleet) -> Iterator[Problem]:
    """As written; the plan looks again at the values that placeholders give."""
    for tenant, _ in filled_tenants(fleet):
        at = ("tenants", tenant)
        for limited in limited_in_tenant(fleet.valid(*at)):
            path = (*at, *limited.path)
            if is_filled(fleet, path) and not is_unfilled(limited.value):
                yield from beyond_limits(tenant, limited, path)


def included_files_have_a_limited_number_of_parts(fleet: Fleet) -> Iterator[Problem]:
    for tenant, _ in filled_tenants(fleet):
        for key in (*PARTS, "namespaces"):
            paths = [("tenants", tenant, key, name) for name in fleet.raw("tenants", tenant, key)]
            yield from too_many(tenant, key, [path for path in paths if is_filled(fleet, path)])


def foreign_address(fleet: Fleet, tenant: str, kind: str, path: Path, granted: Collection[str]) -> Problem:
    """An included file names an address that the main file does not grant. The address itself may hold a password."""
    key = "alerts" if kind == "Provider" else "sources"
    what = f"the address of this {kind} is not granted to tenant '{tenant}'"
    return _not_granted(fleet, tenant, key, path, what, granted)


def not_advanced(fleet: Fleet, tenant: str, path: Path) -> Problem:
    """An included file sets a field of Flux's that reaches further than others. Args: path: in the spec."""
    where = fleet.source.line_of(grant_at(fleet, tenant, "settings"))
    return Problem(
        path,
        "not-granted",
        f"'{'.'.join(map(str, path))}' is an advanced field, which is not granted to tenant '{tenant}'",
        (f"grants: {where}",),
        fix="remove it, or ask the platform team to add 'advanced' to 'grants.settings' of the tenant",
    )


def _not_granted(fleet: Fleet, tenant: str, key: str, path: Path, message: str, granted: Collection[str]) -> Problem:
    at = granted_selector(fleet, tenant)[1] if key == "clusters" else grant_at(fleet, tenant, key)
    where = fleet.source.line_of(at)
    return Problem(
        path,
        "not-granted",
        message,
        (f"granted: {listed(granted) or 'none'} ({where})",),
        fix=f"choose a granted one, or ask the platform team to add it to 'grants.{key}' of the tenant",
    )


def included_files_name_what_is_theirs(fleet: Fleet) -> Iterator[Problem]:
    """As written; the plan looks again at what placeholders stand for."""
    for tenant, _ in filled_tenants(fleet):
        yield from foreign_names(fleet, tenant)


CLUSTER_ADMIN = "cluster-admin"


def grants_name_declared_environments(fleet: Fleet) -> Iterator[Problem]:
    for at, level in walk.levels(fleet):
        if level.grants:
            names = level.grants.environments or ()
            yield from walk.undeclared_environments(fleet, (*at, "grants"), "a grant", names)


def intervals_pass_the_clusters_admission_policy(fleet: Fleet) -> Iterator[Problem]:
    """Those of tenants as a whole; the plan checks apps and sources."""
    for at, given in walk.settings(fleet):
        for key in ("interval", "retryInterval") if isinstance(given, PlacedSettings) else ():
            value = getattr(given, key)
            if value and not is_filled(fleet, (*at, key)):
                yield from refused_by_policy((*at, key), value)


def cluster_admin_is_allowed_by_a_word_of_its_own(fleet: Fleet) -> Iterator[Problem]:
    """Whoever reviews a tenant's entry sees the word, wherever the role comes from."""
    for tenant, own in fleet.document.tenants.items():
        if own.clusterAdmin:
            continue
        for path, role in walk.roles_of(fleet, tenant):
            if role == CLUSTER_ADMIN:
                yield Problem(
                    path,
                    "cluster-admin",
                    f"tenant '{tenant}' would get {CLUSTER_ADMIN} in its namespaces",
                    fix="choose another role, or set 'clusterAdmin: true' for the tenant",
                )


def grants_are_for_tenants_with_an_included_file(fleet: Fleet) -> Iterator[Problem]:
    for tenant, own in fleet.document.tenants.items():
        at = ("tenants", tenant, "grants")
        if own.grants and tenant not in fleet.source.fills and fleet.source.origin(at)[:1] != (DEFAULTS,):
            yield doubtful(
                at,
                "unused",
                f"no included file speaks of tenant '{tenant}', so its grants have no effect",
                fix=f"include a file: 'include: [tenants.d/{tenant}.yaml]', or remove them",
                at_key=True,
            )
