"""Random inputs without end: `python -m tests.hostile.fuzz [--inputs N] [--seconds S] [--seed X] [--replay FILE]`.

Starts from the sound fleets and the corpus and changes them, as data or as bytes. What makes the checks say something new
is kept and changed further, so that the search goes to where code is that no input reached before: the codes and paths of
the problems stand in for coverage, which costs nothing to measure.
Whatever input breaks a promise of docs/output.md is written to a file, and the search ends.
"""

from __future__ import annotations

import argparse
import codecs
import hashlib
import random
import re
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tenantry.load import fleet_of, plan_all
from tenantry.messages.errors import InvalidFleet, Problem
from tenantry.messages.text import format_invalid
from tenantry.model import App, Cluster, Document, Source, Tenant
from tenantry.render import to_yaml
from tenantry.source.parse import parse
from tests.hostile import corpus, mutations
from tests.hostile.outcome import most_seconds

SECRET = "ghp_s7Jq2mXv9LtB4cKd8RwZ1pYn6Hf3GaQe5Uo0"
"""Is put into many inputs, and may be in no message."""
MAX_INPUT = 8_000
"""Bytes; small inputs are quick, and large ones have tests of their own."""
FAILURES = Path(".fuzz")
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_QUOTED = re.compile("'.*?'|[0-9]+")
_WORDS = (
    *(
        b"\t",
        b"\n",
        b"\r",
        b"\r\n",
        b": ",
        b"- ",
        b", ",
        b"&a ",
        b"*a",
        b"<<: ",
        b"!x ",
        b"!!binary ",
        b"? ",
        b"|\n",
        b">-\n",
    ),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b"'",
        b'"',
        b"#",
        b"%",
        b"@",
        b"---\n",
        b"...\n",
        b"{tenant}",
        b"{{",
        b"${A}",
        b"~",
        b"null",
    ),
    *(b"\xff", b"\x00", b"\xef\xbb\xbf", "é".encode(), "\u2028".encode(), "\u202e".encode(), "\U0001f600".encode()),
    *(b"no", b"0644", b"1e999", b".nan", b"9" * 30, b"0x10", b"../", b"/", b"kube-system", b"platform/", b"x" * 300),
    SECRET.encode(),
)


@dataclass
class Search:
    """pool: inputs worth changing; seen: what the checks have said so far, without the author's names."""

    chance: random.Random
    pool: list[bytes] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)

    def inputs(self) -> Iterator[bytes]:
        """All that there is to start from, then changes of it."""
        yield from [*self.pool]
        while True:
            yield self._changed(self.chance.choice(self.pool))

    def look(self, raw: bytes) -> None:
        """Check one input and keep it if it is news. Raises: whatever should not have happened."""
        said = check(raw)
        self.counts["refused" if said else "accepted"] += 1
        news = {_kind(diagnostic) for diagnostic in said} - self.seen
        if news and len(raw) <= MAX_INPUT:
            self.seen |= news
            self.pool.append(raw)

    def _changed(self, raw: bytes) -> bytes:
        for _ in range(self.chance.choice((1, 1, 2, 4))):
            changed = self._changed_data(raw) if self.chance.random() < 0.5 else None
            raw = changed or self._changed_bytes(raw)
        return raw[:MAX_INPUT]

    def _changed_data(self, raw: bytes) -> bytes | None:
        """Something done to the mapping that it is; None where it is none."""
        try:
            data = parse(raw, "").data
        except InvalidFleet:
            return None
        changed: dict[str, Any] = mutations.mutated(data, self.chance)
        try:
            return to_yaml([changed]).encode()
        except (yaml.YAMLError, UnicodeEncodeError):
            return None

    def _changed_bytes(self, raw: bytes) -> bytes:
        start = self.chance.randrange(len(raw) + 1)
        end = min(len(raw), start + self.chance.choice((0, 0, 1, 3, 10, 40)))
        match self.chance.randrange(4):
            case 0:  # a word of the language, or another
                return raw[:start] + self.chance.choice(_WORDS) + raw[end:]
            case 1:  # a part of another input
                other = self.chance.choice(self.pool)
                cut = self.chance.randrange(len(other) + 1)
                return raw[:start] + other[cut : cut + self.chance.choice((5, 30, 200))] + raw[end:]
            case 2:  # some lines twice, or not at all
                lines = raw.splitlines(keepends=True)
                at = self.chance.randrange(len(lines) + 1)
                return b"".join([*lines[:at], *lines[at + 1 : at + 3] * self.chance.choice((0, 2)), *lines[at + 3 :]])
            case _:  # any byte
                return raw[:start] + bytes([self.chance.randrange(256)]) + raw[end:]


