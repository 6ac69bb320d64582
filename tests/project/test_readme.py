"""What README shows is what the program does."""

from __future__ import annotations

import re
from pathlib import Path

from tenantry.load import load_fleet
from tenantry.plan.plan import plan

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The first fenced block of a language."""
    found = re.search(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert found, f"README has no block of {language}"
    return found.group(1)


def test_the_readmes_fleet_is_the_minimal_example() -> None:
    assert (ROOT / "examples" / "minimal" / "tenants.yaml").read_text(encoding="utf-8") == block("yaml")


def test_the_readme_lists_the_objects_that_its_fleet_yields() -> None:
    planned = plan(load_fleet(ROOT / "examples" / "minimal" / "tenants.yaml"), "dev")
    assert [str(each.id) for each in planned.objects] == block("text").splitlines()


def test_the_readme_has_at_most_150_lines() -> None:
    assert len(README.splitlines()) <= 150
