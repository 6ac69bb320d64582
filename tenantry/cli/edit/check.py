"""Checks an edited fleet in memory, and compares it with the fleet before the edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tenantry.cli.diff.result import Result
from tenantry.cli.diff.sides import Limits, Sides
from tenantry.cli.output import say
from tenantry.edit.editor import Editor
from tenantry.facts.revision import Base
from tenantry.fleet.fleet import Fleet
from tenantry.load import load_fleet, plan_all, warnings_of
from tenantry.messages.errors import InvalidFleet, Problem
from tenantry.plan.plan import Plan
from tenantry.source.parse import Reader

_BEFORE = "the file before this edit"


class Checked(NamedTuple):
    """errors: of the edited fleet, all of which it had before; new_warnings: those it did not have; compared: None if there
    are errors before or after.
    """

    errors: tuple[Problem, ...]
    new_warnings: tuple[Problem, ...]
    compared: Result | None


def check_both(editor: Editor) -> Checked:
    """Check the fleet before and after the edit.

    An invalid fleet can be edited, so that its errors can be corrected one after the other; but no edit may add one.
    Raises: InvalidFleet: the edit adds errors; these are all of them.
    """
    before, after = _Side(editor, editor.read_before), _Side(editor, editor.read)
    known = {_essence(error) for error in before.errors}
    if added := [error for error in after.errors if _essence(error) not in known]:
        say("nothing is written, because the edited file would be invalid (lines as edited):")
        raise InvalidFleet(added)
    if before.fleet is None or after.fleet is None:
        return Checked(after.errors, (), None)
    warned = {_essence(warning) for warning in warnings_of(before.fleet)}
    warnings = tuple(warning for warning in warnings_of(after.fleet) if _essence(warning) not in warned)
    base = Base(_BEFORE, fleet=before.fleet, plans=before.plans)
    sides = Sides(fleet=after.fleet, base=base, after=after.plans)
    return Checked((), warnings, Result(sides, Limits(sides, None, ()), everything=False))


class _Side:
    """A fleet before or after the edit: its plans, or its errors."""

    def __init__(self, editor: Editor, reader: Reader) -> None:
        self.fleet: Fleet | None = None
        self.plans: Mapping[str, Plan] = {}
        self.errors: tuple[Problem, ...] = ()
        try:
            fleet = load_fleet(editor.main, reader)
            self.plans = plan_all(fleet)
            self.fleet = fleet
        except InvalidFleet as invalid:
            self.errors = invalid.diagnostics


def _essence(problem: Problem) -> tuple[Any, ...]:
    """What makes a problem the same one although its line is another: everything but its places."""
    return problem.location.file, problem.code, problem.path, problem.message.split(":")[0]
