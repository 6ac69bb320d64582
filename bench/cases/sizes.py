"""How large a measured fleet is, and what of it is measured."""

from __future__ import annotations

from typing import NamedTuple


class Size(NamedTuple):
    """rounds: how often the programs with the same settings take turns. defaults: whether to run with Pulumi's own settings too."""

    tenants: int
    rounds: int
    defaults: bool
