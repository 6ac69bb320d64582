"""Whether a run may begin: the windows of its environment, unless an emergency ignores them."""

from __future__ import annotations

from datetime import datetime

from tenantry.plan.plan import Plan
from tenantry.rollout.ignoring import ignored
from tenantry.rollout.windows import Shut, shut


def waits(plan: Plan, now: datetime) -> str:
    """Why a run changes nothing now, and until when; "" if it may begin."""
    name = plan.environment
    if (found := closed(plan, now)) is None:
        return ""
    return (
        f"environment '{name}' waits: {found}, so nothing is changed\n"
        f"  fix: run the same command again then; in an emergency: {emergency(name, 'windows')}"
    )


def closed(plan: Plan, now: datetime) -> Shut | None:
    """The windows of the environment that are shut; None: nothing of it is, or an emergency ignores them."""
    return None if "windows" in ignored(plan.environment) else shut(plan.windows.own, now)


def emergency(environment: str, *conditions: str) -> str:
    """The command that does not wait for some conditions."""
    return f"tenantry up --environment {environment} --ignore {','.join(conditions)}"
