"""The command that writes docs/cli.md; `make reference` runs it."""

import sys
from collections.abc import Sequence
from pathlib import Path

from docgen.commands.page import page
from docgen.generated import write_or_check

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


def main(arguments: Sequence[str] | None = None, file: Path = PAGE) -> int:
    about = "Writes the reference of the command line from the help of the commands."
    return write_or_check(page, file, arguments, prog="python -m docgen.commands", description=about)


if __name__ == "__main__":
    sys.exit(main())
