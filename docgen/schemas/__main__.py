"""The command that derives `tenantry/flux/schemas` from the CustomResourceDefinitions of the pinned Flux; `make schemas` runs it.

The data files are kept in the repository, so that checking a fleet needs no tools; `--check` says whether they are up to date.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from docgen.schemas import definitions, files
from tenantry_sandbox.tools import store

DIRECTORY = Path(__file__).parents[2] / "tenantry" / "flux" / "schemas"
NOT_PLANNED = ("ExternalArtifact",)
"""Kinds of Flux of which no fleet has objects."""


def main(arguments: Sequence[str] | None = None, directory: Path = DIRECTORY) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m docgen.schemas",
        description="Derives the schemas of Flux's kinds from the definitions of the Flux that the tools were built with.",
        epilog=files.EPILOG,
    )
    return files.run(parser, arguments, lambda _: generate(store.crds()), directory)


def generate(paths: Iterable[Path]) -> dict[str, str]:
    """File names and their texts. Raises: ToolsError."""
    found = map(definitions.read, paths)
    records = [definitions.record(each) for each in found if each["spec"]["names"]["kind"] not in NOT_PLANNED]
    return {definitions.file_name(record): definitions.text_of(record) for record in records}


if __name__ == "__main__":
    sys.exit(main())
