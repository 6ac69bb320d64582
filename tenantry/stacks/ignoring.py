"""What a run does not wait for, because somebody said so: lines in an emergency, and waves after the last one that was asked for.

The command and the program that it starts tell each other by variables, which others can set for plain `pulumi up`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from tenantry.kube.names import PLATFORM
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import declared
from tenantry.plan.plan import Plan
from tenantry.rollout.change import Ignoring
from tenantry.stacks.outcome import offboards

IGNORE, THROUGH = "TENANTRY_IGNORE", "TENANTRY_THROUGH"
CONDITIONS = ("waves", "after")
"""What can block a line, and can be ignored in an emergency."""


def ignore_variable(environment: str, conditions: Sequence[str], lines: Sequence[str]) -> str:
    """The value of `IGNORE`. It names the environment, so that it does not open the gates of others."""
    return " ".join((environment, ",".join(conditions), *lines))


def through_variable(environment: str, wave: str) -> str:
    """The value of `THROUGH`."""
    return f"{environment} {wave}"


def ignoring_of(plan: Plan) -> Ignoring:
    """What a run of this plan does not wait for: for nothing, if it gives up the whole environment.

    Raises: Refused: it names a line or a wave that the plan does not have.
    """
    if offboards(plan.environment):
        return Ignoring(lines_of(plan), lines_of(plan))
    environment, _, rest = os.environ.get(IGNORE, "").partition(" ")
    conditions, *lines = rest.split(" ") if environment == plan.environment else [""]
    check_lines(plan, lines)
    named, none = frozenset(lines), frozenset[str]()
    waves, after = (named if condition in conditions.split(",") else none for condition in CONDITIONS)
    target, _, wave = os.environ.get(THROUGH, "").partition(" ")
    return Ignoring(waves, after, wave_number(plan, wave) if wave and target == plan.environment else None)


def check_lines(plan: Plan, lines: Sequence[str]) -> None:
    """Raises: Refused: the plan has no such line."""
    if not lines:
        return
    known = lines_of(plan)
    for line in lines:
        if line not in known:
            message = f"environment '{plan.environment}' has no line '{line}'; {declared('there', line, sorted(known))}"
            raise Refused(
                message, "name an app as TENANT/APP, an add-on as platform/ADDON, or a tenant", code=UNKNOWN_NAME
            )


def lines_of(plan: Plan) -> frozenset[str]:
    """The lines of a plan: apps, add-ons, tenants and the platform."""
    owners = (planned.owner.tenant or PLATFORM for planned in plan.objects)
    return frozenset((*owners, *(app.full_name for app in plan.apps)))


def wave_number(plan: Plan, wave: str) -> int:
    """The number of a wave by its name or number. Raises: Refused: there is no such wave."""
    waves = plan.rollout.waves if plan.rollout else ()
    for known in waves:
        if wave in (known.name, str(known.number)):
            return known.number
    names = [known.name for known in waves]
    message = f"environment '{plan.environment}' has no wave '{wave}'; {declared('there', wave, names)}"
    raise Refused(message, "name a wave, or its number", code=UNKNOWN_NAME)
