"""What a reviewer is told: whole reviews as compact text, in outlines.txt. The last number of a change counts its objects.

`pytest --update-golden` writes them; read the difference before committing it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tenantry.compare.diff import diff_all
from tenantry.compare.review.build import review
from tenantry.compare.review.model import Effect
from tests.table import table
from tests.unit.compare.review.cases import BASE, cases
from tests.unit.compare.review.outline import lines, planned, reviewed

pytestmark = pytest.mark.usefixtures("plans_once")

CASES = dict(cases())
OUTLINES = Path(__file__).with_name("outlines.txt")


def outlines() -> dict[str, str]:
    parts = OUTLINES.read_text().split("## ")[1:] if OUTLINES.exists() else []
    return {title: text.rstrip("\n") for title, _, text in (part.partition("\n") for part in parts)}


def test_the_outlines_are_those_of_the_cases(*, update_golden: bool) -> None:
    if update_golden:
        OUTLINES.write_text("\n\n".join(f"## {name}\n{told(*texts)}" for name, texts in CASES.items()) + "\n")
    assert list(outlines()) == list(CASES)


def told(before: str, after: str) -> str:
    return "\n".join(line for each in reviewed(before, after).environments for line in lines(each))


@table("case", CASES)
def test_a_reviewer_is_told_in_these_words(case: str) -> None:
    assert told(*CASES[case]) == outlines()[case]


@pytest.mark.parametrize("case", CASES)
def test_every_object_is_accounted_for_once_in_both_directions(case: str) -> None:
    one, other = map(planned, CASES[case])
    for before, after in ((one, other), (other, one)):
        for environment in review(diff_all(before.plans, after.plans), before, after).environments:
            diff = environment.diff
            own = [*environment.clusters, *(each for tenant in environment.tenants for each in tenant.changes)]
            objects = {each.id for each in (*diff.removed.objects, *diff.added.objects, *diff.changed)}
            assert Counter(id for each in own for id in each.objects) == Counter(objects)
            silent = (each for each in own if not (each.settings or each.fields or each.sentences))
            assert [each.part for each in silent if each.effect is Effect.CHANGED] == []


def test_equal_plans_have_nothing_to_review() -> None:
    found = reviewed(BASE, BASE)
    assert (found.environments, found.unchanged) == ((), ("dev",))
