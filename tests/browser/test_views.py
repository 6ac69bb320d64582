"""Other ways to look at a page: on a phone, in the dark, on paper, without JavaScript, and with a large fleet."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Page, expect

from tenantry.cli.page.document import Notice, as_html
from tests.browser import made
from tests.browser.conftest import Open

PHONE = (390, 844)


def headings(page: Page) -> list[str]:
    return [" ".join(each.split()) for each in page.locator("#list h3.tenant").all_inner_texts()]


def wider_than_the_screen(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


def test_a_phone_shows_a_list_by_tenant(opened: Open) -> None:
    page = opened(made.page(made.small()), size=PHONE)
    assert headings(page) == ["rocky 6 clusters", "movy 4 clusters", "platform 6 clusters"]
    expect(page.locator("#map")).to_be_hidden()
    assert not wider_than_the_screen(page)
    page.get_by_role("button", name="Map").click()
    page.get_by_role("gridcell", name="rocky on eu-1: changed").click()
    expect(page.locator("#panel")).to_be_visible()
    assert not wider_than_the_screen(page)


def test_tenants_in_which_the_same_happens_are_told_once(opened: Open) -> None:
    page = opened(made.page(made.alike()))
    assert headings(page) == ["tenant-0 6 clusters", "4 tenants 6 clusters"]
    entries = page.locator("#list .entry")
    expect(entries).to_have_count(3)
    expect(entries.last).to_contain_text("on all 6 clusters")
    expect(entries.last).to_contain_text("4 objects")
    page.get_by_text("tenant-1, tenant-2, tenant-3 and 1 more").click()
    expect(page.locator("#list section > .where .names")).to_have_text("tenant-1, tenant-2, tenant-3, tenant-4")
    # A filter takes tenants out.
    page.get_by_role("searchbox").fill("tenant-4")
    assert headings(page) == ["tenant-4 6 clusters"]


def test_what_is_told_once_counts_for_all(opened: Open) -> None:
    failing = opened(made.page(made.failing_alike()), hash="#view=list")
    assert failing.locator("#list .tenant .shares").inner_text().split("\n") == ["✕", "6 failed", "✓", "6 ready"]
    expect(failing.locator("#list .calm summary")).to_contain_text("6 ready")


def test_a_list_has_each_danger_at_its_change(opened: Open) -> None:
    page = opened(made.page(replace(made.small(), listed=True)))
    assert page.locator("#list").inner_text().count("rights") == 1
    page.locator(".alert").click()
    focused = page.locator(".entry:focus")
    expect(focused.locator("h3")).to_contain_text("web")
    expect(page.locator("#panel")).to_be_hidden()
    focused.get_by_role("link", name="rights").click()
    expect(page.locator("#panel")).to_contain_text("tenant 'rocky' gets cluster-admin")
    assert "alert=0" in page.url


def test_a_refusal_is_shown_with_its_list_and_its_fix(opened: Open) -> None:
    refused = Notice(("it would remove", *(f"namespace {at}" for at in range(9))), ("undo it",), ("git revert abc",))
    page = opened(replace(made.page(made.small()), refusals=(refused,)))
    told = page.locator(".refusal").inner_text().split("\n")
    assert [each for each in told if each] == [
        "Refused it would remove",
        *(f"namespace {at}" for at in range(6)),
        "3 more",
        "Fix undo it",
        "git revert abc",
        "Copy",
    ]


def test_the_first_column_stays_when_the_map_moves(opened: Open) -> None:
    page = opened(made.page(made.small()), size=PHONE, hash="#view=map")
    before = page.get_by_role("rowheader", name="rocky").bounding_box()
    page.locator("#map").evaluate("node => { node.scrollLeft = 60; }")
    assert page.get_by_role("rowheader", name="rocky").bounding_box() == before


def test_the_list_says_what_happens_to_tenants_as_a_whole(opened: Open) -> None:
    page = opened(made.page(made.small()), hash="#view=list")
    assert "tenant 'rocky' is paused" in page.locator("#list").inner_text()
    page.get_by_role("searchbox").fill("queue")
    assert page.locator("#list .entry h3").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_both_schemes(opened: Open, scheme: str) -> None:
    page = opened(made.page(made.small()), scheme=scheme, hash="#tenant=rocky")
    found = [*page.evaluate(CONTRASTS), *_of_list(opened, scheme)]
    assert len(found) > 30
    assert [each for each in found if each["contrast"] < 4.5] == []


def _of_list(opened: Open, scheme: str) -> list[dict[str, object]]:
    page = opened(made.page(made.large(8, 60)), scheme=scheme)
    return list(page.evaluate(CONTRASTS))


def test_schemes_differ(opened: Open) -> None:
    colours = {
        scheme: opened(made.page(made.small()), scheme=scheme).evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        for scheme in ("light", "dark")
    }
    assert colours["light"] != colours["dark"]


def test_on_paper_the_list_stands_in_place_of_the_map(opened: Open) -> None:
    page = opened(made.page(made.small()))
    page.emulate_media(media="print")
    expect(page.locator("#map")).to_be_hidden()
    expect(page.locator("#list .entry")).to_have_count(4)
    page.emulate_media(media="screen")
    expect(page.locator("#map")).to_be_visible()


def test_without_javascript_the_dangers_can_be_read(browser: Browser) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.set_content(as_html(made.page(made.small())))
    expect(page.locator(".alert")).to_contain_text("cluster-admin")
    expect(page.locator("noscript p")).to_be_visible()
    page.close()


def test_a_large_fleet_makes_few_nodes(opened: Open) -> None:
    page = opened(made.page(made.large()))
    count = "document.querySelectorAll('*').length"
    assert page.evaluate(count) < 3_000
    page.get_by_role("button", name="Unfold all").click()
    assert page.evaluate(count) < 5_000
    page.locator("#map").focus()
    page.keyboard.press("End")
    for _ in range(3):
        page.keyboard.press("PageDown")
    active = page.locator("#map").get_attribute("aria-activedescendant")
    assert re.match(r"tenant-\d+ on af-99: ", str(page.locator(f"#{active}").get_attribute("aria-label")))
    assert page.evaluate(count) < 5_000
    page.get_by_role("button", name="List").click()
    assert page.evaluate(count) < 20_000


def test_roles_and_names_are_there(opened: Open) -> None:
    page = opened(made.page(made.small()), hash="#tenant=rocky")
    assert page.get_by_role("heading", level=1).count() == 1
    assert page.locator("html").get_attribute("lang") == "en"
    grid = page.get_by_role("grid")
    assert (grid.get_attribute("aria-rowcount"), grid.get_attribute("aria-colcount")) == ("5", "7")
    every = "[...document.querySelectorAll('button, select, input, a, [role=grid], aside')]"
    unnamed = f"{every}.filter(node => !name(node)).map(node => node.outerHTML)"
    name = (
        "const name = node => node.getAttribute('aria-label') || node.getAttribute('aria-labelledby')"
        " || node.textContent.trim() || (node.labels || []).length;"
    )
    assert page.evaluate(f"() => {{ {name} return {unnamed}; }}") == []


CONTRASTS = """() => {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parse = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0.99) return colour;
    }
    return [255, 255, 255, 1];
  };
  const light = (colour) => {
    const linear = (part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = colour.slice(0, 3).map((part) => linear(part / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!own || !node.checkVisibility() || ["SCRIPT", "OPTION"].includes(node.tagName) || node.className === "dot") continue;
    const [one, other] = [light(parse(getComputedStyle(node).color)), light(behind(node))].sort((a, b) => b - a);
    found.push({ text: node.textContent.trim().slice(0, 30), class: node.className, contrast: (one + 0.05) / (other + 0.05) });
  }
  return found;
}"""
