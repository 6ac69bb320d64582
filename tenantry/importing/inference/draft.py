"""An inventory to a draft that is valid."""

from __future__ import annotations

from tenantry.importing.inference.assemble import Assembly
from tenantry.importing.inference.settle import settled
from tenantry.importing.model import Draft, Inventory


def drafted(inventory: Inventory) -> Draft:
    """What was read, as a fleet that can be loaded and planned. Raises: Refused: nothing of it can be."""
    assembly = Assembly(inventory)
    return settled(inventory, assembly.document(), assembly.notes)
