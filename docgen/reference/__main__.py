"""The command that writes docs/tenants-reference.md; `make reference` runs it."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from docgen.reference.examples import gaps
from docgen.reference.page import page

PAGE = Path(__file__).parents[2] / "docs" / "tenants-reference.md"

EPILOG = "exit code: 0 done or not stale, 1 --check found it stale, 2 a key has no text or a section no example"


def main(arguments: Sequence[str] | None = None, file: Path = PAGE) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m docgen.reference",
        description="Writes the reference of tenants.yaml from the model, the texts below its fields, and examples.",
        epilog=EPILOG,
    )
    parser.add_argument("--check", action="store_true", help="change nothing, say whether the page is stale")
    check = parser.parse_args(arguments).check
    if missing := gaps():
        print(*(f"error: {each}" for each in missing), sep="\n", file=sys.stderr)
        return 2
    text = page()
    stale = not file.exists() or file.read_text(encoding="utf-8") != text
    if check:
        return _report(file, stale=stale)
    if stale:
        file.write_text(text, encoding="utf-8")
    print(f"{file}: {'written' if stale else 'not changed'}")
    return 0


def _report(file: Path, *, stale: bool) -> int:
    if stale:
        print(f"stale: {file}")
        print("  fix: run `make reference`, and read the difference", file=sys.stderr)
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
