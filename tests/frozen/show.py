"""Prints what differs from what is frozen: `python -m tests.frozen.show [--accept] [PART [NAME...]]`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection

from tests.frozen.differences import differences, outcome_of
from tests.frozen.outcomes import OUTCOMES
from tests.frozen.store import load, save

MADE = "states"
"""The part whose outcomes real programs make: `make_states` writes them anew."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Print what differs from what is frozen.")
    parser.add_argument("--accept", action="store_true", help=f"freeze the outcomes of now, but of {MADE}")
    parser.add_argument("part", nargs="?", choices=OUTCOMES, help="default: all of them")
    parser.add_argument("names", nargs="*", help="the cases, default: all of the part")
    options = parser.parse_args()
    count = 0
    for part in [options.part] if options.part else OUTCOMES:
        if options.accept and part != MADE:
            accept(part, options.names)
        count += show(part, options.names)
    return 1 if count else 0


def show(part: str, names: Collection[str]) -> int:
    """Print the differences of a part, and return their number."""
    frozen, count = load(part, "outcomes"), 0
    for name, case in load(part, "inputs").items():
        if not names or name in names:
            for line in differences(part, name, case, frozen[name]):
                count += 1
                print(line)
    return count


def accept(part: str, names: Collection[str]) -> None:
    """Freeze the outcomes of now, of all cases or those that are named."""
    frozen = load(part, "outcomes")
    for name, case in load(part, "inputs").items():
        if not names or name in names:
            frozen[name] = outcome_of(part, json.loads(case))
    save(part, "outcomes", frozen)


if __name__ == "__main__":
    sys.exit(main())
