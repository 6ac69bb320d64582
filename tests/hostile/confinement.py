"""Judges drawn fleets: each is refused, or every plan of it is confined.

`python -m tests.hostile.confinement [--fleets N] [--seconds S] [--seed X]` judges more of them; `--replay SEED` shows one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import yaml

from tenantry.load import load_fleet, plan_all
from tenantry.messages.errors import InvalidFleet, NotConfined, Problem
from tests.hostile.files_of_tenants import Drawn, draw

PART = 500
"""How many fleets one process judges at a time."""


@dataclass
class Verdicts:
    """seconds: of the processor. escaped: seeds of fleets that are neither refused nor confined, each with what was found."""

    refused: int = 0
    confined: int = 0
    seconds: float = 0
    escaped: dict[str, list[str]] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def drawn(self) -> int:
        return self.refused + self.confined + len(self.escaped)

    def add(self, other: Verdicts) -> None:
        self.refused += other.refused
        self.confined += other.confined
        self.seconds += other.seconds
        self.escaped.update(other.escaped)
        self.reasons.update(other.reasons)

    @property
    def figures(self) -> dict[str, Any]:
        """All but the reasons, as plain data, which a test can hand to another process."""
        return {
            "refused": self.refused,
            "confined": self.confined,
            "seconds": self.seconds,
            "escaped": self.escaped,
        }

    def __str__(self) -> str:
        share = f"{100 * self.confined / max(1, self.drawn):.0f} %"
        return (
            f"{self.drawn} fleets drawn: {self.refused} refused, {self.confined} confined ({share}),"
            f" {len(self.escaped)} escaped; {self.seconds:.0f} s of the processor"
        )


def judge(seeds: Iterable[str]) -> Verdicts:
    """Judge the fleet of each seed. Raises: any bug of the program, with the seed in its notes."""
    verdicts, start = Verdicts(), time.process_time()
    with tempfile.TemporaryDirectory(prefix="tenantry-confined-") as directory:
        for seed in seeds:
            try:
                found = outcome(draw(seed), Path(directory) / "fleet")
            except Exception as bug:
                bug.add_note(f"seed {seed}: {draw(seed).note}")
                raise
            if isinstance(found, InvalidFleet):
                assert found.diagnostics, "refused without a reason"
                verdicts.refused += 1
                verdicts.reasons.update({each.code for each in found.diagnostics})
            elif found:
                verdicts.escaped[seed] = found
            else:
                verdicts.confined += 1
    verdicts.seconds = time.process_time() - start
    return verdicts


def outcome(drawn: Drawn, directory: Path) -> InvalidFleet | list[str]:
    """Why the fleet is refused, or by what it escapes."""
    file = drawn.write(directory)
    try:
        plan_all(load_fleet(file))
    except InvalidFleet as refused:
        return refused
    except NotConfined as found:
        return list(found.escapes)
    finally:
        (directory / drawn.file).unlink()
    return []


def seeds(first: int, count: int, seed: str = "1") -> list[str]:
    """As many seeds, starting with a number."""
    return [f"{seed}-{number}" for number in range(first, first + count)]


def run(fleets: int, seconds: float, seed: str) -> int:
    """Judge fleets in several processes until one of the bounds is reached; returns an exit code."""
    start, total = time.monotonic(), Verdicts()
    parts = [seeds(first, min(PART, fleets - first), seed) for first in range(0, fleets, PART)]
    with Pool() as pool:
        for number, verdicts in enumerate(pool.imap_unordered(judge, parts), 1):
            total.add(verdicts)
            if number % 20 == 0:
                print(total, flush=True)
            if time.monotonic() - start >= seconds:
                break
    print(f"{total}, {time.monotonic() - start:.0f} s in all")
    for escaped, found in total.escaped.items():
        print(f"seed {escaped}: {draw(escaped).note}", *found, sep="\n  ")
    return 1 if total.escaped else 0


def _show(seed: str) -> None:
    drawn = draw(seed)
    print(yaml.safe_dump({"main": drawn.main, "included": drawn.included, "edits": list(drawn.note)}, sort_keys=False))
    with tempfile.TemporaryDirectory() as directory:
        found = outcome(drawn, Path(directory))
    said: Iterable[Problem | str] = found.diagnostics if isinstance(found, InvalidFleet) else found
    for each in said:
        print(each)


def main() -> int:
    parser = argparse.ArgumentParser(description="Look for included files that reach beyond their tenant's frame.")
    parser.add_argument("--fleets", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", default=str(time.time_ns()), help="default: another on each run")
    parser.add_argument("--replay", metavar="SEED", help="show the fleet of a seed, and what becomes of it")
    options = parser.parse_args()
    if options.replay:
        _show(options.replay)
        return 0
    print(f"seed {options.seed}", flush=True)
    return run(options.fleets, options.seconds, options.seed)


if __name__ == "__main__":
    sys.exit(main())
