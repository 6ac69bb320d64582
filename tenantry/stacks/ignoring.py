"""The way past the gate of an environment in an emergency: a variable that names the environment."""

from __future__ import annotations

import os

VARIABLE = "TENANTRY_IGNORE_AFTER"


def ignores(environment: str) -> bool:
    """Whether a run of this environment does not ask the environment before."""
    return os.environ.get(VARIABLE) == environment
