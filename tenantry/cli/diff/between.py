"""`tenantry diff --between`: two environments of one file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tenantry.cli.diff.lines import change_lines
from tenantry.cli.diff.markdown import section
from tenantry.cli.diff.text import block
from tenantry.cli.diff.values import DisplayLimits, Line
from tenantry.cli.output import columns, data, data_json, working
from tenantry.facts.changes import Change, Effect, between
from tenantry.facts.explain import known
from tenantry.kube.names import PLATFORM
from tenantry.load import load_fleet
from tenantry.messages.errors import Refused
from tenantry.plan.plan import plan

_FORMATS = ("text", "json", "markdown")


def compare_environments(file: Path, first: str, second: str, tenants: Sequence[str], output: str) -> int:
    """Print what differs. Returns: 1 if anything does. Raises: Refused: a name is not declared, or the format does not fit."""
    if output not in _FORMATS:
        raise Refused(f"--between has no format '{output}'", f"choose one of: {', '.join(_FORMATS)}")
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        for name in tenants:
            known("tenant", name, [*fleet.document.tenants, PLATFORM], fleet.source.file)
        wanted = ["" if each == PLATFORM else each for each in tenants]
        found = between(fleet, plan(fleet, first), plan(fleet, second), wanted)
    title = f"{first} -> {second}{'' if found else ': no difference'}"
    if output == "json":
        data_json({"environments": [first, second], "changes": found}, "Comparison")
    elif output == "markdown":
        data(section(title, list(_lines(found, first, second))))
    else:
        data(block(title, _lines(found, first, second), columns(sys.stdout)))
    return int(bool(found))


def _lines(found: Sequence[Change], first: str, second: str) -> Iterator[Line]:
    only = {Effect.REMOVED: f" only in {first}", Effect.ADDED: f" only in {second}", Effect.CHANGED: ""}
    for change in found:
        heading, *values = change_lines(change, 0, DisplayLimits())
        yield heading._replace(text=heading.text + only[change.effect])
        yield from values
