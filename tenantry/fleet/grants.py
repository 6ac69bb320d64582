"""What the main file grants to the included file of a tenant.

Called by: placement, rules, the plan and `explain`. A tenant that the main file alone speaks of needs no grants.
"""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer, origin
from tenantry.fleet.resolve import resolved_layers
from tenantry.messages.errors import Path
from tenantry.model.frame import Grants

ANY = "*"
"""The address pattern that allows every address."""
DEFAULT_ROLES = ("view",)
SHORTEST_INTERVAL = "30s"
POLICYS_SHORTEST = "1s"
"""The shortest interval that the admission policy of the clusters lets a tenant have, whoever wrote it."""


def grants_of(fleet: Fleet, tenant: str) -> Grants | None:
    """The grants of `defaults` and of the tenant; None if no included file speaks of the tenant."""
    if tenant not in fleet.source.fills:
        return None
    if tenant not in fleet.grants:
        fleet.grants[tenant] = resolved_layers(grant_layers(fleet, tenant), Grants, None)
    return fleet.grants[tenant]


def grant_layers(fleet: Fleet, tenant: str) -> list[Layer]:
    """The layers of a tenant's grants."""
    paths = (("defaults", "grants"), ("tenants", tenant, "grants"))
    # A selector is taken whole from the nearest level.
    own = "clusters" in fleet.raw(*paths[1])
    layers = [Layer(path, {} if path in fleet.left_out else fleet.raw(*path)) for path in paths]
    if own and "clusters" in layers[0].data:
        layers[0] = Layer(paths[0], {key: value for key, value in layers[0].data.items() if key != "clusters"})
    return layers


def grant_at(fleet: Fleet, tenant: str, *path: str | int) -> Path:
    """Where a grant of the tenant is written; the tenant itself if nothing is granted."""
    at = origin(grant_layers(fleet, tenant), path)
    return at if len(at) > 2 and at[-1] != "grants" else ("tenants", tenant)


def is_filled(fleet: Fleet, path: Path) -> bool:
    """Whether an included file wrote the value at a path."""
    return fleet.source.filled_by(path) is not None


def filled_tenants(fleet: Fleet) -> Iterator[tuple[str, Grants]]:
    """The tenants that included files speak of, with their grants; without those that are left out, or whose grants are."""
    for tenant in fleet.source.fills:
        if (
            tenant in fleet.document.tenants
            and has_sound_grants(fleet, tenant)
            and (grants := grants_of(fleet, tenant))
        ):
            yield tenant, grants


def has_sound_grants(fleet: Fleet, tenant: str) -> bool:
    """Whether the shape of the tenant's grants is right. Otherwise everything would seem not to be granted."""
    return fleet.left_out.isdisjoint(layer.path for layer in grant_layers(fleet, tenant))


def filled_entries(fleet: Fleet, key: str) -> Iterator[tuple[str, str]]:
    """The tenant and the name of every entry under one of the tenants' keys that an included file wrote."""
    for tenant, _ in filled_tenants(fleet):
        for name in fleet.raw("tenants", tenant, key):
            if is_filled(fleet, ("tenants", tenant, key, name)):
                yield tenant, name
