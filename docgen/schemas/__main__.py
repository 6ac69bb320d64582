"""The command that derives `tenantry/flux/schemas` from the CustomResourceDefinitions of the pinned Flux; `make schemas` runs it.

The data files are kept in the repository, so that checking a fleet needs no tools; `--check` says whether they are up to date.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from docgen.schemas import definitions
from tenantry.tools import locate
from tenantry.tools.errors import ToolsError

DIRECTORY = Path(__file__).parents[2] / "tenantry" / "flux" / "schemas"

EPILOG = "exit code: 0 done or nothing stale, 1 --check found stale files, 2 the tools are not built or cannot be read"


def main(arguments: Sequence[str] | None = None, directory: Path = DIRECTORY) -> int:
    options = _options(arguments)
    try:
        wanted = generate(locate.crds())
    except ToolsError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    stale = stale_files(wanted, directory)
    if options.check:
        return _report(stale, directory)
    for name in stale:
        _update(directory / name, wanted.get(name))
    print(f"{len(wanted)} schemas in {directory}, {len(stale)} changed")
    return 0


def generate(paths: Iterable[Path]) -> dict[str, str]:
    """File names and their texts. Raises: ToolsError."""
    records = [definitions.record(definitions.read(path)) for path in paths]
    return {definitions.file_name(record): definitions.text_of(record) for record in records}


def stale_files(wanted: dict[str, str], directory: Path) -> list[str]:
    """Names of the files that are missing, that differ, or that belong to no definition."""
    found = {path.name: path.read_text() for path in directory.glob("*.json")}
    return sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m docgen.schemas",
        description="Derives the schemas of Flux's kinds from the definitions of the Flux that the tools were built with.",
        epilog=EPILOG,
    )
    parser.add_argument("--check", action="store_true", help="change nothing, name the files that are stale")
    return parser.parse_args(arguments)


def _report(stale: Sequence[str], directory: Path) -> int:
    for name in stale:
        print(f"stale: {directory / name}")
    if stale:
        print("  fix: run `make schemas`", file=sys.stderr)
    return 1 if stale else 0


def _update(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    sys.exit(main())
