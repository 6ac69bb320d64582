"""How the Pulumi program tells the command that started it why it ended.

Pulumi has one exit code for most failures. A program that `tenantry up` started writes its own to the file that a variable names.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

VARIABLE = "TENANTRY_OUTCOME"
"""The file; not set if somebody else ran `pulumi`."""
UNREFRESHED = "TENANTRY_UNREFRESHED"
STARTED = "started"
REFRESH = "refresh"
"""The cluster differs from the state in what the state does not know: the same run with `--refresh` restores it."""
HELD = "held"
"""Everything went through except for Secrets whose values nobody has set."""


def tell(outcome: str) -> None:
    """Write how far the program got: `STARTED`, `REFRESH`, `HELD`, or the exit code of a command that ends for the same reason."""
    if file := os.environ.get(VARIABLE):
        with suppress(OSError):  # the command takes Pulumi's exit code then
            Path(file).write_text(outcome, encoding="ascii")


def is_unrefreshed() -> bool:
    """Whether the command that started the run has left out the refresh, and begins again with one if the program asks for it."""
    return os.environ.get(UNREFRESHED) == "true"


def is_started_by_tenantry() -> bool:
    """Whether a command of ours has started the run."""
    return VARIABLE in os.environ


def told(file: Path) -> str:
    """What the program wrote last; "" if it did not start."""
    try:
        return file.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
