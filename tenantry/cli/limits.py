"""The type of options that say how many of some things may be."""

from __future__ import annotations

from typing import Any

import click

from tenantry.guard.permissions import limit_in


class LimitType(click.ParamType["int | str"]):
    """A number, or a share such as `10%`."""

    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        limit = limit_in(str(value))
        if limit is None:
            self.fail(f"'{value}' is neither a number nor a share such as 10%", param, ctx)
        return limit
