"""A comparison: the file as it is and as it is at BASE, both planned, why `tenantry up` would refuse it, and its formats."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tenantry.cli.diff.lines import DisplayLimits, as_text
from tenantry.cli.diff.markdown import as_markdown
from tenantry.cli.failures import as_document, described
from tenantry.cli.output import data_json, report_invalid, working
from tenantry.facts.objects import Status
from tenantry.facts.review import Review, review
from tenantry.facts.revision import Base, load_base
from tenantry.fleet.fleet import Fleet
from tenantry.guard import RunLimits, limits_of, refusals_of_change
from tenantry.guard.permissions import checked
from tenantry.load import load_fleet, plan_all, plan_one
from tenantry.messages.errors import INVALID_BASE, UNKNOWN_NAME, InvalidFleet, Problem, Refused
from tenantry.messages.progress import Progress, steps
from tenantry.plan.plan import Plan, plan
from tenantry.stacks.outcome import for_stack

FORMATS = ("text", "json", "markdown", "environments", "html")


Plans = Mapping[str, Plan]
"""The plans of a side by environment."""


def compared(
    file: Path,
    base: str,
    environment: str | None,
    *,
    allowed: tuple[str, ...],
    merge_base: bool,
    as_json: bool,
) -> Result:
    """Read, plan and compare both sides. Args: as_json: print the problems of an invalid base as JSON; allowed: of `Result`.

    Raises: InvalidFleet: the file is invalid; Refused: the base is wrong, or neither side declares the environment.
    """
    with working(f"planning {file}") as tell:
        fleet = load_fleet(file)
        after = _plans(fleet, environment, tell)
    if environment:
        fleet.check_stack(environment)
    try:
        with working(f"planning {base}") as tell:
            side = load_base(file, base, merge_base=merge_base)
            before = _plans_before(side.fleet, fleet, after, environment, tell)
    except InvalidFleet as invalid:
        message = f"the file at '{base}' is invalid, so there is nothing to compare with"
        fix = "name a base that is valid; `tenantry render` shows everything that the file yields now"
        refused = Refused(message, fix, code=INVALID_BASE)
        if as_json:
            result = as_document(invalid) | as_document(refused) | {"base": {"name": base, "commit": None}}
            data_json(result, "Diff")
        report_invalid(invalid)
        raise refused from None
    known = {*fleet.environments, *(side.fleet.environments if side.fleet else ())}
    if environment and environment not in known:
        message = f"neither {file} nor {side.name} declares environment '{environment}'"
        raise Refused(message, f"name one of: {', '.join(sorted(known))}", code=UNKNOWN_NAME)
    with working("comparing"):
        return Result(side, before, fleet, after, allowed)


def _plans_before(before: Fleet | None, fleet: Fleet, after: Plans, environment: str | None, tell: Progress) -> Plans:
    if before is None:
        return {}
    # `==` would treat True as 1. The order of keys counts, because plans are in the order of the file. A comment or another
    # layout changes nothing.
    source, other = fleet.source, before.source
    if source.fills.keys() == other.fills.keys() and repr(source.data) == repr(other.data):
        return after
    # Nothing is applied of this side, so nobody needs a second opinion of it, or what its environments have in common.
    wanted = [name for name in before.in_order() if environment in (None, name)]
    return {name: plan(before, name) for name in steps(wanted, "environments", tell)}


def _plans(fleet: Fleet, environment: str | None, tell: Progress) -> Plans:
    """The plans of all environments, or of one if it is declared."""
    if environment is None:
        return plan_all(fleet, tell)
    return {environment: plan_one(fleet, environment)} if environment in fleet.in_order() else {}


class Result:
    """A comparison, and why `tenantry up` would refuse it.

    Args:
        base: What is compared with; before: its plans. after: Those of the fleet.
        allowed: Removals that the command line allows by name.
    """

    def __init__(self, base: Base, before: Plans, fleet: Fleet, after: Plans, allowed: tuple[str, ...] = ()) -> None:
        self.base, self._before, self._fleet, self._after = base, before, fleet, after
        self._allowed = checked(allowed)
        self.reviews: tuple[Review, ...] = review(base.fleet, fleet, before, after)
        self._refused = {name: self._refusals(name) for name in dict.fromkeys((*after, *before))}

    @property
    def refusals(self) -> list[Refused]:
        return [refused for refusals in self._refused.values() for refused in refusals]

    @property
    def is_different(self) -> bool:
        return any(self.reviews)

    def text(self, format: str, width: int | None) -> str:
        """Every format but JSON. Args: width: of the terminal; None: it is not for one."""
        base = self.base.name
        match format:
            case "environments":
                changed = (review for review in self.reviews if review and review.status is not Status.REMOVED)
                return "\n".join(review.environment for review in changed)
            case "markdown":
                return as_markdown(self.reviews, base, [refused.message for refused in self.refusals])
            case "html":
                # It takes a while to import, and no other format needs it.
                from tenantry.cli.diff.page import as_html

                return as_html(self.reviews, base, self.refusals)
        return as_text(self.reviews, base, DisplayLimits(), width)

    def document(self) -> dict[str, Any]:
        """What `--output json` prints. maxDeletions: how many removals of a kind a run may do."""
        return {
            "base": {"name": self.base.name, "commit": self.base.commit or None},
            "environments": self.reviews,
            "maxDeletions": {review.environment: self._deletions(review.environment) for review in self.reviews},
            "refusals": {name: [*map(described, refusals)] for name, refusals in self._refused.items() if refusals},
        }

    def _deletions(self, environment: str) -> int | str | None:
        """The most deletions of each kind in an environment; None: it is no longer declared."""
        return limits_of(self._fleet, environment, None).deletions if environment in self._fleet.environments else None

    def _refusals(self, environment: str) -> tuple[Refused, ...]:
        """The guard's reasons why `tenantry up` would refuse the deletions in an environment."""
        before, after = self._before.get(environment), self._after.get(environment)
        # No run removes an environment that is no longer declared.
        if before is None or after is None or before is after:
            return ()
        limits = limits_of(self._fleet, environment, None, self._allowed)
        problems = refusals_of_change(before, after, limits)
        return tuple(_refusal(environment, problem, limits) for problem in problems)


_APP = "\n    app '"
_UNAPPLIED = "an app that Flux never applied may be removed at once: `tenantry up` sees that, this command does not"
"""What only the cluster tells."""


def _refusal(environment: str, problem: Problem, limits: RunLimits) -> Refused:
    message = f"`tenantry up` of environment '{environment}' would be refused: {problem.message}"
    # A stack is called like its environment, unless its config says otherwise.
    fix = for_stack(problem.fix, environment)
    if problem.code == "removals":
        if limits.protected and _APP in problem.message:
            fix += f"\n  {_UNAPPLIED}"
        elif not limits.protected:
            fix += "; --allow-deletion NAME compares without one"
    return Refused(message, fix, code=problem.code)
