"""How problems of clusters look."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tenantry.diagnostics import counted
from tenantry.problems import Problem, Severity
from tenantry.quoting import presentable

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


def as_text(problem: Problem) -> str:
    """`error[code]: message`, and the remedy below it."""
    mark = click.style(f"{problem.severity}[{problem.code}]", fg=_COLOURS[problem.severity], bold=True)
    return f"{mark}: {presentable(problem.message)}\n  fix: {presentable(problem.fix)}"


def counts(problems: Sequence[Problem]) -> str:
    """2 errors, 1 warning; "" if there are none."""
    numbers = {each: sum(problem.severity is each for problem in problems) for each in Severity}
    return ", ".join(counted(number, each) for each, number in numbers.items() if number)
