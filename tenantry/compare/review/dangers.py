"""What a reviewer has to look at first."""

from __future__ import annotations

from tenantry.compare.diff import Diff
from tenantry.compare.review.model import Danger, DangerKind
from tenantry.compare.warnings import surprises
from tenantry.plan.plan import Plan


def dangers(diff: Diff, before: Plan, after: Plan) -> tuple[Danger, ...]:
    """The dangers of a difference, the worst first."""
    del before, after
    return tuple(Danger(kind=DangerKind.DELETION, text=text) for text in surprises(diff))
