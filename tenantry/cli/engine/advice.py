"""What Pulumi's exit means, and what to do next. Pulumi's own messages have been printed before."""

from __future__ import annotations

import shlex
from typing import NamedTuple

from tenantry.cli.foreground import INTERRUPTED
from tenantry.messages.text import printable
from tenantry.stacks.backend import Holder, Lock
from tenantry.stacks.file import Stack
from tenantry.stacks.outcome import HELD, STARTED, WAITING, WAITS, to_unprotect

_CONFIGURATION, _AUTHENTICATION, _NO_STACK, _CANCELLED = 2, 3, 6, 8
"""Exit codes of Pulumi since 3.250 or so. Older ones end with 1 or 255 in these cases, and get the advice for a failure."""
_RECOVERY = "docs/recovery.md has the steps"
TAKE_OVER = "--take-over-lock"
"""The option that releases the locks of runs that are gone."""


class Ended(NamedTuple):
    """How `pulumi` ended. code: its exit code. told: what the program wrote, see `outcome`. locks: those in the state now.

    interrupted: a signal asked it to end. readable: whether locks of this backend can be seen. entry: namespace and key of the
    run's entry in the history; empty if it has none.
    """

    verb: str
    stack: Stack
    code: int
    told: str = ""
    locks: tuple[Lock, ...] = ()
    interrupted: bool = False
    readable: bool = True
    entry: tuple[str, str] = ("", "")

    @property
    def is_cancelled(self) -> bool:
        """Whether a signal or an answer ended it."""
        return self.interrupted or self.code == _CANCELLED


def exit_code(ended: Ended) -> int:
    """Ours for Pulumi's. The program knows best: 4 if its guard refused, 2 if the file is invalid."""
    if ended.code == 0:
        return {HELD: 1, WAITING: WAITS}.get(ended.told, 0)
    if ended.is_cancelled:
        return INTERRUPTED
    if ended.told.isdecimal():
        return int(ended.told)
    if to_unprotect(ended.told):
        return 4
    return 2 if ended.code in (_CONFIGURATION, _AUTHENTICATION, _NO_STACK) else 1


def advice(ended: Ended) -> str:
    """What to do after a failure; "" if Pulumi's message says it all."""
    name, stack = ended.stack.name, shlex.quote(ended.stack.name)
    if ended.code == 0 and ended.told == HELD:
        return (
            "everything went through except for what was held; the messages above name it\n  fix: do as they say, then the same"
            " command again"
        )
    if ended.code == 0 and ended.told == WAITING:
        return "the rest waits and stays as it is; the messages above name it, and until when"
    if ended.code == 0 or ended.told.isdecimal() or to_unprotect(ended.told):
        return ""
    if ended.locks and ended.verb != "preview":
        message, fix = locked(ended.verb, ended.stack, ended.locks)
        return f"{message}\n  fix: {fix}"
    if ended.code > 128 and not ended.interrupted:
        return f"pulumi was killed, which can leave a lock\n  fix: {cancel(ended.stack)}"
    if ended.code == _NO_STACK:
        return f"stack '{name}' does not exist\n  fix: pulumi stack init {stack}"
    if ended.code == _AUTHENTICATION:
        return "pulumi is not logged in to its state backend\n  fix: run `pulumi login`, or set PULUMI_BACKEND_URL"
    if ended.is_cancelled:
        return (
            "" if ended.verb == "preview" else "interrupted\n  fix: run the same command again to finish what it began"
        )
    if ended.verb != "preview" and ended.told != STARTED and not ended.readable:
        return f"if Pulumi says above that the stack is locked:\n  fix: {cancel(ended.stack)}"
    return ""


def locked(verb: str, stack: Stack, locks: tuple[Lock, ...]) -> tuple[str, str]:
    """Who holds the locks on a stack's state, and the way out. With several locks, the one that is hardest to release decides."""
    holders = {lock.holder: lock for lock in locks}
    first = next(
        holders[each] for each in (Holder.RUNS, Holder.ELSEWHERE, Holder.UNKNOWN, Holder.GONE) if each in holders
    )
    message = f"stack '{stack.name}' is locked by {printable(str(first))}"
    match first.holder:
        case Holder.RUNS:
            return (
                f"{message}; a process with this id runs on this host",
                f"wait until it has ended, then the same command again; if it is not pulumi: {cancel(stack)}",
            )
        case Holder.ELSEWHERE:
            return f"{message}; only that host knows whether this process still runs", cancel(stack)
        case Holder.UNKNOWN:
            return message, cancel(stack)
        case Holder.GONE:
            return (
                f"{message}; no process with this id runs on this host",
                f"{_again(verb, stack)} {TAKE_OVER}; this releases the lock. It cannot see a run in a container that has"
                f" the same host name: make sure that there is none; {_RECOVERY}",
            )


def cancel(stack: Stack) -> str:
    """The way out of a lock that Tenantry cannot judge."""
    command = f"`pulumi cancel --stack {shlex.quote(stack.name)}`"
    return f"make sure that no other run of it is going on, {command}, then the same command again; {_RECOVERY}"


def _again(verb: str, stack: Stack) -> str:
    named = stack.name != stack.environment
    words = ("tenantry", verb, "--environment", stack.environment, *(("--stack", stack.name) if named else ()))
    return shlex.join(words)
