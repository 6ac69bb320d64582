"""Where tables are printed; apart from `output`, because rich takes a while to import and most commands print none."""

from __future__ import annotations

import sys

from rich.console import Console

from tenantry.cli.output import colours

_WIDE = 1000
"""Columns where nobody looks at a screen: a program that reads a table wants a line per row."""


def stdout_console() -> Console:
    """The console for a command's result."""
    width = None if sys.stdout.isatty() else _WIDE
    return Console(width=width, no_color=not colours(sys.stdout), highlight=False)
