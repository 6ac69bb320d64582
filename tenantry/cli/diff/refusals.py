"""What the guard of `tenantry up` would say to a difference, if the cluster held exactly what the base plans."""

from __future__ import annotations

from tenantry.cli.diff.sides import Sides
from tenantry.guard import RunLimits, limits_of, refusals_of_change
from tenantry.guard.permissions import checked
from tenantry.messages.errors import Problem, Refused
from tenantry.plan.plan import nothing_of


class Limits:
    """How much may be removed. Args: given: the limit of the command line, if any; allowed: removals allowed by name."""

    def __init__(self, sides: Sides, given: int | None, allowed: tuple[str, ...]) -> None:
        self._sides = sides
        self._given = given
        self._allowed = checked(allowed)

    def deletions(self, environment: str) -> int | None:
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
        limits = self._undeclared(deletions)
        if after is not None:
            limits = limits_of(self._sides.fleet, environment, self._given, self._allowed)
        problems = refusals_of_change(before, after or nothing_of(before), limits)
        return tuple(_refusal(environment, each, limits) for each in problems)

    def _undeclared(self, deletions: int) -> RunLimits:
        """No run removes an environment that is no longer declared, but a given limit applies to its objects."""
        return RunLimits(protected=False, deletions=deletions, allowed=self._allowed, emptying=True)


def _refusal(environment: str, problem: Problem, limits: RunLimits) -> Refused:
    message = f"`tenantry up` of environment '{environment}' would be refused: {problem.message}"
    limited = problem.code == "removals" and not limits.protected
    fix = (
        f"{problem.fix}; --max-deletions N and --allow-deletion NAME compare with other limits"
        if limited
        else problem.fix
    )
    return Refused(message, fix, code=problem.code)
