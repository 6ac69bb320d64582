"""Rules about the frames of tenants: what the main file decides, and what included files choose within that."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.grants import DEFAULT_ROLES, POLICYS_SHORTEST, SHORTEST_INTERVAL, grant_at, grants_of, is_filled
from tenantry.fleet.placement import cluster_is_granted, granted_selector
from tenantry.fleet.rules import walk
from tenantry.fleet.rules.baseline import OWNED_ANNOTATIONS
from tenantry.fleet.rules.tenants import OWNED_LABELS
from tenantry.messages.errors import Finding, Path
from tenantry.messages.findings import doubtful
from tenantry.messages.redact import shorten
from tenantry.messages.text import declared, listed
from tenantry.model import Settings
from tenantry.model.frame import Grants
from tenantry.model.scalars import seconds_of

CLUSTER_ADMIN = "cluster-admin"
TIMES = ("interval", "retryInterval")
"""Settings of which Flux does something again and again."""
_WITH_ROLES = ("owners", "role", "roleBindings")


def included_files_are_for_declared_tenants(fleet: Fleet) -> Iterator[Finding]:
    for index, entry in enumerate(fleet.document.include):
        at = ("include", index)
        if entry.selfService is not None:
            if entry.selfService not in fleet.document.selfService:
                yield Finding(
                    (*at, "selfService"),
                    "unknown-frame",
                    f"frame '{entry.selfService}' is not declared",
                    (declared("declared", entry.selfService, fleet.names("selfService")),),
                    fix="declare it under 'selfService:', or correct the name",
                )
            continue
        for place, name in enumerate(entry.of or ()):
            if name not in fleet.names("tenants"):
                yield Finding(
                    (*at, "of", place),
                    "unknown-tenant",
                    f"tenant '{name}' is not declared",
                    (declared("declared", name, fleet.names("tenants")),),
                    fix="declare it under 'tenants:', or correct the name",
                )


def grants_name_declared_environments(fleet: Fleet) -> Iterator[Finding]:
    for at, grants in _grants(fleet):
        for index, name in enumerate(grants.environments or ()):
            if name not in fleet.environments:
                yield Finding(
                    (*at, "environments", index),
                    "unknown-environment",
                    f"a grant names environment '{name}', which is not declared",
                    (declared("declared", name, fleet.names("environments")),),
                    fix="declare it under 'environments:', or correct the name",
                )


def intervals_pass_the_clusters_admission_policy(fleet: Fleet) -> Iterator[Finding]:
    """Those of tenants as a whole, and the shortest that may be chosen; the plan checks apps, sources and images."""
    for at, given in walk.settings(fleet):
        for key in TIMES if isinstance(given, Settings) else ():
            value = getattr(given, key)
            if value and not is_filled(fleet, (*at, key)):
                yield from refused_by_policy((*at, key), value)
    for at, grants in _grants(fleet):
        if grants.shortestInterval:
            yield from refused_by_policy((*at, "shortestInterval"), grants.shortestInterval)


def grants_leave_the_fleets_labels_alone(fleet: Fleet) -> Iterator[Finding]:
    for at, grants in _grants(fleet):
        for key, owned in (("labels", OWNED_LABELS), ("annotations", OWNED_ANNOTATIONS)):
            for index, prefix in enumerate(getattr(grants, key) or ()):
                if any(each.startswith(prefix) for each in owned) or prefix.startswith(owned):
                    yield Finding(
                        (*at, key, index),
                        "owned-label",
                        f"'{prefix}' cannot be granted: it is reserved for Tenantry and Kubernetes",
                        fix="remove it",
                    )


def cluster_admin_is_allowed_by_a_word_of_its_own(fleet: Fleet) -> Iterator[Finding]:
    """Whoever reviews a tenant's entry sees the word, wherever the role comes from."""
    for tenant, each in fleet.document.tenants.items():
        if each.clusterAdmin:
            continue
        for path, role in _roles(fleet, tenant):
            if role == CLUSTER_ADMIN:
                yield Finding(
                    path,
                    "cluster-admin",
                    f"tenant '{tenant}' would get {CLUSTER_ADMIN} in its namespaces",
                    fix="choose another role, or set 'clusterAdmin: true' for the tenant",
                )
    for at, grants in _grants(fleet):
        if CLUSTER_ADMIN in (grants.roles or ()):
            yield Finding(
                (*at, "roles", (grants.roles or []).index(CLUSTER_ADMIN)),
                "cluster-admin",
                f"{CLUSTER_ADMIN} cannot be granted: an included file could give it to anybody",
                fix="remove it",
            )


def included_files_choose_granted_clusters(fleet: Fleet) -> Iterator[Finding]:
    for at, who, selector in walk.selectors(fleet):
        if not is_filled(fleet, at):
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
                    f"{who} selects cluster '{name}', which is not granted to it",
                    granted,
                )


def included_files_give_granted_roles(fleet: Fleet) -> Iterator[Finding]:
    for tenant in fleet.source.fills:
        grants = grants_of(fleet, tenant) if tenant in fleet.document.tenants else None
        granted = DEFAULT_ROLES if grants is None or grants.roles is None else grants.roles
        for path, role in _roles(fleet, tenant) if grants else ():
            if is_filled(fleet, path) and role not in granted:
                message = f"role '{shorten(role)}' is not granted to tenant '{tenant}'"
                yield _not_granted(fleet, tenant, "roles", path, message, granted)


