"""What the main file grants to the included file of a tenant, and what the file may name: its own entries alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from tenantry.addresses import Address, BadAddress, read
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.names import OF_THE_FILE, names_in
from tenantry.grants.model import Grants
from tenantry.messages.data import depth_of
from tenantry.messages.errors import Path, Problem
from tenantry.messages.placeholders import with_values
from tenantry.model import Tenant

SHORTEST_INTERVAL = "1s"
"""The shortest interval that the admission policy of the clusters lets a tenant have, whoever wrote it."""
TIMEOUT, INTERVAL, RETRIES, HISTORY = "timeout", "interval", "retries", "history"
BOUNDS: dict[str, tuple[str | int, str | int]] = {
    # For some programs a timeout of zero means to wait without end. The longest is what Flux's own examples and charts of databases
    # need; a worker of a controller is held that long.
    TIMEOUT: ("1s", "1h"),
    # Something that is looked at less than once a day is suspended in all but name.
    INTERVAL: ("30s", "24h"),
    RETRIES: (0, 20),
    HISTORY: (1, 20),
}
"""What values in an included file are between. The main file may say more."""
MOST = {
    # More than the largest tenant has of a fleet that we know.
    "apps": 200,
    "sources": 50,
    **dict.fromkeys(("credentials", "configs"), 100),
    **dict.fromkeys(("alerts", "receivers", "namespaces"), 20),
}
"""How many entries an included file may have."""


def grants_of(fleet: Fleet, tenant: str) -> Grants | None:
    """The grants of a tenant; None if no included file speaks of the tenant."""
    if tenant not in fleet.source.fills:
        return None
    declared = fleet.document.tenants.get(tenant)
    return (declared and declared.grants) or Grants()


def grant_at(fleet: Fleet, tenant: str, *path: str | int) -> Path:
    """Where a grant of the tenant is written; the tenant itself if nothing is granted."""
    at = ("tenants", tenant)
    depth = depth_of(fleet.raw(*at, "grants"), path) if has_sound_grants(fleet, tenant) else 0
    return (*at, "grants", *path[:depth]) if depth else at


def is_filled(fleet: Fleet, path: Path) -> bool:
    """Whether an included file wrote the value at a path."""
    return fleet.source.filled_by(path) is not None


def filled_tenants(fleet: Fleet) -> Iterator[tuple[str, Grants]]:
    """The tenants that included files speak of, with their grants; without those that are left out, or whose grants are."""
    for tenant in fleet.source.fills:
        if tenant in fleet.document.tenants and has_sound_grants(fleet, tenant):
            yield tenant, grants_of(fleet, tenant) or Grants()


def has_sound_grants(fleet: Fleet, tenant: str) -> bool:
    """Whether the shape of the tenant's grants is right. Otherwise everything would seem not to be granted."""
    return ("tenants", tenant, "grants") not in fleet.left_out


ANY = "*"
_BELOW = "/*"


def is_allowed(address: str, patterns: Iterable[str]) -> bool:
    """Whether any of the patterns allows the address. Patterns have no placeholders left."""
    parts = _parts(address)
    return parts is not None and any(pattern == ANY or _allows(pattern, parts) for pattern in patterns)


def is_covered(pattern: str, patterns: Collection[str]) -> bool:
    """Whether other patterns allow everything that a pattern allows, whatever placeholders become; false where that is not sure."""
    if pattern == ANY or pattern in patterns or ANY in patterns:
        return pattern in patterns or ANY in patterns
    # One place stands for all below a path.
    address = pattern.removesuffix(ANY) + "anything" if pattern.endswith(_BELOW) else pattern
    return is_allowed(_with_words(address), map(_with_words, patterns))


def _with_words(pattern: str) -> str:
    """The pattern with a word for each placeholder that tells it from others."""
    return with_values(pattern, lambda name: f"x{name.encode().hex()}x")


def _allows(pattern: str, address: Address) -> bool:
    granted = _parts(pattern.removesuffix(_BELOW))
    if granted is None or granted.query or address.query:
        return False
    if (granted.scheme, granted.host, granted.port) != (address.scheme, address.host, address.port):
        return False
    return address.path.startswith(f"{granted.path}/") if pattern.endswith(_BELOW) else address.path == granted.path


def _parts(address: str) -> Address | None:
    try:
        return read(address)
    except BadAddress:
        return None


# --- names ------------------------------------------------------------------------------------------------------------


def foreign_names(fleet: Fleet, tenant: str) -> Iterator[Problem]:
    """A finding for each name in a tenant's included file that is not the file's to use."""
    at = ("tenants", tenant)
    for path, group, name, _ in names_in(Tenant, fleet.raw(*at), at):
        if group not in OF_THE_FILE and is_filled(fleet, path) and not is_own(fleet, tenant, group, name):
            yield platforms_entry(fleet, tenant, path, group, name)


def is_own(fleet: Fleet, tenant: str, group: str, name: str) -> bool:
    """Whether the main file does not declare the entry; what nobody declares, another rule reports."""
    at = ("tenants", tenant, group, name)
    return name not in fleet.raw(*at[:-1]) or is_filled(fleet, at)


def names_all(fleet: Fleet, tenant: str, group: str) -> bool:
    """Whether the included file declares everything that the tenant has of a group."""
    return all(is_own(fleet, tenant, group, name) for name in fleet.raw("tenants", tenant, group))


def platforms_entry(fleet: Fleet, tenant: str, path: Path, group: str, name: str) -> Problem:
    """An included file names an entry of the main file. Args: path: where."""
    return Problem(
        path,
        "platforms-entry",
        f"'{name}' under '{group}' of tenant '{tenant}' belongs to the platform's file, and its included file may not name it",
        (f"declared: {fleet.source.line_of(('tenants', tenant, group, name))}",),
        fix="declare one in this file, or, if that one is the tenant's own, ask the platform team to move it here",
    )
