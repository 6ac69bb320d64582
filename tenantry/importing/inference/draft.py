"""An inventory to a draft that is valid."""

from __future__ import annotations

from collections.abc import Mapping

from tenantry.importing.inference.assemble import Assembly
from tenantry.importing.inference.settle import settled
from tenantry.importing.model import Draft, Inventory


def drafted(inventory: Inventory, chart: Mapping[str, str] | None = None, *, keep_values: bool = False) -> Draft:
    """What was read, as a fleet that can be loaded and planned.

    Args:   chart: where the chart for baselines on remote clusters is.
            keep_values: write values that may be secrets, too.
    Raises: Refused: nothing of it can be.
    """
    assembly = Assembly(inventory, chart, keep_values=keep_values)
    return settled(inventory, assembly.document(), assembly.notes)
