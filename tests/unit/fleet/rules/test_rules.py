"""Every rule has a case that keeps it and one that breaks it: cases/<rule>/{good.yaml,bad.yaml,expected.txt}.

`pytest --update-golden` writes expected.txt: everything the author is told about bad.yaml by that rule.
"""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import pytest

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.rules import RULES, WARNINGS, Rule
from tenantry.fleet.shape import check_shape
from tenantry.grants.frames import filled
from tenantry.load import fleet_of, plan_all, warnings_of
from tenantry.messages.errors import InvalidFleet, Severity
from tenantry.messages.text import format_invalid, format_warnings
from tenantry.source.include import read_all
from tenantry.source.parsed_file import ParsedFile
from tests.table import table

CASES = Path(__file__).with_name("cases")

each_rule = table("rule", RULES, ids=lambda rule: rule.__name__)
each_warning = table("rule", WARNINGS, ids=lambda rule: rule.__name__)


def test_every_rule_has_a_case_and_every_case_a_rule() -> None:
    assert sorted(rule.__name__ for rule in (*RULES, *WARNINGS)) == sorted(case.name for case in CASES.iterdir())


def read(rule: Rule, name: str) -> ParsedFile:
    """A file of a rule's case with those that it includes; messages name them as they stand there."""
    with chdir(CASES / rule.__name__):
        return filled(read_all(Path(name)))


@each_rule
def test_the_good_case_is_a_sound_fleet(rule: Rule) -> None:
    assert plan_all(fleet_of(read(rule, "good.yaml")))


@each_rule
def test_the_bad_case_is_refused_by_its_rule_and_by_no_other(rule: Rule, *, update_golden: bool) -> None:
    case = CASES / rule.__name__
    source = read(rule, "bad.yaml")
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
        fleet_of(read(rule, "bad.yaml"))
    assert (case / "expected.txt").read_text() == format_invalid(caught.value) + "\n"


@each_warning
def test_the_good_case_of_a_warning_gets_none(rule: Rule) -> None:
    fleet = fleet_of(read(rule, "good.yaml"))
    assert plan_all(fleet)
    assert warnings_of(fleet) == ()


@each_warning
def test_the_bad_case_of_a_warning_is_a_sound_fleet_with_warnings_of_its_rule_alone(
    rule: Rule, *, update_golden: bool
) -> None:
    case = CASES / rule.__name__
    fleet = fleet_of(read(rule, "bad.yaml"))
    assert plan_all(fleet)
    told = format_warnings(warnings_of(fleet)) + "\n"
    if update_golden:
        (case / "expected.txt").write_text(told)
    assert (case / "expected.txt").read_text() == told
    assert [other.__name__ for other in WARNINGS if list(other(fleet))] == [rule.__name__]


@table(("rules", "severity"), [(RULES, Severity.ERROR), (WARNINGS, Severity.WARNING)])
def test_a_rule_yields_errors_or_warnings_as_its_list_says(rules: tuple[Rule, ...], severity: Severity) -> None:
    for rule in rules:
        source = read(rule, "bad.yaml")
        fleet = Fleet(check_shape(source.data).document, source)  # type: ignore[arg-type]  # a bad case has its shape
        assert {each.severity for each in rule(fleet)} == {severity}
