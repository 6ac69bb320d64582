"""docs/policy.md lists the rules as they are."""

from __future__ import annotations

import re
from pathlib import Path

from tenantry.policy.rule import name_of
from tenantry.policy.rules import FRAME_RULES, OBJECT_RULES, STACK_RULES
from tests.hostile.holes import HOLES
from tests.hostile.holes_of_fields import FIELD_HOLES

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = (DOCS / "policy.md").read_text(encoding="utf-8")


def test_the_page_lists_every_rule_and_what_it_is_about() -> None:
    listed = re.findall(r"^\| `([a-z-]+)` \| (object|stack) \|", PAGE, re.MULTILINE)
    rules = [*((name_of(rule), "object") for rule in OBJECT_RULES), *((name_of(rule), "stack") for rule in STACK_RULES)]
    assert listed == rules


def test_the_page_lists_every_rule_about_frames() -> None:
    assert re.findall(r"^\| `(tenants-[a-z-]+)` \| (?!(?:object|stack) \|)", PAGE, re.MULTILINE) == [
        *map(name_of, FRAME_RULES)
    ]


def test_the_results_name_every_hole_and_the_rule_that_finds_it() -> None:
    page = (DOCS / "reliability.md").read_text(encoding="utf-8")
    rows = [f"| {hole.what} | {_found_by(hole.rule)} |" for hole in (*HOLES, *FIELD_HOLES)]
    assert [row for row in rows if row not in page] == []


def _found_by(rule: str) -> str:
    return f"`{rule}`" if rule.startswith("tenants-") else f"the tests alone: {rule}"


def test_the_page_shows_a_message_as_it_is() -> None:
    case = (
        Path(__file__).resolve().parents[2] / "policy" / "cases" / "reconcilers_name_a_service_account" / "expected.txt"
    )
    reason, _, what, fix, *_ = case.read_text().splitlines()
    assert [line for line in (reason, what, fix) if line not in PAGE] == []
