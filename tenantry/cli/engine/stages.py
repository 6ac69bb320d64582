"""Runs Pulumi for the stacks of an environment: one, or its shards in their order, and a summary."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import fdopen, pipe
from typing import IO, NamedTuple

import click

from tenantry.cli.engine.advice import Ended, advice, exit_code
from tenantry.cli.engine.options import has
from tenantry.cli.engine.session import Session, announce
from tenantry.cli.foreground import INTERRUPTED, Foreground, foreground
from tenantry.cli.output import say
from tenantry.stacks.outcome import HELD, REFRESH
from tenantry.stacks.project import Stack


class Work(NamedTuple):
    """A stack, and what Pulumi is asked to do with it. passed: options for pulumi."""

    stack: Stack
    verb: str
    passed: tuple[str, ...]


class Done(NamedTuple):
    """code: the exit code; None: it was not started. held: Pulumi did everything but for Secrets without values."""

    work: Work
    code: int | None
    seconds: float = 0
    held: bool = False

    @property
    def stops(self) -> bool:
        """Whether what needs it cannot follow."""
        return self.code != 0 and not self.held


def works_of(stacks: Sequence[Stack], verb: str, passed: tuple[str, ...], *, jobs: int) -> list[Work]:
    """What to do with each stack. Raises: click.UsageError: the options fit one stack only."""
    several = len(stacks) > 1
    if several and has(passed, "--json"):
        raise click.UsageError("--json gives one document: name a shard with --shard")
    if several and jobs > 1 and verb != "preview" and not has(passed, "--yes", "-y", "--preview-only"):
        raise click.UsageError("--jobs runs shards without a terminal to ask on: add --yes")
    return [Work(each, verb, passed) for each in stacks]


def run_all(
    session: Session, works: Sequence[Work], jobs: int, *, first_last: bool = False, in_waves: bool = False
) -> int:
    """Run all stacks; the first shard has what the others need, so it is created first and destroyed last.

    first_last: the first shard runs last in any case. in_waves: a shard that fails stops those that have not begun.
    Returns: 0 if all succeeded, otherwise the code of the first that failed.
    """
    first, *rest = works
    with foreground() as programs:
        if not rest:
            return _code([_run(session, programs, first, prefixed=False)])
        if first_last and first.verb != "destroy":
            say(f"shard {first.stack.shard} runs last: it removes what the others need to clean up")
        if first_last or first.verb == "destroy":
            done = _side_by_side(session, programs, rest, jobs, in_waves=in_waves)
            done.insert(0, _run(session, programs, first, prefixed=False) if not _stopped(done) else Done(first, None))
        else:
            done = [_run(session, programs, first, prefixed=False)]
            started = not done[0].stops or first.verb == "preview"
            waiting = [Done(each, None) for each in rest]
            done += _side_by_side(session, programs, rest, jobs, in_waves=in_waves) if started else waiting
    _summarize(done)
    return _code(done)


def _side_by_side(
    session: Session, programs: Foreground, works: Sequence[Work], jobs: int, *, in_waves: bool
) -> list[Done]:
    """Run stacks that do not need each other. One that fails does not stop the others, unless changes go in waves."""
    failed = threading.Event()

    def run(work: Work) -> Done:
        if failed.is_set():
            return Done(work, None)
        done = _run(session, programs, work, prefixed=jobs > 1)
        if done.stops and in_waves:
            failed.set()
        return done

    if jobs == 1:
        return [run(each) for each in works]
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(run, works))


def _run(session: Session, programs: Foreground, work: Work, *, prefixed: bool) -> Done:
    if programs.interrupted:
        return Done(work, None)
    started = time.monotonic()
    asked = has(work.passed, "--refresh", "-r")
    ended = _run_once(session, programs, work, prefixed=prefixed, refresh=None if asked else False)
    if ended.told == REFRESH and not asked:
        say("the state does not know what is on the cluster: the same again, after a refresh")
        ended = _run_once(session, programs, work, prefixed=prefixed, refresh=True)
    if message := advice(ended):
        say(message)
    held = ended.code == 0 and ended.told == HELD
    return Done(work, exit_code(ended), time.monotonic() - started, held)


def _run_once(session: Session, programs: Foreground, work: Work, *, prefixed: bool, refresh: bool | None) -> Ended:
    command = session.command(work.verb, work.stack.name, work.passed, refresh=refresh)
    announce(command)
    if not prefixed:
        return session.run(programs, work.verb, command, work.stack)
    with _Prefixed(f"[{work.stack.shard}] ") as lines:
        return session.run(programs, work.verb, command, work.stack, lines)


class _Prefixed:
    """A stream whose lines go to stderr, each after a prefix, so that runs side by side can be told apart."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix.encode()
        reading, writing = pipe()
        self._stream = fdopen(writing, "wb", buffering=0)
        self._thread = threading.Thread(target=self._copy, args=(reading,), daemon=True)

    def __enter__(self) -> IO[bytes]:
        self._thread.start()
        return self._stream

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        self._thread.join()

    def _copy(self, reading: int) -> None:
        with fdopen(reading, "rb") as lines:
            for line in lines:
                sys.stderr.buffer.write(self._prefix + line)
                sys.stderr.buffer.flush()


def _code(done: Iterable[Done]) -> int:
    done = list(done)
    failed = next((each.code for each in done if each.code), 0)
    return failed or (INTERRUPTED if any(each.code is None for each in done) else 0)


def _stopped(done: Iterable[Done]) -> bool:
    return any(each.stops for each in done)


def _summarize(done: Sequence[Done]) -> None:
    for each in done:
        if each.code is None:
            result = "not started"
        elif each.held:
            result = f"done in {each.seconds:.0f} s, without the Secrets that have no values"
        elif each.code:
            result = f"failed with exit code {each.code} after {each.seconds:.0f} s"
        else:
            result = f"done in {each.seconds:.0f} s"
        say(f"shard {each.work.stack.shard}, stack {each.work.stack.name}: {result}")
    succeeded = sum(each.code == 0 for each in done)
    say(f"{done[0].work.verb}: {succeeded} of {len(done)} shards succeeded")
