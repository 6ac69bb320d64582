"""Judges drawn fleets: each is refused, or every plan of it is confined. `python -m tests.hostile.confinement SEED` shows one."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

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

    @property
    def drawn(self) -> int:
        return self.refused + self.confined + len(self.escaped)

    def add(self, other: Verdicts) -> None:
        self.refused += other.refused
        self.confined += other.confined
        self.seconds += other.seconds
        self.escaped.update(other.escaped)

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


def show(seed: str) -> None:
    """Print a drawn fleet, and what becomes of it."""
    drawn = draw(seed)
    print(yaml.safe_dump({"main": drawn.main, "included": drawn.included, "edits": list(drawn.note)}, sort_keys=False))
    with tempfile.TemporaryDirectory() as directory:
        found = outcome(drawn, Path(directory))
    said: Iterable[Problem | str] = found.diagnostics if isinstance(found, InvalidFleet) else found
    for each in said:
        print(each)


if __name__ == "__main__":
    show(sys.argv[1])
