"""Rules about entries that are declared and never used. They are not planned, so nobody would notice that they are missing."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.rules.references import names_of_attachments
from tenantry.grants.grants import is_filled
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Finding, Path
from tenantry.messages.findings import doubtful
from tenantry.messages.placeholders import all_names_in


def sources_are_used(fleet: Fleet) -> Iterator[Finding]:
    for tenant, declared in fleet.document.tenants.items():
        used = {
            block.get("source")
            for app in declared.apps
            for _, block in walk.blocks(fleet, ("tenants", tenant, "apps", app))
        }
        used |= _included(fleet, tenant)
        for name in declared.sources:
            if name not in used:
                yield _unused(("tenants", tenant, "sources", name), "source", f"no app of tenant '{tenant}' names it")


def credentials_and_configs_are_used(fleet: Fleet) -> Iterator[Finding]:
    used = {(*owner, group, name) for owner, group, name in names_of_attachments(fleet)}
    owners = (("platform",), *(("tenants", tenant) for tenant in fleet.document.tenants))
    for owner in owners:
        whose = f"tenant '{owner[1]}'" if owner[1:] else "the platform"
        for group, what in (("credentials", "credentials"), ("configs", "config")):
            for name in fleet.raw(*owner, group):
                if (*owner, group, name) not in used:
                    yield _unused(
                        (*owner, group, name), what, f"nothing of {whose} names {'them' if what == group else 'it'}"
                    )


def cluster_groups_are_used(fleet: Fleet) -> Iterator[Finding]:
    groups = fleet.document.clusterGroups
    used = {each.group for each in fleet.clusters.values()} | {each.group for each in groups.values()}
    for name in groups:
        if name not in used:
            yield _unused(("clusterGroups", name), "group", "no cluster names it")


def environments_have_clusters(fleet: Fleet) -> Iterator[Finding]:
    """One that others extend can be their template; clusters in files of their own may be found later."""
    if any(each.clusters for each in fleet.document.include):
        return
    extended = {each.extends for each in fleet.environments.values()}
    for name in fleet.environments:
        if name not in extended and not clusters_of(fleet, name):
            why, fix = "no cluster belongs to it", f"write 'environments: [{name}]' in a cluster, or remove it"
            yield _unused(("environments", name), "environment", why, fix)


def variables_are_used(fleet: Fleet) -> Iterator[Finding]:
    """Each name once. Without tenants, or where teams have files of their own, a variable is there for what is to come."""
    if _teams_have_files(fleet) or not fleet.document.tenants:
        return
    used = set(all_names_in(fleet.source.data))
    told: set[str] = set()
    for path in _variables(fleet):
        if path[-1] not in used and path[-1] not in told:
            told.add(path[-1])
            yield _unused(path, "variable", f"no placeholder '{{{path[-1]}}}' stands in the file")


def alerts_have_something_to_tell(fleet: Fleet) -> Iterator[Finding]:
    for at, _ in walk.alerts(fleet):
        if at[0] == "platform":
            why, fix = "there is no add-on and no remote cluster", "declare an add-on, or remove it"
            told = bool(fleet.document.platform.addons) or any(each.kubeconfig for each in fleet.clusters.values())
        else:
            why, fix = f"tenant '{at[1]}' has no app", "declare an app, or remove it"
            told = bool(fleet.document.tenants[at[1]].apps)
        if not told and not may_be_filled(fleet, at):
            yield _unused(at, "alert", why, fix)


def may_be_filled(fleet: Fleet, at: tuple[str, ...]) -> bool:
    """Whether the main file declares something for a team that may add to it in a file of its own, and has not yet."""
    return at[0] == "tenants" and _teams_have_files(fleet) and not is_filled(fleet, at)


def _teams_have_files(fleet: Fleet) -> bool:
    return any(each.tenants for each in fleet.document.include)


def _variables(fleet: Fleet) -> Iterator[tuple[str, ...]]:
    """The paths of all variables; a group's before those that its clusters have from it."""
    for group in ("environments", "clusterGroups", "clusters"):
        for name in fleet.raw(group):
            yield from ((group, name, "variables", each) for each in fleet.raw(group, name, "variables"))


def _included(fleet: Fleet, tenant: str) -> set[object]:
    """The sources that others of the tenant include."""
    return {
        mapping_at(entry, "repository").get("name")
        for source in fleet.raw("tenants", tenant, "sources").values()
        for entry in mapping_at(source, "git").get("include") or ()
    }


def _unused(path: Path, what: str, why: str, fix: str = "") -> Finding:
    verb = "are" if what == "credentials" else "is"
    return doubtful(
        path,
        "unused",
        f"{what} '{path[-1]}' {verb} declared, but never used: {why}",
        fix=fix or ("use it, or remove it" if verb == "is" else "use them, or remove them"),
        at_key=True,
    )
