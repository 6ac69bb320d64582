"""How the Pulumi program and the command that started it tell each other things: by variables, and by why the program ended."""

from __future__ import annotations

import os
import re
import shlex
from contextlib import suppress
from pathlib import Path

OUTCOME_FILE = "TENANTRY_OUTCOME"
"""The file; not set if somebody else ran `pulumi`."""
UNREFRESHED = "TENANTRY_UNREFRESHED"
STARTED = "started"
REFRESH = "refresh"
"""The cluster differs from the state in what the state does not know: the same run with `--refresh` restores it."""
UNPROTECT = "unprotect"
"""The state protects what the run may remove: the same run after `pulumi state unprotect` of the URNs on the further lines."""
HELD = "held"
"""Something has failed, is missing or was refused, and is held; everything else went through."""


def report_outcome(outcome: str) -> None:
    """Write how far the program got: `STARTED`, `REFRESH`, `UNPROTECT` with URNs, `HELD`, or the exit code of a command that ends
    for the same reason.
    """
    if file := os.environ.get(OUTCOME_FILE):
        with suppress(OSError):  # the command takes Pulumi's exit code then
            Path(file).write_text(outcome, encoding="ascii")


def is_unrefreshed() -> bool:
    """Whether the command that started the run has left out the refresh, and begins again with one if the program asks for it."""
    return os.environ.get(UNREFRESHED) == "true"


def is_started_by_tenantry() -> bool:
    """Whether a command of ours has started the run."""
    return OUTCOME_FILE in os.environ


def to_unprotect(outcome: str) -> list[str]:
    """The URNs that an outcome names."""
    first, *urns = outcome.splitlines() or [""]
    return urns if first == UNPROTECT else []


def reported(file: Path) -> str:
    """What the program wrote last; "" if it did not start."""
    try:
        return file.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""


WAITING = "waits"
"""Everything went through except for what waits for a soak or the environment before, and is held."""
AGAIN = "again"
"""The deletions of this run let the next wave lose what the plan does not have any more: the same run again."""
WAITS = 5
"""The exit code of a command that has to wait for a time. Nothing has failed."""

OFFBOARD = "TENANTRY_OFFBOARD"


def offboards(environment: str) -> bool:
    """Whether a run of this environment gives up every tenant and add-on."""
    return os.environ.get(OFFBOARD) == environment


_CONFIG = re.compile(r"\bpulumi config (set|rm)\b(?![^;`,\n]* --stack)")


def for_stack(text: str, stack: str) -> str:
    """The text with each `pulumi config` in it for a stack: without `--stack`, Pulumi changes the one that is selected."""
    return _CONFIG.sub(lambda match: f"{match[0]} --stack {shlex.quote(stack)}", text)
