"""Tests of properties take `given` from here: it draws few examples, or as many as EXAMPLES says.

It draws the same examples in every run, so that no test fails because of chance.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, given, settings

__all__ = ["given", "one_in"]

FEW = 7
"""The lowest number of examples that still runs nearly all lines which a hundred of them run."""

DRAWN = int(os.environ.get("EXAMPLES", FEW))

# A machine that is busy with other things is no reason to fail.
settings.register_profile(
    "drawn",
    max_examples=DRAWN,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("drawn")


def one_in(share: int) -> settings:
    """For a test whose examples take long, such as two whole plans each: only this share of the examples, and at least two."""
    return settings(max_examples=max(2, DRAWN // share))
