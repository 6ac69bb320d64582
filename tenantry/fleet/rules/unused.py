"""Rules about entries that are declared and never used. They are not planned, so nobody would notice that they are missing."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.rules import walk
from tenantry.fleet.rules.references import names_of_attachments
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Finding, Path
from tenantry.messages.findings import doubtful


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


def _included(fleet: Fleet, tenant: str) -> set[object]:
    """The sources that others of the tenant include."""
    return {
        mapping_at(entry, "repository").get("name")
        for source in fleet.raw("tenants", tenant, "sources").values()
        for entry in mapping_at(source, "git").get("include") or ()
    }


def _unused(path: Path, what: str, why: str) -> Finding:
    verb = "are" if what == "credentials" else "is"
    return doubtful(
        path,
        "unused",
        f"{what} '{path[-1]}' {verb} declared, but never used: {why}",
        fix="use it, or remove it" if verb == "is" else "use them, or remove them",
        at_key=True,
    )
