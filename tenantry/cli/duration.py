"""Options whose value is a duration."""

from __future__ import annotations

import re

import click

from tenantry.messages.errors import Refused
from tenantry.model.durations import seconds_of

_DURATION = re.compile(r"(?:\d+h)?(?:\d+m)?(?:\d+s)?")


def seconds(_: click.Context, __: click.Parameter, written: str | None) -> float | None:
    """The callback of an option: 1h30m as seconds. Raises: Refused: it is no duration."""
    if written is None:
        return None
    if not written or not _DURATION.fullmatch(written):
        raise Refused(f"'{written}' is not a duration", "write it as 90m, 1h or 1h30m")
    return seconds_of(written)