def included_files_keep_to_the_shortest_interval(fleet: Fleet) -> Iterator[Finding]:
    """Of the tenants themselves; the plan checks apps, sources and images."""
    for tenant in fleet.source.fills:
        grants = grants_of(fleet, tenant) if tenant in fleet.document.tenants else None
        for key in TIMES if grants else ():
            path = ("tenants", tenant, key)
            value = fleet.raw("tenants", tenant).get(key)
            if grants and isinstance(value, str) and is_filled(fleet, path):
                yield from too_short(fleet, tenant, path, value, grants.shortestInterval or SHORTEST_INTERVAL)


def grants_are_for_tenants_with_an_included_file(fleet: Fleet) -> Iterator[Finding]:
    for tenant, each in fleet.document.tenants.items():
        if each.grants and tenant not in fleet.source.fills:
            yield doubtful(
                ("tenants", tenant, "grants"),
                "unused",
                f"no included file speaks of tenant '{tenant}', so its grants have no effect",
                fix=f"include a file: 'include: [{{tenants: tenants.d/{tenant}.yaml, of: [{tenant}]}}]', or remove them",
                at_key=True,
            )


def grants_have_an_effect(fleet: Fleet) -> Iterator[Finding]:
    for at, grants in _grants(fleet):
        if grants.roles and not set(grants.settings or ()).intersection(_WITH_ROLES):
            yield doubtful(
                (*at, "roles"),
                "unused",
                "roles are granted, but no setting that names a role",
                fix=f"grant one of {', '.join(_WITH_ROLES)} under 'settings', or remove it",
                at_key=True,
            )


def frames_are_used(fleet: Fleet) -> Iterator[Finding]:
    used = {each.selfService for each in fleet.document.include}
    for name in fleet.document.selfService:
        if name not in used:
            yield doubtful(
                ("selfService", name),
                "unused",
                f"no entry of 'include' uses frame '{name}'",
                fix=f"write 'include: [{{tenants: PATTERN, selfService: {name}}}]', or remove it",
                at_key=True,
            )


def refused_by_policy(path: Path, value: str) -> Iterator[Finding]:
    """A finding if the admission policy of the clusters refuses an interval of a tenant."""
    if seconds_of(value) < seconds_of(POLICYS_SHORTEST):
        yield Finding(
            path,
            "short-interval",
            f"{path[-1]} '{value}' is shorter than '{POLICYS_SHORTEST}', so the admission policy of the clusters would refuse it",
            fix=f"write '{POLICYS_SHORTEST}' or more",
        )


def too_short(fleet: Fleet, tenant: str, path: Path, value: str, shortest: str) -> Iterator[Finding]:
    """A finding if an interval is shorter than the tenant's included file may set it."""
    if seconds_of(value) < seconds_of(shortest):
        where = fleet.source.line_of(grant_at(fleet, tenant, "shortestInterval"))
        yield Finding(
            path,
            "short-interval",
            f"{path[-1]} '{value}' is shorter than '{shortest}', the shortest for tenant '{tenant}'",
            fix=f"write '{shortest}' or more, or ask the platform team for another 'shortestInterval' ({where})",
        )


def foreign_address(fleet: Fleet, tenant: str, kind: str, path: Path, granted: Collection[str]) -> Finding:
    """An included file names an address that the main file does not grant. The address itself may hold a password."""
    key = "alerts" if kind == "Provider" else "sources"
    what = f"the address of this {kind} is not granted to tenant '{tenant}'"
    return _not_granted(fleet, tenant, key, path, what, granted)


def _not_granted(fleet: Fleet, tenant: str, key: str, path: Path, message: str, granted: Collection[str]) -> Finding:
    at = granted_selector(fleet, tenant)[1] if key == "clusters" else grant_at(fleet, tenant, key)
    where = fleet.source.line_of(at)
    return Finding(
        path,
        "not-granted",
        message,
        (f"granted: {listed(granted) or 'none'} ({where})",),
        fix=f"choose a granted one, or ask the platform team to add it to 'grants.{key}' of the tenant",
    )


def _grants(fleet: Fleet) -> Iterator[tuple[Path, Grants]]:
    """All grants as the main file writes them, each with its path."""
    frames: list[tuple[Path, Settings]] = [(("defaults",), fleet.document.defaults)]
    frames += ((("selfService", name), each) for name, each in fleet.document.selfService.items())
    new = {name for name, fill in fleet.source.fills.items() if fill.template}
    frames += ((("tenants", name), each) for name, each in fleet.document.tenants.items() if name not in new)
    yield from (((*at, "grants"), each.grants) for at, each in frames if each.grants)


def _roles(fleet: Fleet, tenant: str) -> Iterator[tuple[Path, str]]:
    """The roles that a tenant gives, each with the place that sets it: its own or the defaults'."""
    own, defaults = fleet.document.tenants[tenant], fleet.document.defaults
    at = ("tenants", tenant)
    levels: list[tuple[tuple[str, ...], Settings]] = [(at, own), (("defaults",), defaults)]
    for key in ("role", "owners"):
        path, given = next(((path, each) for path, each in levels if key in fleet.raw(*path)), levels[0])
        if key == "role" and given.role:
            yield (*path, "role"), given.role
        for index, owner in enumerate(given.owners or ()) if key == "owners" else ():
            yield (*path, "owners", index, "role"), owner.role
    for path, given in levels:
        for name, binding in (given.roleBindings or {}).items():
            hidden = path == ("defaults",) and name in fleet.raw(*at, "roleBindings")
            if binding and not hidden:
                yield (*path, "roleBindings", name, "role"), binding.role