def check(raw: bytes) -> tuple[Problem, ...]:
    """The problems of an input, none if it is sound. Raises: AssertionError, or any bug."""
    try:
        plan_all(fleet_of(parse(raw, "tenants.yaml")))
    except InvalidFleet as refused:
        invalid = refused
    else:
        return ()
    told = format_invalid(invalid)
    assert SECRET[4:] not in told, "a secret is shown"
    assert told.replace("\n", "").isprintable(), "control characters are shown"
    lines = _BREAK.split(raw.removeprefix(codecs.BOM_UTF8).decode(errors="surrogateescape"))
    for diagnostic in invalid.diagnostics:
        place = diagnostic.location
        assert 1 <= place.line <= len(lines), diagnostic
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1, diagnostic
    assert invalid.diagnostics, "refused without a reason"
    return invalid.diagnostics


def _kind(diagnostic: Problem) -> str:
    """What was said, without names and numbers."""
    keys = ".".join(str(part) for part in diagnostic.path if isinstance(part, str) and part in _KEYS)
    return f"{diagnostic.code} {keys} {_QUOTED.sub('', diagnostic.message)[:60]}"


_KEYS = {*Document.model_fields, *Tenant.model_fields, *Source.model_fields, *App.model_fields, *Cluster.model_fields}


def _too_slow(*_: object) -> None:
    raise TimeoutError(f"takes more than {most_seconds():.0f} s")


def run(inputs: int, seconds: float, seed: str) -> int:
    """Search until one of the bounds is reached; returns an exit code."""
    search = Search(random.Random(seed))  # to be repeatable
    search.pool = [file.read_bytes() for file in mutations.FILES]
    search.pool += [case.raw for case in corpus.cases() if len(case.raw) <= MAX_INPUT]
    signal.signal(signal.SIGPROF, _too_slow)
    start, slowest = time.monotonic(), 0.0
    for number, raw in enumerate(search.inputs(), 1):
        before = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, most_seconds())  # of the processor: the machine may be busy
        try:
            search.look(raw)
        except Exception:
            return _failed(raw, number)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        slowest = max(slowest, time.process_time() - before)
        passed = time.monotonic() - start
        if number % 5000 == 0:
            print(
                f"{number} inputs, {number / passed:.0f} per second, {len(search.seen)} different messages", flush=True
            )
        if number >= inputs or passed >= seconds:
            break
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"{number} inputs in {passed:.0f} s, {number / passed:.0f} per second: {search.counts['refused']} refused,"
        f" {search.counts['accepted']} accepted, {len(search.seen)} different messages;"
        f" the slowest took {slowest:.2f} s, the process at most {memory} MB"
    )
    return 0


def _failed(raw: bytes, number: int) -> int:
    traceback.print_exc()
    FAILURES.mkdir(exist_ok=True)
    file = FAILURES / f"{hashlib.sha256(raw).hexdigest()[:12]}.yaml"
    file.write_bytes(raw)
    print(f"input {number} breaks a promise; replay: python -m tests.hostile.fuzz --replay {file}")
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz the checks of tenants.yaml.")
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", default=str(time.time_ns()), help="default: another on each run")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="check the input in a file, and no other")
    options = parser.parse_args()
    if options.replay:
        for diagnostic in check(options.replay.read_bytes()):
            print(diagnostic)
        return 0
    print(f"seed {options.seed}", flush=True)
    return run(options.inputs, options.seconds, options.seed)


if __name__ == "__main__":
    sys.exit(main())
