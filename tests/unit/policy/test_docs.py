"""docs/policy.md lists the rules as they are."""

from __future__ import annotations

import re
from pathlib import Path

from tenantry.policy.rule import name_of
from tenantry.policy.rules import FRAME_RULES, OBJECT_RULES, STACK_RULES

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "policy.md").read_text(encoding="utf-8")


def test_the_page_lists_every_rule_and_what_it_is_about() -> None:
    listed = re.findall(r"^\| `([a-z-]+)` \| (object|stack) \|", PAGE, re.MULTILINE)
    rules = [*((name_of(rule), "object") for rule in OBJECT_RULES), *((name_of(rule), "stack") for rule in STACK_RULES)]
    assert listed == rules


def test_the_page_lists_every_rule_about_frames() -> None:
    assert re.findall(r"^\| `(tenants-[a-z-]+)` \| (?!(?:object|stack) \|)", PAGE, re.MULTILINE) == [
        *map(name_of, FRAME_RULES)
    ]


def test_the_page_shows_a_message_as_it_is() -> None:
    case = (
        Path(__file__).resolve().parents[2] / "policy" / "cases" / "reconcilers_name_a_service_account" / "expected.txt"
    )
    reason, _, what, fix, *_ = case.read_text().splitlines()
    assert [line for line in (reason, what, fix) if line not in PAGE] == []
