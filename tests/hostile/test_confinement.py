"""A hostile included file is refused, or every plan of the fleet is confined.

Thousands are drawn, in parts that run beside the tests of real programs, which mostly wait.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict

import pytest

from tests.hostile.confinement import PART, judge, seeds

FLEETS = int(os.environ.get("FLEETS", 5_000))
"""A build server draws fewer, the first of the same ones."""


@pytest.mark.parametrize("first", range(0, FLEETS, PART))
def test_hostile_fleets_are_refused_or_confined(first: int, record_property: Callable[[str, object], None]) -> None:
    verdicts = judge(seeds(first, min(PART, FLEETS - first)))
    record_property("confinement", asdict(verdicts))
    assert verdicts.escaped == {}
    # More than a quarter are, give or take two in a hundred for a part.
    assert verdicts.confined >= 0.2 * verdicts.drawn, "too many are refused to prove anything"
