"""`tenantry up` of several environments: one after the other, in their order, and what has become of each."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import click

from tenantry.cli.failures import exit_code, report
from tenantry.cli.foreground import INTERRUPTED
from tenantry.cli.output import say, working
from tenantry.fleet.fleet import Fleet
from tenantry.load import load_fleet
from tenantry.messages.errors import InvalidFleet, Refused
from tenantry.plan.plan import check_declared
from tenantry.stacks.outcome import WAITS

_ENDED = {INTERRUPTED: "interrupted", 1: "failed", 2: "cannot run", 4: "refused", WAITS: "waits", 0: "done"}
"""What an exit code says of an environment, the worst first."""


def up_each(file: Path, environments: Collection[str], up: Callable[[str], int], *, in_turn: bool) -> int:
    """Apply each environment after those in its `after`, and say at the end how each has ended.

    Args:    up: applies one; returns its exit code. in_turn: one is left out if an environment before it did not end well.
    Returns: the worst exit code.
    Raises:  InvalidFleet, Refused: the file is invalid, or declares no such environment. Nothing was applied then.
    """
    with working(f"planning {file}"):
        fleet = load_fleet(file)
    for name in environments:
        check_declared(fleet, name)
    codes: dict[str, int] = {}
    told: list[str] = []
    for name in (each for each in fleet.in_order() if each in environments):
        before = next((each for each in _before(fleet, name) if codes.get(each)), "") if in_turn else ""
        if before or INTERRUPTED in codes.values():
            told.append(f"{name}: not begun" + (f", because of {before}" if before else ""))
            continue
        say(click.style(f"{chr(10) if codes else ''}environment {name}", bold=True))
        try:
            codes[name] = up(name)
        except (InvalidFleet, Refused) as failure:
            report(failure)
            codes[name] = exit_code(failure)
        code = f" (exit code {codes[name]})" if codes[name] else ""
        told.append(f"{name}: {_ENDED.get(codes[name], _ENDED[1])}{code}")
    say("\n".join(("", *told)))
    return min(codes.values(), key=_rank)


def _rank(code: int) -> int:
    return [*_ENDED].index(code if code in _ENDED else 1)


def _before(fleet: Fleet, environment: str) -> list[str]:
    """The environments that come before one, the nearest first."""
    found = []
    while before := fleet.environments[environment].before:
        found.append(before)
        environment = before
    return found
