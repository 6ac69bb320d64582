"""Rules about the environments that parts of the file name, the tenants that environments name, and whether gates can open."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import barrier, clusters_taken, placements_of, tenant_barrier
from tenantry.grants.grants import filled_entries, grants_of
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import undeclared
from tenantry.messages.text import listed


def lists_name_declared_environments(fleet: Fleet) -> Iterator[Problem]:
    for at, owner, names in _lists(fleet):
        yield from walk.undeclared_environments(fleet, at, owner, names)


def environments_name_declared_tenants(fleet: Fleet) -> Iterator[Problem]:
    known = fleet.names("tenants")
    for name, tenants in _tenants_of_environments(fleet):
        for index, tenant in enumerate(tenants):
            if tenant not in known:
                message = f"environment '{name}' names tenant '{tenant}'"
                fix = "declare it under 'tenants:', or correct the name"
                yield undeclared(("environments", name, "tenants", index), "tenant", tenant, message, known, fix)


def environments_name_tenants_that_are_in_them(fleet: Fleet) -> Iterator[Problem]:
    """An environment of a few tenants of which none can be there would be empty."""
    for name, tenants in _tenants_of_environments(fleet):
        environments = fleet.extending(name) if fleet.is_frame(name) else [name]
        known = fleet.document.tenants.keys() >= {*tenants}
        if not (
            known
            and all(_is_kept_out(fleet, environment, tenant) for environment in environments for tenant in tenants)
        ):
            continue
        yield Problem(
            ("environments", name, "tenants"),
            "selects-nothing",
            f"environment '{name}' has no tenants: {listed(tenants)} {'is' if len(tenants) == 1 else 'are'} kept out of it",
            tuple(_why_not(fleet, environments[0], tenant) for tenant in tenants[:3]),
            fix=f"name a tenant that can be in '{name}', or add '{name}' to the 'environments' of one",
        )


def included_files_name_environments_of_their_tenants(fleet: Fleet) -> Iterator[Problem]:
    for tenant, app in filled_entries(fleet, "apps"):
        for index, name in _foreign(fleet, tenant, app):
            yield Problem(
                ("tenants", tenant, "apps", app, "environments", index),
                "not-granted",
                f"app '{app}' of tenant '{tenant}' names environment '{name}', which is not the tenant's",
                (_why_not(fleet, name, tenant),),
                fix="remove it, or ask the platform team to put the tenant into the environment",
            )


def apps_are_in_an_environment_of_their_clusters(fleet: Fleet) -> Iterator[Problem]:
    """Selectors that take no cluster at all have a rule of their own."""
    reported: set[Path] = set()
    for at, _, _, _ in walk.apps(fleet):
        if any(placements_of(fleet, at)) or _is_reported_elsewhere(fleet, at):
            continue
        taken, place = list(clusters_taken(fleet, at)), _place_of(fleet, at)
        if not taken or place in reported:
            continue
        reported.add(place)
        environments = dict.fromkeys(environment for name in taken for environment in fleet.clusters[name].environments)
        barriers = dict.fromkeys(filter(None, (barrier(fleet, environment, at) for environment in environments)))
        yield Problem(
            place,
            "selects-nothing",
            f"{walk.format_app(at)} is in no environment of the clusters that it selects",
            (
                f"it selects {listed(taken)}",
                *(f"{reason} ({fleet.source.line_of(place)})" for reason, place in list(barriers)[:3]),
            ),
            fix="correct 'environments' or 'clusters', or the environment's 'tenants'",
            at_key=True,
        )


def _lists(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], str, list[str]]]:
    """Every list of environments with its owner, in words too."""
    for at, frame in walk.levels(fleet):
        yield at, walk.format_level(at), frame.environments or []
    for at, _, _, app in walk.apps(fleet):
        yield at, walk.format_app(at), app.environments or []


def _tenants_of_environments(fleet: Fleet) -> Iterator[tuple[str, list[str]]]:
    """The environments that name their tenants themselves."""
    for name, environment in fleet.document.environments.items():
        if environment.tenants is not None and "tenants" in fleet.own(name):
            yield name, environment.tenants


def _is_kept_out(fleet: Fleet, environment: str, tenant: str) -> bool:
    apps = fleet.document.tenants[tenant].apps
    if not apps:
        return tenant_barrier(fleet, environment, tenant) is not None
    return all(barrier(fleet, environment, ("tenants", tenant, "apps", app)) for app in apps)


def _why_not(fleet: Fleet, environment: str, tenant: str) -> str:
    apps = fleet.document.tenants[tenant].apps
    barriers = (barrier(fleet, environment, ("tenants", tenant, "apps", app)) for app in apps)
    first = tenant_barrier(fleet, environment, tenant) or next(filter(None, barriers))
    return f"tenant '{tenant}', {first.reason} ({fleet.source.line_of(first.at)})"


def _foreign(fleet: Fleet, tenant: str, app: str) -> Iterator[tuple[int, str]]:
    """The environments that an included file names for an app, and that are not the tenant's."""
    declared_app = fleet.document.tenants[tenant].apps.get(app)
    for index, name in enumerate((declared_app and declared_app.environments) or ()):
        if name in fleet.document.environments and tenant_barrier(fleet, name, tenant):
            yield index, name


def _place_of(fleet: Fleet, at: tuple[str, ...]) -> tuple[str, ...]:
    """The nearest list or selector; else the tenant, whose list leaves out all of its apps."""
    for key in ("environments", "clusters"):
        if key in fleet.raw(*at):
            return (*at, key)
    return (*at[:2], "environments") if "environments" in fleet.raw(*at[:2]) else at[:2]


def _is_reported_elsewhere(fleet: Fleet, at: tuple[str, ...]) -> bool:
    """Whether a name is wrong, or a grant leaves out the environments, which is for the platform team to see in `explain`."""
    if at[0] == "platform":
        return not set(fleet.document.platform.addons[at[-1]].environments or ()) <= fleet.document.environments.keys()
    tenant = fleet.document.tenants[at[1]]
    names = {*(tenant.environments or ()), *(tenant.apps[at[-1]].environments or ())}
    grants = grants_of(fleet, at[1])
    restricted = grants is not None and grants.environments is not None
    return restricted or not names <= fleet.document.environments.keys() or any(_foreign(fleet, at[1], at[-1]))
