"""The fleet map: what it shows, and how it is used with a pointer and with keys."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser import made
from tests.browser.conftest import Open


def tenants(page: Page) -> list[str]:
    return page.get_by_role("rowheader").all_inner_texts()


def clusters(page: Page) -> list[str]:
    return page.locator("#map .cluster").all_inner_texts()


_TEXTS = """cells => cells.map(cell => {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), parts = [];
  while (texts.nextNode()) parts.push(texts.currentNode.data.trim());
  return parts.filter(Boolean).join(" ");
})"""


def cells(page: Page) -> list[str]:
    """The signs and texts of all cells, row by row. `innerText` has no space between parts that are not laid out yet."""
    found: list[str] = page.get_by_role("gridcell").evaluate_all(_TEXTS)
    return found


def test_rows_are_tenants_and_columns_are_clusters_by_region(opened: Open) -> None:
    page = opened(made.page(made.small()))
    assert tenants(page) == ["rocky", "movy", "platform"]
    assert clusters(page) == ["eu-0", "eu-1", "us-2", "us-3", "ap-4", "ap-5"]
    assert cells(page) == [
        *["! web 1.2.0 → 1.3.0", *["~ web 1.2.0 → 1.3.0"] * 4, "·"],
        *["\N{MINUS SIGN} worker", "·", "+ queue", "+ queue", "", ""],
        *["~ certs"] * 6,
    ]


def test_dangers_stand_first_and_lead_to_their_place(opened: Open) -> None:
    page = opened(made.page(made.small()))
    assert page.locator(".alert").all_inner_texts() == ["rights\ntenant 'rocky' gets cluster-admin\nprod, on eu-0"]
    page.locator(".alert").click()
    panel = page.locator("#panel")
    expect(panel.get_by_role("heading", name="rights", exact=True)).to_be_visible()
    # The change that it is about stands below.
    assert [" ".join(each.split()) for each in panel.locator(".entry h3").all_inner_texts()] == [
        "! app web changed rights"
    ]
    assert "alert=0" in page.url


def test_a_click_on_a_cell_shows_what_changes(opened: Open) -> None:
    page = opened(made.page(made.small()))
    page.get_by_role("gridcell", name="rocky on eu-1: changed").click()
    panel = page.locator("#panel")
    expect(panel.locator("#panel-title")).to_have_text("rocky")
    expect(panel.locator("#panel-where")).to_have_text("on eu-1 · region eu")
    assert panel.locator(".values").inner_text().split() == ["helm.version", "before:", "1.2.0", "→", "after:", "1.3.0"]
    panel.get_by_text("5 of 6 clusters").click()
    expect(panel).to_contain_text("eu-0, eu-1, us-2, us-3, ap-4")
    panel.get_by_text("30 objects").click()
    expect(panel.locator(".objects li")).to_have_count(11)
    expect(panel).to_contain_text("and 20 more")
    # The panel leaves the map less room, and takes no words from it.
    assert cells(page)[1] == "~ web 1.2.0 → 1.3.0"


def test_a_click_on_a_tenant_or_a_cluster_shows_all_of_it(opened: Open) -> None:
    page = opened(made.page(made.small()))
    page.get_by_role("rowheader", name="movy").click()
    assert [" ".join(each.split()) for each in page.locator("#panel .entry h3").all_inner_texts()] == [
        "\N{MINUS SIGN} app worker removed",
        "+ app queue added",
    ]
    page.get_by_role("columnheader", name="eu-0").click()
    assert page.locator("#panel h3.tenant").all_inner_texts() == ["platform", "rocky", "movy"]


def test_the_filter_takes_tenants_apps_and_clusters(opened: Open) -> None:
    page = opened(made.page(made.small()))
    box = page.get_by_role("searchbox")
    box.fill("queue")
    assert (tenants(page), clusters(page)) == (["movy"], ["us-2", "us-3"])
    box.fill("rocky us")
    assert (tenants(page), clusters(page)) == (["rocky"], ["us-2", "us-3"])
    box.fill("nobody")
    expect(page.locator("#nothing")).to_have_text('Nothing matches "nobody".')
    box.press("Escape")
    assert tenants(page) == ["rocky", "movy", "platform"]


def test_states_can_be_hidden_and_unchanged_tenants_shown(opened: Open) -> None:
    page = opened(made.page(made.small()))
    page.get_by_role("button", name="changed 2", exact=False).first.click()
    assert tenants(page) == ["rocky", "movy"]
    page.get_by_role("button", name="unchanged").click()
    assert tenants(page) == ["rocky", "movy", "platform", "idle"]


def test_groups_fold_and_show_their_worst_state(opened: Open) -> None:
    page = opened(made.page(made.small()))
    page.get_by_role("columnheader", name="eu, 2 clusters").click()
    expect(page.get_by_role("columnheader", name="eu, 2 clusters")).to_have_attribute("aria-expanded", "false")
    assert cells(page)[0] == "! 1 web 1.2.0 → 1.3.0"
    page.get_by_role("button", name="Unfold all").click()
    page.get_by_role("button", name="Fold all").click()
    web = "web 1.2.0 → 1.3.0"
    assert cells(page) == [
        *(f"! 1 {web}", f"~ 2 {web}", f"~ 1 {web}"),
        *("\N{MINUS SIGN} 1 worker", "+ 2 queue", ""),
        *["~ 2 certs"] * 3,
    ]
    page.get_by_role("gridcell", name="rocky on us, 2 clusters: changed").click()
    expect(page.locator("#panel-where")).to_have_text("on 2 clusters · region us")


def test_everything_works_by_keyboard_alone(opened: Open) -> None:
    page = opened(made.page(made.small()))
    page.keyboard.press("/")
    page.keyboard.type("rocky")
    assert tenants(page) == ["rocky"]
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.locator("#map").focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.locator("#panel-title")).to_have_text("movy")
    expect(page.locator("#panel-title")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    expect(page.locator("#map")).to_be_focused()
    active = page.locator("#map").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-label") == "movy on eu-1: unchanged"
    for key in ("Home", "ArrowUp", "ArrowUp", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("columnheader", name="eu, 2 clusters")).to_have_attribute("aria-expanded", "false")


def test_a_link_leads_back_to_what_was_shown(opened: Open) -> None:
    page = opened(made.page(made.small()))
    page.get_by_role("searchbox").fill("web")
    page.get_by_role("gridcell", name="rocky on us-2: changed").click()
    found = re.sub(r"^[^#]*", "", page.url)
    assert found == "#filter=web&tenant=rocky&cluster=us-2"
    again = opened(made.page(made.small()), hash=found)
    assert tenants(again) == ["rocky"]
    expect(again.locator("#panel-where")).to_have_text("on us-2 · region us")


def test_a_link_to_what_is_gone_shows_the_page(opened: Open) -> None:
    page = opened(
        made.page(made.small()), hash="#tenant=nobody&cluster=nowhere&open=%7B&states=none&alert=77&by=x&view=y"
    )
    expect(page.locator("#panel")).to_be_hidden()
    expect(page.locator("#nothing")).to_have_text("Nothing to show.")
