"""The reviews of two texts, and what a terminal shows of them."""

from __future__ import annotations

from functools import cache

import click

from tenantry.cli.lines import as_text
from tenantry.facts.dangers import Danger
from tenantry.facts.review import Review, review, shared_dangers
from tenantry.fleet.fleet import Fleet
from tenantry.load import plan_all
from tenantry.plan.plan import Plan
from tests.unit.texts import fleet


@cache
def _planned(text: str) -> tuple[Fleet, dict[str, Plan]]:
    """The fleet of a text and its plans, made once: most changes are of the same fleet."""
    made = fleet(text)
    return made, plan_all(made)


def reviewed(before: str, after: str) -> tuple[Review, ...]:
    (one, plans), (other, others) = _planned(before), _planned(after)
    return review(one, other, plans, others)


def shown(before: str, after: str) -> str:
    """Everything that a terminal shows, with a line for each fact."""
    return click.unstyle(as_text(reviewed(before, after), "main"))


def section(before: str, after: str) -> list[str]:
    """The lines of all sections: without the line of the base, dangers, and what stands below `objects`."""
    parts = shown(before, after).partition("\n\nobjects\n")[0].split("\n\n")[1:]
    return [line for part in parts if not part.startswith("! ") for line in part.splitlines()]


def between(before: str, after: str) -> tuple[Danger, ...]:
    """The dangers of the only environment."""
    (found,) = reviewed(before, after)
    return found.dangers


def told(before: str, after: str) -> list[str]:
    """The same as text."""
    return [each.text() for each in shared_dangers(reviewed(before, after))]
