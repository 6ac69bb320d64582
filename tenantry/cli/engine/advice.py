"""What Pulumi's exit means, and what to do next. Pulumi's own messages have been printed before."""

from __future__ import annotations

import shlex
from typing import NamedTuple

from tenantry.cli.foreground import INTERRUPTED
from tenantry.stacks.outcome import STARTED

_CONFIGURATION, _AUTHENTICATION, _NO_STACK, _CANCELLED = 2, 3, 6, 8
"""Exit codes of Pulumi since 3.250 or so. Older ones end with 1 or 255 in these cases, and get the advice for a failure."""
_RECOVERY = "docs/recovery.md has the steps"


class Ended(NamedTuple):
    """How `pulumi` ended. code: its exit code. told: what the program wrote, see `outcome`. locked: a lock was left in the state.

    interrupted: a signal asked it to end. readable: whether locks of this backend can be seen.
    """

    verb: str
    stack: str
    code: int
    told: str = ""
    locked: bool = False
    interrupted: bool = False
    readable: bool = True


def exit_code(ended: Ended) -> int:
    """Ours for Pulumi's. The program knows best: 4 if its guard refused, 2 if the file is invalid."""
    if ended.code == 0:
        return 0
    if ended.interrupted or ended.code == _CANCELLED:
        return INTERRUPTED
    if ended.told.isdecimal():
        return int(ended.told)
    return 2 if ended.code in (_CONFIGURATION, _AUTHENTICATION, _NO_STACK) else 1


def advice(ended: Ended) -> str:
    """What to do after a failure; "" if Pulumi's message says it all."""
    stack = shlex.quote(ended.stack)
    cancel = (
        f"make sure that no other run of it is going on, `pulumi cancel --stack {stack}`, then the same command again"
    )
    if ended.code == 0 or ended.told.isdecimal():
        return ""
    if ended.locked:
        return (
            f"stack '{ended.stack}' is locked, by another run or by one that was killed\n  fix: {cancel}; {_RECOVERY}"
        )
    if ended.code > 128 and not ended.interrupted:
        return f"pulumi was killed, which can leave a lock\n  fix: {cancel}; {_RECOVERY}"
    if ended.code == _NO_STACK:
        return f"stack '{ended.stack}' does not exist\n  fix: pulumi stack init {stack}"
    if ended.code == _AUTHENTICATION:
        return "pulumi is not logged in to its state backend\n  fix: run `pulumi login`, or set PULUMI_BACKEND_URL"
    if ended.interrupted or ended.code == _CANCELLED:
        return (
            "" if ended.verb == "preview" else "interrupted\n  fix: run the same command again to finish what it began"
        )
    if ended.verb != "preview" and ended.told != STARTED and not ended.readable:
        return f"if Pulumi says above that the stack is locked:\n  fix: {cancel}; {_RECOVERY}"
    return ""
