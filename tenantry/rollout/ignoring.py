"""Emergencies: what a run does not wait for, because somebody said so with a reason.

The command and the program that it starts tell each other by a variable, which others can set for plain `pulumi up`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from tenantry.messages.text import printable

IGNORE = "TENANTRY_IGNORE"
CONDITIONS = ("after", "windows", "soak", "approval")
"""What can hold a change back, and can be ignored in an emergency."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """What a run does not wait for, and the reason that somebody gave."""

    conditions: tuple[str, ...] = ()
    reason: str = ""

    def __contains__(self, condition: str) -> bool:
        return condition in self.conditions

    def __bool__(self) -> bool:
        return bool(self.conditions)

    def __str__(self) -> str:
        return f"{','.join(self.conditions)}: {self.reason}" if self.conditions else ""

    def variable(self, environment: str) -> str:
        """The value of `IGNORE`. It names the environment, so that it does not open the gates of others."""
        return f"{environment} {self}"


def ignored(environment: str) -> Ignored:
    """What a run of this environment does not wait for. Without a reason, it waits for everything."""
    name, _, rest = os.environ.get(IGNORE, "").partition(" ")
    conditions, _, reason = rest.partition(":")
    if name != environment or not reason.strip():
        return Ignored()
    return Ignored(
        tuple(each for each in CONDITIONS if each in conditions.split(",")), printable(reason.strip())[:_MOST]
    )


_MOST = 300
"""Characters of a reason."""
