"""Emergencies: what a run does not wait for, because somebody said so.

The command and the program that it starts tell each other by a variable, which others can set for plain `pulumi up`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

IGNORE = "TENANTRY_IGNORE"
CONDITIONS = ("after", "soak")
"""What can hold a change back, and can be ignored in an emergency."""


def variable_of(environment: str, conditions: Sequence[str]) -> str:
    """The value of `IGNORE`. It names the environment, so that it does not open the gates of others."""
    return f"{environment} {','.join(conditions)}"


def ignored(environment: str) -> tuple[str, ...]:
    """What a run of this environment does not wait for."""
    name, _, conditions = os.environ.get(IGNORE, "").partition(" ")
    if name != environment:
        return ()
    named = [each.strip() for each in conditions.split(",")]
    return tuple(each for each in CONDITIONS if each in named)
