"""The command that writes tenants.schema.json and tenants-included.schema.json; `make document-schema` runs it.

The files are kept in the repository, and hatch_build.py puts them into the wheel.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from docgen.document.included import included_schema
from docgen.document.whole import json_schema, text_of
from docgen.generated import write_or_check

_ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None, directory: Path = _ROOT) -> int:
    about = "Writes the JSON Schemas of tenants.yaml and of teams' files from the model."
    schemas = {"tenants.schema.json": json_schema, "tenants-included.schema.json": included_schema}
    return max(
        write_or_check(
            partial(_text, schema), directory / name, arguments, prog="python -m docgen.document", description=about
        )
        for name, schema in schemas.items()
    )


def _text(schema: Callable[[], dict[str, Any]]) -> str:
    return f"{text_of(schema())}\n"


if __name__ == "__main__":
    sys.exit(main())
