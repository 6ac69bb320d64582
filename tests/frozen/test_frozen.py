"""What becomes of the frozen inputs is what became of them."""

from __future__ import annotations

from itertools import chain

import pytest

from tests.frozen.differences import differences, first
from tests.frozen.outcomes import OUTCOMES
from tests.frozen.store import load

SHARES = {"fleets": 8, "mistakes": 2, "changes": 2}
"""Tests among which the cases of a part are divided, so that they run beside each other. Of others there is one."""
CASES = [(part, share) for part in OUTCOMES for share in range(SHARES.get(part, 1))]


@pytest.mark.parametrize(("part", "share"), CASES)
def test_the_outcome_is_the_frozen_one(part: str, share: int) -> None:
    frozen = load(part, "outcomes")
    cases = list(load(part, "inputs").items())
    assert [*frozen] == [name for name, _ in cases]
    found = chain.from_iterable(
        differences(part, name, case, frozen[name]) for name, case in cases[share :: SHARES.get(part, 1)]
    )
    if lines := first(found, 10):
        pytest.fail("\n".join(lines), pytrace=False)
