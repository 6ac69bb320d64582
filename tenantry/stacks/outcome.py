"""How the Pulumi program and the command that started it tell each other things: by variables, and by why the program ended."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tenantry.kube.names import PLATFORM
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import declared
from tenantry.plan.plan import Plan
from tenantry.rollout.change import Ignoring

OUTCOME_FILE = "TENANTRY_OUTCOME"
"""The file; not set if somebody else ran `pulumi`."""
UNREFRESHED = "TENANTRY_UNREFRESHED"
STARTED = "started"
REFRESH = "refresh"
"""The cluster differs from the state in what the state does not know: the same run with `--refresh` restores it."""
UNPROTECT = "unprotect"
"""The state protects what the run may remove: the same run after `pulumi state unprotect` of the URNs on the further lines."""
HELD = "held"
"""Something has failed, is missing or was refused, and is held; everything else went through."""


def report_outcome(outcome: str) -> None:
    """Write how far the program got: `STARTED`, `REFRESH`, `UNPROTECT` with URNs, `HELD`, or the exit code of a command that ends
    for the same reason.
    """
    if file := os.environ.get(OUTCOME_FILE):
        with suppress(OSError):  # the command takes Pulumi's exit code then
            Path(file).write_text(outcome, encoding="ascii")


def is_unrefreshed() -> bool:
    """Whether the command that started the run has left out the refresh, and begins again with one if the program asks for it."""
    return os.environ.get(UNREFRESHED) == "true"


def is_started_by_tenantry() -> bool:
    """Whether a command of ours has started the run."""
    return OUTCOME_FILE in os.environ


def to_unprotect(outcome: str) -> list[str]:
    """The URNs that an outcome names."""
    first, *urns = outcome.splitlines() or [""]
    return urns if first == UNPROTECT else []


def reported(file: Path) -> str:
    """What the program wrote last; "" if it did not start."""
    try:
        return file.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""


WAITING = "waits"
"""Everything went through except for what waits for a soak or the environment before, and is held."""
AGAIN = "again"
"""The deletions of this run let the next wave lose what the plan does not have any more: the same run again."""
WAITS = 5
"""The exit code of a command that has to wait for a time. Nothing has failed."""

OFFBOARD = "TENANTRY_OFFBOARD"


def offboards(environment: str) -> bool:
    """Whether a run of this environment gives up every tenant and add-on."""
    return os.environ.get(OFFBOARD) == environment


_CONFIG = re.compile(r"\bpulumi config (set|rm)\b(?![^;`,\n]* --stack)")


def for_stack(text: str, stack: str) -> str:
    """The text with each `pulumi config` in it for a stack: without `--stack`, Pulumi changes the one that is selected."""
    return _CONFIG.sub(lambda match: f"{match[0]} --stack {shlex.quote(stack)}", text)


# --- what a run does not wait for, because somebody has named it -------------------------------------------------------

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
