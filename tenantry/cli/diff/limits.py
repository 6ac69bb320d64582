"""What a difference may not do: the limits that the guard of `pulumi up` will hold the run to, told in the pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tenantry.compare.diff import Diff, over_budget
from tenantry.guard import Removal
from tenantry.messages.text import counted

_NAMED = 5
"""How many removals a sentence names."""


class Refusal(NamedTuple):
    """A sentence, and what to do about it."""

    text: str
    fix: str


class Budget(NamedTuple):
    """deletions: how many of each kind may go; None: any number. raised: it was given for this very difference.

    protected: nothing goes that was not given up before.
    """

    deletions: int | None
    raised: bool
    protected: bool


def refusals(diff: Diff, budget: Budget) -> Iterator[Refusal]:
    """Why a difference goes too far."""
    if suspended := [each for each in diff.removals if each.suspended]:
        yield Refusal(
            f"{diff.environment} loses what is paused, and Flux would leave behind what it installed: {_named(suspended)}",
            "take 'state: paused' away first, and run `pulumi up`",
        )
    unasked = [each for each in diff.removals if not each.leaving]
    if budget.protected and unasked:
        yield Refusal(
            f"{diff.environment} is protected, and loses {_named(unasked)}",
            "give it up first: 'state: offboarding', and `pulumi up`; then remove it",
        )
    elif lost := _too_much(diff, budget):
        yield Refusal(f"{diff.environment} loses {lost}", "take fewer away, or raise --max-deletions if this is meant")


def _too_much(diff: Diff, budget: Budget) -> str:
    if diff.emptied and not budget.raised:
        return f"{diff.emptied} it has"
    over = over_budget(diff, budget.deletions)
    lost = ", ".join(counted(count, kind.removesuffix("s")) for kind, count in over.items())
    return lost and f"{lost}: at most {budget.deletions} of a kind may go (--max-deletions)"


def _named(found: Sequence[Removal]) -> str:
    more = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return "; ".join(map(str, found[:_NAMED])) + more
