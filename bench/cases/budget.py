"""The budget of time: what a command may take, so that nothing is made harder to read only to be faster than that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.cases.commands import COMMANDS
from bench.fleets import OBJECTS_OF_A_TENANT, write_versions
from bench.measure import TENANTRY, in_turns, rows, run
from bench.tables import BUDGET, Table

START = 0.2
"""Seconds for a question about the command itself."""
SMALL = 0.6
"""Seconds for any command on a fleet of 1,000 objects."""
LARGE = 3.0
"""Seconds for `validate` and `render` of 10,000 objects."""
_SMALL = {
    **COMMANDS,
    "list apps": ("list", "apps"),
    "set one value": ("set", "tenants.team-7.apps.web.kustomize.interval", "7m", "--dry-run"),
}
_LARGE = {name: COMMANDS[name] for name in ("validate", "render")}


def measure(*, runs: int, sizes: tuple[int, int]) -> Iterator[Table]:
    """Args: sizes: the objects of the small and of the large fleet."""
    with TemporaryDirectory() as name:
        small, large = Path(name, "small"), Path(name, "large")
        for directory, objects in zip((small, large), sizes, strict=True):
            directory.mkdir()
            write_versions(directory, max(8, objects // OBJECTS_OF_A_TENANT))
        tasks = {("--help", START): partial(run, [TENANTRY, "--help"], small)}
        for directory, objects, commands, budget in (
            (small, sizes[0], _SMALL, SMALL),
            (large, sizes[1], _LARGE, LARGE),
        ):
            for command, words in commands.items():
                key = (f"{command}, {objects:,} objects", budget)
                tasks[key] = partial(run, [TENANTRY, *words], directory, fine=(0, 1))
        found = in_turns(tasks, runs)
    budgets = dict(tasks.keys())
    measured = rows({command: used for (command, _), used in found.items()})
    yield Table(
        "budget",
        "The budget",
        f"What commands take, and what they may take at most, in seconds. The median of {runs} runs, in which all take turns."
        " `make bench` fails if a command takes longer.",
        tuple(replace(row, more={BUDGET: budgets[row.name]}) for row in measured),
    )
