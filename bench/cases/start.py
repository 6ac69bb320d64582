"""How long commands take to start."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.measure import TENANTRY, in_turns, rows, run
from bench.tables import Table

PROJECT = Path(__file__).parents[2]
FLOOR = "import pydantic, yaml"
_COMMANDS = {
    "--version": ("--version",),
    "--help": ("--help",),
    "validate examples/minimal": ("--file", "examples/minimal/tenants.yaml", "validate"),
    "validate tenants.yaml": ("--file", "tenants.yaml", "validate"),
}
_COMPLETION = {"_TENANTRY_COMPLETE": "bash_complete", "COMP_WORDS": "tenantry val", "COMP_CWORD": "1"}


def measure(*, runs: int) -> Iterator[Table]:
    tasks = {
        FLOOR: partial(run, [sys.executable, "-c", FLOOR], PROJECT),
        "completion of a command": partial(run, [TENANTRY], PROJECT, _COMPLETION),
        **{name: partial(run, [TENANTRY, *words], PROJECT) for name, words in _COMMANDS.items()},
    }
    yield Table(
        "start",
        "The start of commands",
        f"Processes that do little, on the fleets of this repository. The median of {runs} runs, in which all take turns.",
        rows(in_turns(tasks, runs)),
        FLOOR,
        "processor",
    )
