"""The command that fills docs/performance.md and draws its plot; `make reference` runs it."""

import sys
from collections.abc import Sequence

from docgen.generated import write_or_check
from docgen.performance.page import PAGE, page, tables_of


def main(arguments: Sequence[str] | None = None) -> int:
    about = "Fills the tables of docs/performance.md from bench/results.json."
    code = write_or_check(page, PAGE, arguments, prog="python -m docgen.performance", description=about)
    if "--check" not in (sys.argv if arguments is None else arguments):
        from docgen.performance.plot import draw  # loads matplotlib

        draw(tables_of())
    return code


if __name__ == "__main__":
    sys.exit(main())
