"""The two sides of a comparison: the file as it is, and as it is at BASE, both planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tenantry.cli.failures import as_document
from tenantry.cli.output import data_json, report_invalid, working
from tenantry.facts.revision import Base, load_base
from tenantry.fleet.fleet import Fleet
from tenantry.guard import RunLimits, limits_of, refusals_of_change
from tenantry.guard.permissions import checked
from tenantry.load import load_fleet, plan_all, plan_one
from tenantry.messages.errors import INVALID_BASE, UNKNOWN_NAME, InvalidFleet, Problem, Refused
from tenantry.messages.progress import Progress, steps
from tenantry.plan.plan import Plan, nothing_of
from tenantry.stacks.outcome import for_stack


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """fleet: the file as it is; before, after: the plans by environment."""

    fleet: Fleet
    base: Base
    after: Mapping[str, Plan]

    @property
    def before(self) -> Mapping[str, Plan]:
        return self.base.plans


def both_sides(file: Path, base: str, environments: tuple[str, ...], *, merge_base: bool, as_json: bool) -> Sides:
    """Read and plan both sides. Args: as_json: print the problems of an invalid base as JSON.

    Raises: InvalidFleet: the file is invalid; Refused: the base is wrong, or neither side declares the environment.
    """
    with working(f"planning {file}") as tell:
        fleet = load_fleet(file)
        after = _chosen(fleet, environments, tell)
    for environment in environments:
        fleet.check_stack(environment)
    known: set[str] = set(fleet.environments)

    def planned_before(there: Fleet) -> Mapping[str, Plan]:
        known.update(there.environments)
        return after if _same(there, fleet) else _chosen(there, environments, tell)

    try:
        with working(f"planning {base}") as tell:
            before = load_base(file, base, planned_before, merge_base=merge_base)
    except InvalidFleet as invalid:
        raise _nothing_to_compare(base, invalid, as_json=as_json) from None
    except Refused as refused:
        if base not in fleet.environments or "is neither a commit" not in refused.message:
            raise
        fix = f"to see what changes in it: tenantry diff --environment {base}"
        raise Refused(f"'{base}' is an environment, not a Git revision or a file", fix, code=refused.code) from None
    if unknown := [environment for environment in environments if environment not in known]:
        message = f"neither {file} nor {before.name} declares environment '{unknown[0]}'"
        raise Refused(message, f"name one of: {', '.join(sorted(known))}", code=UNKNOWN_NAME)
    return Sides(fleet=fleet, base=before, after=after)


def _same(one: Fleet, other: Fleet) -> bool:
    """Whether both say the same, so that their plans are the same. A comment or another layout changes nothing."""
    # `==` would treat True as 1. The order of keys counts, because plans are in the order of the file.
    return one.source.fills.keys() == other.source.fills.keys() and repr(one.source.data) == repr(other.source.data)


def _chosen(fleet: Fleet, environments: tuple[str, ...], tell: Progress) -> Mapping[str, Plan]:
    """The plans of the requested environments that are declared, in the fleet's order."""
    if not environments:
        return plan_all(fleet, tell)
    chosen = [name for name in fleet.in_order() if name in environments]
    return {name: plan_one(fleet, name) for name in steps(chosen, "environments", tell)}


def _nothing_to_compare(base: str, invalid: InvalidFleet, *, as_json: bool) -> Refused:
    """The error, after the problems of the base are printed."""
    message = f"the file at '{base}' is invalid, so there is nothing to compare with"
    fix = "name a base that is valid; `tenantry render` shows everything that the file yields now"
    refused = Refused(message, fix, code=INVALID_BASE)
    if as_json:
        result = as_document(invalid) | as_document(refused) | {"base": {"name": base, "commit": None}}
        data_json(result, "Diff")
    report_invalid(invalid)
    return refused


class Limits:
    """How much may be removed. Args: given: the limit of the command line, if any; allowed: removals allowed by name."""

    def __init__(self, sides: Sides, given: int | str | None, allowed: tuple[str, ...]) -> None:
        self._sides = sides
        self._given = given
        self._allowed = checked(allowed)

    def deletions(self, environment: str) -> int | str | None:
        """The most deletions of each kind in an environment; None: it is no longer declared, and no limit is given."""
        if environment not in self._sides.fleet.environments:
            return self._given
        return limits_of(self._sides.fleet, environment, self._given).deletions

    def refusals(self, environment: str) -> tuple[Refused, ...]:
        """The guard's reasons why `tenantry up` would refuse the deletions in an environment."""
        before, after = self._sides.before.get(environment), self._sides.after.get(environment)
        deletions = self.deletions(environment)
        if before is None or deletions is None or before is after:
            return ()
        # No run removes an environment that is no longer declared, but a given limit applies to its objects.
        limits = RunLimits(protected=False, deletions=deletions, allowed=self._allowed, emptying=True)
        if after is not None:
            limits = limits_of(self._sides.fleet, environment, self._given, self._allowed)
        problems = refusals_of_change(before, after or nothing_of(before), limits)
        return tuple(_refusal(environment, problem, limits) for problem in problems)


def _refusal(environment: str, problem: Problem, limits: RunLimits) -> Refused:
    message = f"`tenantry up` of environment '{environment}' would be refused: {problem.message}"
    # A stack is called like its environment, unless its config says otherwise.
    fix = for_stack(problem.fix, environment)
    if problem.code == "removals":
        if limits.protected and _APP in problem.message:
            fix += f"\n  {_UNAPPLIED}"
        elif not limits.protected:
            fix += "; --max-deletions N and --allow-deletion NAME compare with other limits"
    return Refused(message, fix, code=problem.code)


_APP = "\n    app '"
_UNAPPLIED = "an app that Flux never applied may be removed at once: `tenantry up` sees that, this command does not"
"""What only the cluster tells."""
