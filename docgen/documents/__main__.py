"""The command that writes docs/output-reference.md; `make reference` runs it."""

import sys
from collections.abc import Sequence
from pathlib import Path

from docgen.documents.page import page
from docgen.generated import write_or_check

PAGE = Path(__file__).parents[2] / "docs" / "output-reference.md"


def main(arguments: Sequence[str] | None = None, file: Path = PAGE) -> int:
    about = "Writes the reference of JSON documents from their models."
    return write_or_check(page, file, arguments, prog="python -m docgen.documents", description=about)


if __name__ == "__main__":
    sys.exit(main())
