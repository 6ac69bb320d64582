"""Rules about who declares what is named: an included file names its own, and what the main file shares with it."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet.authors import foreign_names
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.grants import filled_tenants
from tenantry.messages.errors import Finding


def included_files_name_what_is_theirs_or_shared(fleet: Fleet) -> Iterator[Finding]:
    """As written; the plan looks again at what placeholders stand for."""
    for tenant, _ in filled_tenants(fleet):
        yield from foreign_names(fleet, tenant)
