"""The command that writes the comparisons of the examples; `make comparisons` runs it."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from docgen.comparisons.document import directories
from docgen.comparisons.page import page

EPILOG = "exit code: 0 done or not stale, 1 --check found a page that is stale"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m docgen.comparisons",
        description="Writes comparison.md of each example that has a comparison.yaml.",
        epilog=EPILOG,
    )
    parser.add_argument("--check", action="store_true", help="change nothing, say which pages are stale")
    check = parser.parse_args(arguments).check
    stale = [directory for directory in directories() if _is_stale(directory)]
    if check and stale:
        print(*(f"stale: {each / 'comparison.md'}" for each in stale), sep="\n")
        print("  fix: run `make comparisons`, and read the difference", file=sys.stderr)
    for example in () if check else stale:
        (example / "comparison.md").write_text(page(example), encoding="utf-8")
    return int(check and bool(stale))


def _is_stale(example: Path) -> bool:
    written = example / "comparison.md"
    return not written.exists() or written.read_text(encoding="utf-8") != page(example)


if __name__ == "__main__":
    sys.exit(main())
