"""What the commands share that write one file from others."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path


def write_or_check(
    page: Callable[[], str], file: Path, arguments: Sequence[str] | None, *, prog: str, description: str
) -> int:
    """Write a page, or with --check say whether the file is stale; returns the exit code."""
    epilog = "exit code: 0 done or not stale, 1 --check found it stale"
    parser = argparse.ArgumentParser(prog=prog, description=description, epilog=epilog)
    parser.add_argument("--check", action="store_true", help="change nothing, say whether the page is stale")
    check, text = parser.parse_args(arguments).check, page()
    stale = not file.exists() or file.read_text(encoding="utf-8") != text
    if check and stale:
        print(f"stale: {file}")
        print("  fix: run `make document-schema reference`, and read the difference", file=sys.stderr)
        return 1
    if stale:
        file.write_text(text, encoding="utf-8")
    if not check:
        print(f"{file}: {'written' if stale else 'not changed'}")
    return 0
