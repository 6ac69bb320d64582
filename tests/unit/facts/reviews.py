"""The reviews of two texts, and what a terminal shows of them."""

from __future__ import annotations

import click

from tenantry.cli.lines import DisplayLimits, as_text
from tenantry.facts.dangers import Danger
from tenantry.facts.review import Review, review, shared_dangers
from tenantry.load import plan_all
from tests.unit.texts import fleet


def reviewed(before: str, after: str) -> tuple[Review, ...]:
    one, other = fleet(before), fleet(after)
    return review(one, other, plan_all(one), plan_all(other))


def shown(before: str, after: str) -> str:
    """Everything that a terminal shows, with a line for each fact."""
    return click.unstyle(as_text(reviewed(before, after), "main", DisplayLimits(), None))


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
