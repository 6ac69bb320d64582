"""Every rule has a case that keeps it and one that breaks it: cases/<rule>/{good.yaml,bad.yaml,expected.txt}.

`pytest --update-golden` writes expected.txt: everything the author is told about bad.yaml by that rule.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.rules import RULES, Rule
from tenantry.fleet.shape import check_shape
from tenantry.load import fleet_of, plan_all
from tenantry.messages.errors import InvalidFleet
from tenantry.messages.text import format_invalid
from tenantry.source.parse import parse

CASES = Path(__file__).with_name("cases")

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)


def test_every_rule_has_a_case_and_every_case_a_rule() -> None:
    assert sorted(rule.__name__ for rule in RULES) == sorted(case.name for case in CASES.iterdir())


@each_rule
def test_the_good_case_is_a_sound_fleet(rule: Rule) -> None:
    raw = (CASES / rule.__name__ / "good.yaml").read_bytes()
    assert plan_all(fleet_of(parse(raw, "good.yaml")))


@each_rule
def test_the_bad_case_is_refused_by_its_rule_and_by_no_other(rule: Rule, *, update_golden: bool) -> None:
    case = CASES / rule.__name__
    source = parse((case / "bad.yaml").read_bytes(), "bad.yaml")
    checked = check_shape(source.data)
    assert (checked.findings, checked.document is None) == ((), False)
    fleet = Fleet(checked.document, source)  # type: ignore[arg-type]  # asserted above
    told = format_invalid(fleet.invalid(rule(fleet))) + "\n"
    if update_golden:
        (case / "expected.txt").write_text(told)
    assert (case / "expected.txt").read_text() == told
    breaking = [other.__name__ for other in RULES if list(other(fleet))]
    assert breaking == [rule.__name__]


@each_rule
def test_what_the_author_is_told_about_the_bad_case_has_no_second_version_of_the_same_mistake(rule: Rule) -> None:
    case = CASES / rule.__name__
    with pytest.raises(InvalidFleet) as caught:
        fleet_of(parse((case / "bad.yaml").read_bytes(), "bad.yaml"))
    assert (case / "expected.txt").read_text() == format_invalid(caught.value) + "\n"
