"""Data files that follow from definitions: write them anew, or say which are stale."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tenantry_sandbox.tools.catalog import ToolsError

EPILOG = (
    "exit code: 0 done or nothing stale, 1 --check found stale files, 2 the definitions are missing or cannot be read"
)


def run(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str] | None,
    generate: Callable[[argparse.Namespace], Mapping[str, str]],
    directory: Path,
    fix: str = "run `make schemas`",
) -> int:
    """A command that keeps the JSON files of a directory up to date. Returns: its exit code.

    Args: generate: gives the names and texts of the files for the command's options. It may raise ToolsError.
          fix: what to do about stale files.
    """
    parser.add_argument("--check", action="store_true", help="change nothing, name the files that are stale")
    options = parser.parse_args(arguments)
    try:
        wanted = generate(options)
    except ToolsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    stale = stale_files(wanted, directory)
    if options.check:
        return _report(stale, directory, fix)
    for name in stale:
        _update(directory / name, wanted.get(name))
    print(f"{len(wanted)} schema{'s'[: len(wanted) != 1]} in {directory}, {len(stale)} changed")
    return 0


def stale_files(wanted: Mapping[str, str], directory: Path) -> list[str]:
    """Names of the files that are missing, that differ, or that belong to no definition."""
    found = {path.name: path.read_text() for path in directory.glob("*.json")}
    return sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))


def _report(stale: Sequence[str], directory: Path, fix: str) -> int:
    for name in stale:
        print(f"stale: {directory / name}")
    if stale:
        print(f"  fix: {fix}", file=sys.stderr)
    return 1 if stale else 0


def _update(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
