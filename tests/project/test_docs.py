"""Documentation leads to what is there, and its fleets work."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docgen.commands.page import page as commands_page
from docgen.markdown import FENCE
from docgen.markdown import prose as without_blocks
from docgen.reference.page import anchor
from tenantry.cli.app import run
from tenantry.load import load_fleet, plan_all

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    return without_blocks(page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    return {anchor(title) for title in re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)}


def broken(page: Path) -> Iterator[str]:
    """Links to files that are not there, or to headings that they do not have."""
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", prose(page)):
        path, _, heading = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (heading and heading not in anchors(target)):
            yield link


def fleets() -> Iterator[tuple[str, str]]:
    """Every block that is a whole tenants.yaml, which its first keys say."""
    for page in PAGES:
        blocks = (text for language, text in FENCE.findall(page.read_text(encoding="utf-8")) if language == "yaml")
        whole = [text for text in blocks if re.search(r"^apiVersion: tenantry/v1$", text, re.MULTILINE)]
        yield from ((f"{name(page)}-{index}", text) for index, text in enumerate(whole) if "include:" not in text)


FLEETS = dict(fleets())


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_to_a_file_and_a_heading_that_are_there(page: Path) -> None:
    assert list(broken(page)) == []


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            links = re.findall(r"\]\((?!https?:)([^)#\s]+)", prose(page))
            waiting += [(page.parent / link).resolve() for link in links]
    assert [name(page) for page in PAGES if page not in reached] == []


def test_a_heading_becomes_the_anchor_that_git_hosts_make_of_it() -> None:
    assert anchor("`tenants.<name>.apps.<name>`") == "tenantsnameappsname"
    assert anchor("Who acts as whom") == "who-acts-as-whom"


@pytest.mark.parametrize("example", FLEETS)
def test_a_whole_file_in_the_documentation_is_a_fleet_that_works(example: str, tmp_path: Path) -> None:
    file = tmp_path / "tenants.yaml"
    file.write_text(FLEETS[example], encoding="utf-8")
    plans = plan_all(load_fleet(file))
    assert {environment for environment, plan in plans.items() if not plan.objects} == set()


def test_describing_a_command_leaves_it_the_short_option_of_help(
    capsys: pytest.CaptureFixture[str],
) -> None:
    commands_page()
    assert run(["add", "-h"]) == 0
    assert "\n  -h, --help " in capsys.readouterr().out
