"""What the command says about a case, and whether that is as promised in docs/output.md."""

from __future__ import annotations

import io
import re
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from tenantry.cli.app import run
from tests.floor import floor
from tests.hostile.case import Case

FLOORS = 60
"""How many times the processor's time of a plain fleet a case may take; none is known that takes 20."""
MEGABYTES = 512
_PLACE = re.compile(
    r"^(?P<file>\S.*\.(?:yaml|csv)):(?P<line>[1-9][0-9]*):(?P<column>[1-9][0-9]*): error\[[a-z0-9-]+\]: \S"
)


@dataclass(frozen=True)
class Outcome:
    code: int
    said: str
    seconds: float

    @property
    def refused(self) -> bool:
        return self.code == 2


def outcome_of(file: Path, *options: str) -> Outcome:
    """Of `tenantry validate` in this process; seconds are the processor's."""
    out, err = io.StringIO(), io.StringIO()
    start = time.process_time()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(["--file", str(file), "validate", *options])
    return Outcome(code, out.getvalue() + err.getvalue(), time.process_time() - start)


def most_seconds() -> float:
    """How long the processor may work on a case, on this machine."""
    return FLOORS * floor()


def broken_promises(case: Case, outcome: Outcome) -> list[str]:
    """Every promise that the outcome does not keep, in words."""
    broken = []
    if outcome.code != 2 and (case.certain or outcome.code != 0):
        broken.append(f"exit code {outcome.code}")
    first = outcome.said.partition("\n")[0]
    if outcome.refused and not _PLACE.match(first):
        broken.append(f"no place: {first[:200]!r}")
    if "Traceback" in outcome.said or "internal error" in outcome.said:
        broken.append("a traceback")
    if any(not char.isprintable() for char in outcome.said.replace("\n", "")):
        broken.append("control characters")
    # Escaped or not: a secret on several lines is shown on one.
    broken += [f"shows {secret!r}" for secret in case.secrets if secret in outcome.said]
    if outcome.seconds > most_seconds():
        broken.append(f"{outcome.seconds:.1f} s of the processor, more than {FLOORS} times a plain fleet")
    return broken
