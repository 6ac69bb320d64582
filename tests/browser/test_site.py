"""The site of the documentation, opened from the disk: found, read on a phone and in the dark, without any request."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visits

SITE = Path(__file__).resolve().parents[2] / "build" / "docs"


class Site:
    def __init__(self, page: Page) -> None:
        self.page = page

    def open(self, address: str, *, size: tuple[int, int] = (1280, 900), scheme: Any = "light") -> Page:
        self.page.set_viewport_size({"width": size[0], "height": size[1]})
        self.page.emulate_media(color_scheme=scheme)
        self.page.goto(f"{SITE.as_uri()}/{address}")
        return self.page


@pytest.fixture
def site(visits: Visits) -> Iterator[Site]:
    """At the end of the test, no page may have asked another host, logged or raised anything."""
    assert SITE.exists(), f"{SITE} is missing: run `make docs`"
    visits.told.clear()
    yield Site(visits.page)
    assert visits.told == []


def test_the_front_page_leads_to_a_page_by_its_table_and_by_the_navigation(site: Site) -> None:
    page = site.open("index.html")
    page.wait_for_url("**/docs/README.html")
    page.locator("article").get_by_role("link", name="Clusters and environments", exact=True).click()
    expect(page.locator("h1")).to_contain_text("Clusters")
    page.locator(".sidebar-tree").get_by_role("link", name="Concepts", exact=True).click()
    expect(page.locator("h1")).to_contain_text("Concepts")
    captions = page.locator(".sidebar-tree .caption-text").all_text_contents()
    assert captions[0] == "Get started"
    assert captions[-1] == "Operate"


def test_search_works_without_a_server(site: Site) -> None:
    page = site.open("docs/README.html")
    page.get_by_placeholder("Search").fill("offboarding")
    page.get_by_placeholder("Search").press("Enter")
    page.locator("#search-results a").filter(has_text="Lifecycle").first.click()
    expect(page.locator("h1")).to_contain_text("Lifecycle")


TASKS = {
    "what runs where": "cookbook.html#see-what-runs-where",
    "rollback": "cookbook.html#undo-a-change",
    "differs between environments": "rollouts.html#what-differs-between-two-environments",
    "rotate kubeconfig": "cookbook.html#renew-the-kubeconfig-of-a-cluster",
    "freeze": "cookbook.html#change-a-value",
    "who may do what": "cookbook.html#see-who-may-do-what",
    "why": "on-call.html#on-call",
    "troubleshoot": "on-call.html#on-call",
    "on call": "on-call.html#on-call",
    "remove cluster": "cookbook.html#remove-a-cluster",
    "move tenant": "cookbook.html#move-a-tenant-to-another-cluster",
    "developer": "developers.html#for-tenants-developers",
}
"""By what a reader types: the first result."""


@pytest.mark.parametrize("query", TASKS)
def test_search_finds_the_page_of_a_task_first(site: Site, query: str) -> None:
    page = site.open(f"search.html?q={query}")
    first = page.locator("#search-results li a").first
    expect(first).to_be_visible()
    assert (first.get_attribute("href") or "").split("/")[-1] == TASKS[query]


def test_search_finds_decisions_last(site: Site) -> None:
    page = site.open("search.html?q=environment")
    expect(page.locator("#search-results p.search-summary")).to_contain_text("found")
    found = [each.get_attribute("href") or "" for each in page.locator("#search-results li > a").all()]
    background = [any(part in each for part in ("/adr/", "CHANGELOG", "AGENTS")) for each in found]
    assert sum(background) > 5
    assert background == sorted(background)


def test_a_link_to_a_file_shows_the_file(site: Site) -> None:
    page = site.open("docs/tenants-reference.html")
    page.locator("article a.file").first.click()
    expect(page.locator("h1")).to_have_text("tenants.schema.json")
    expect(page.locator("article pre")).to_contain_text('"apiVersion"')


@pytest.mark.parametrize("address", ["README", "tenants-reference", "concepts", "pull-requests"])
def test_no_page_scrolls_sideways_on_a_phone(site: Site, address: str) -> None:
    page = site.open(f"docs/{address}.html", size=(360, 800))
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_on_a_phone_the_meaning_of_a_key_is_on_the_screen(site: Site) -> None:
    page = site.open("docs/tenants-reference.html", size=(360, 800))
    meaning = page.locator("table.docutils tbody tr").nth(5).locator("td").last
    box = meaning.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360


def test_a_reader_who_prefers_dark_pages_gets_them(site: Site) -> None:
    background = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    assert min(site.open("docs/concepts.html").evaluate(background)) > 200
    assert max(site.open("docs/concepts.html", scheme="dark").evaluate(background)) < 60


def test_the_button_of_a_console_copies_commands_alone(site: Site) -> None:
    page = site.open("README.html")
    page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async t => { window.copied = t; }}})"
    )
    page.reload()
    page.locator(".highlight-console").first.get_by_role("button", name="Copy").click()
    assert (
        page.evaluate("window.copied")
        == "make setup\n.venv/bin/tenantry validate\n.venv/bin/tenantry list placements\n"
    )


def test_a_broken_link_and_a_page_that_no_index_lists_fail_the_build(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "README.md").write_text(
        "# Index\n\n[a](a.md) [no file](gone.md) [no file](../gone.yaml) [no heading](a.md#gone)\n"
    )
    (docs / "a.md").write_text("# A\n\n[here](#gone)\n")
    (docs / "b.md").write_text("# B\n")
    built = subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            "-qWn",
            "--keep-going",
            "-c",
            SITE.parents[1] / "docs",
            tmp_path,
            tmp_path / "out",
        ],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"NO_COLOR": "1"},  # Sphinx colours its warnings where CI is set, also in a pipe
    )
    warnings = re.findall(r"/docs/(\w+\.md).* WARNING: .* \[(\S+)\]$", built.stderr, re.MULTILINE)
    assert sorted(warnings) == [
        ("README.md", "myst.xref_missing"),  # the file
        ("README.md", "myst.xref_missing"),  # the page
        ("README.md", "myst.xref_missing"),  # the heading of the other page
        ("README.md", "toc.not_readable"),
        ("a.md", "myst.xref_missing"),
        ("b.md", "toc.not_included"),
    ]
    assert built.returncode == 1
