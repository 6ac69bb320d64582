"""Prints what differs from what is frozen: `python -m tests.frozen.show [PART [NAME...]]`."""

from __future__ import annotations

import sys

from tests.frozen.differences import differences
from tests.frozen.outcomes import OUTCOMES
from tests.frozen.store import load


def main() -> int:
    count = 0
    part, *names = sys.argv[1:] or [""]
    for each in [part] if part else OUTCOMES:
        frozen = load(each, "outcomes")
        for name, case in load(each, "inputs").items():
            if not names or name in names:
                for line in differences(each, name, case, frozen[name]):
                    count += 1
                    print(line)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
