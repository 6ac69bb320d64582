"""The command that writes docs/output-reference.md; `make reference` runs it."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from docgen.documents.page import page

PAGE = Path(__file__).parents[2] / "docs" / "output-reference.md"


def main(arguments: Sequence[str] | None = None, file: Path = PAGE) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m docgen.documents",
        description="Writes the reference of JSON documents from their models.",
        epilog="exit code: 0 done or not stale, 1 --check found it stale",
    )
    parser.add_argument("--check", action="store_true", help="change nothing, say whether the page is stale")
    check, text = parser.parse_args(arguments).check, page()
    stale = not file.exists() or file.read_text(encoding="utf-8") != text
    if check and stale:
        print(f"stale: {file}")
        print("  fix: run `make reference`, and read the difference", file=sys.stderr)
        return 1
    if stale:
        file.write_text(text, encoding="utf-8")
    if not check:
        print(f"{file}: {'written' if stale else 'not changed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
