"""Chains of names."""

from __future__ import annotations

from tenantry.fleet.lineages import AFTER, Lineages
from tests.table import table


def chains(before: dict[str, str]) -> Lineages:
    return Lineages(AFTER, {name: {"after": other} for name, other in before.items()})


@table(
    ("before", "order"),
    [
        ({"d": "", "c": "b", "b": "a", "a": ""}, "dabc"),  # nothing speaks against the order that is given
        ({"a": "b", "b": "a", "c": "unknown"}, "bac"),  # every name is there, in circles and behind what is unknown
    ],
)
def test_each_name_comes_after_those_above_it(before: dict[str, str], order: str) -> None:
    assert "".join(chains(before).joined(before)) == order


def test_every_circle_is_named_once_and_what_only_leads_into_it_is_no_part_of_it() -> None:
    findings = chains({"x": "c", "c": "b", "b": "a", "a": "c", "self": "self", "free": ""}).findings
    circles = [problem.message for problem in findings if problem.code == "environment-cycle"]
    assert circles == ["environments name each other: a -> c -> b -> a", "environment 'self' names itself"]
