"""Every rule of the policy pack has a case that keeps it and one that breaks it: tests/policy/cases/<rule>.

`pytest --update-golden` writes expected.txt: all that the rule says about bad.yaml.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from policy.resource import Provider, Resource
from policy.rule import Violation, check_object, reason_of
from policy.rules import OBJECT_RULES, STACK_RULES
from policy.stack import Stack
from tests.policy.cases import CASES, RULES, Kind, registrations, type_of

ALL = {rule.__name__: rule for rule in (*OBJECT_RULES, *STACK_RULES)}

each_rule = pytest.mark.parametrize("rule", ALL)


def resources(rule: str, kind: Kind) -> list[Resource]:
    return [
        Resource(
            urn=f"urn:pulumi:dev::tenantry::{type_of(manifest, beside)}::{rule}-{index}",
            type=type_of(manifest, beside),
            props=manifest,
            provider=Provider(beside.get("provider", "management"), beside.get("toFiles", False)),
        )
        for index, (manifest, beside) in enumerate(registrations(rule, kind))
    ]


def violations(given: list[Resource]) -> Iterator[tuple[str, Violation]]:
    """Everything that is wrong, each with the rule that says so."""
    for object_rule in OBJECT_RULES:
        for resource in given:
            yield from ((object_rule.__name__, each) for each in check_object(object_rule, resource))
    for stack_rule in STACK_RULES:
        yield from ((stack_rule.__name__, each) for each in stack_rule(Stack(given)))


def test_every_rule_has_a_case_and_every_case_a_rule() -> None:
    assert sorted(ALL) == RULES


@each_rule
def test_the_good_case_keeps_all_rules(rule: str) -> None:
    assert [(name, str(each)) for name, each in violations(resources(rule, "good"))] == []


@each_rule
def test_the_bad_case_is_refused_by_its_rule_and_by_no_other(rule: str, *, update_golden: bool) -> None:
    found = list(violations(resources(rule, "bad")))
    told = f"{reason_of(ALL[rule])}\n\n" + "".join(f"{each}\n" for _, each in found)
    expected = CASES / rule / "expected.txt"
    if update_golden:
        expected.write_text(told)
    assert {name for name, _ in found} == {rule}
    assert expected.read_text() == told


def test_no_message_holds_the_value_of_a_secret() -> None:
    told = [str(each) for rule in ALL for _, each in violations(resources(rule, "bad"))]
    assert [text for text in told if "hush" in text or "clusters: []" in text] == []
