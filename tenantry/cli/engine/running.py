"""Runs Pulumi for the stack of an environment."""

from __future__ import annotations

from tenantry.cli.engine.advice import Ended, advice, exit_code
from tenantry.cli.engine.options import has
from tenantry.cli.engine.session import Session, announce
from tenantry.cli.foreground import Foreground, foreground
from tenantry.cli.output import say
from tenantry.stacks.outcome import REFRESH
from tenantry.stacks.project import Stack


def run(session: Session, stack: Stack, verb: str, passed: tuple[str, ...]) -> int:
    """Run Pulumi, and say what to do after a failure. passed: options for pulumi. Returns: the exit code."""
    asked = has(passed, "--refresh", "-r")
    with foreground() as programs:
        ended = _run_once(session, programs, stack, verb, passed, refresh=None if asked else False)
        if ended.told == REFRESH and not asked:
            say("the state does not know what is on the cluster: the same again, after a refresh")
            ended = _run_once(session, programs, stack, verb, passed, refresh=True)
    if message := advice(ended):
        say(message)
    return exit_code(ended)


def _run_once(
    session: Session, programs: Foreground, stack: Stack, verb: str, passed: tuple[str, ...], *, refresh: bool | None
) -> Ended:
    command = session.command(verb, stack.name, passed, refresh=refresh)
    announce(command)
    return session.run(programs, verb, command, stack)
