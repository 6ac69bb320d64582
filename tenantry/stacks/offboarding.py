"""The wish to off-board a whole environment before it is destroyed: a variable that names the environment."""

from __future__ import annotations

import os

VARIABLE = "TENANTRY_OFFBOARD"


def offboards(environment: str) -> bool:
    """Whether a run of this environment gives up every tenant and add-on."""
    return os.environ.get(VARIABLE) == environment
