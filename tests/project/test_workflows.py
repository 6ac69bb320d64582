"""Every documented workflow is an edit that works, and does what its document says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from tenantry.load import fleet_of, plan_all
from tenantry.plan.plan import Plan
from tenantry.source.parse import parse
from tests.workflows import applied, changes, workflows

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "multi-cluster"
TEXT = (EXAMPLE / "tenants.yaml").read_text(encoding="utf-8")
DOCUMENT = (EXAMPLE / "workflows.md").read_text(encoding="utf-8")
WORKFLOWS = workflows(DOCUMENT)


@cache
def plans(text: str) -> Mapping[str, Plan]:
    return plan_all(fleet_of(parse(text.encode(), "tenants.yaml")))


def test_there_are_nine() -> None:
    assert list(range(1, 10)) == list(WORKFLOWS)


@pytest.mark.parametrize("number", WORKFLOWS, ids=lambda number: WORKFLOWS[number].title)
def test_a_workflow_changes_what_its_document_says(number: int) -> None:
    before, after = applied(WORKFLOWS, number, TEXT)
    assert changes(plans(before), plans(after)) == WORKFLOWS[number].changes


def test_the_table_states_the_lines_of_each_edit() -> None:
    rows = re.findall(r"^\| \[(\d)\. .*?\| (.*) \|$", DOCUMENT, re.MULTILINE)
    assert {int(number): lines for number, lines in rows} == {
        number: workflow.lines for number, workflow in WORKFLOWS.items()
    }


def test_a_cluster_like_others_is_one_line_and_gets_what_they_have() -> None:
    second = "  america-south-2: {from: south}\n"
    text = TEXT.replace("  america-south: {from: south}\n", f"  america-south: {{from: south}}\n{second}")
    for plan in plans(text).values():
        found = {str(each.id): each.manifest["spec"].get("path") for each in plan.objects if "spec" in each.manifest}
        of_the_second = {name: path for name, path in found.items() if "america-south-2-" in name}
        assert of_the_second
        assert all(
            found[name.replace("america-south-2", "america-south")] == of_the_second[name] for name in of_the_second
        )


def test_removing_a_release_environment_leaves_the_file_as_it_was() -> None:
    assert applied(WORKFLOWS, 9, TEXT)[1] == TEXT


def test_every_workflow_can_be_applied_on_top_of_the_others() -> None:
    text = TEXT
    for number in (3, 5, 6, 8, 9, 7, 4, 1, 2):
        text = WORKFLOWS[number].apply(text)
    assert {name: plan.management for name, plan in plans(text).items()} == {
        "dev": "america",
        "dev-asia": "asia",
        "qa": "america",
        "qa-asia": "asia",
        "stage": "america",
    }


def test_a_new_environment_has_what_another_has_on_the_same_clusters() -> None:
    before, after = (plans(text) for text in applied(WORKFLOWS, 7, TEXT))
    assert _plain(after["stage"]) == _plain(before["qa"])


@pytest.mark.parametrize(("number", "environment"), [(1, "dev"), (2, "qa")])
def test_a_cluster_of_an_environment_has_what_another_has_and_changes_nothing_on_it(
    number: int, environment: str
) -> None:
    before, after = (plans(text) for text in applied(WORKFLOWS, number, TEXT))
    assert after[environment].objects == before[environment].objects
    local = {each for each in _plain(before[environment]) if " clusters/" not in each}
    assert _plain(after[f"{environment}-asia"]) == local


def test_a_release_environment_has_what_its_tenants_have_in_another() -> None:
    before, after = (plans(text) for text in applied(WORKFLOWS, 8, TEXT))
    assert _plain(after["dev-1-0-x"]) == {each for each in _plain(before["qa"]) if "yakuza" not in each}


def _plain(plan: Plan) -> set[str]:
    """The objects' identities without the environment's name, and without the hash of a shared source's content."""
    names = (re.sub(r"\.[0-9a-f]{8}$", "", str(each.id)) for each in plan.objects)
    return {each.replace(f"{plan.environment}-", "").replace(f"-{plan.environment}", "") for each in names}
