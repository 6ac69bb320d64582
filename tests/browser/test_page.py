"""The page of a review: with a pointer, with keys and without its script; nothing in it comes alive."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tenantry.cli.page import as_html
from tenantry.facts.changes import Effect
from tenantry.facts.dangers import Danger
from tenantry.facts.facts import CLUSTER, Kind, Subject
from tenantry.facts.review import Review
from tenantry.messages.errors import Refused
from tests.browser import made
from tests.browser.conftest import Open, Visits

PHONE, DESKTOP = (390, 844), (1280, 900)


def html(*reviews: Review, base: str = "main", refusals: tuple[Refused, ...] = ()) -> str:
    return as_html(reviews or (made.small(),), base, refusals)


def cells(page: Page) -> list[list[str]]:
    """The texts of the visible rows and columns, without the row of environments."""
    found: list[list[str]] = page.locator("#matrix").evaluate(
        "table => [...table.rows].slice(1).filter(row => row.checkVisibility()).map(row =>"
        " [...row.cells].filter(cell => cell.checkVisibility()).map(cell => cell.textContent.trim()))"
    )
    return found


def changes(page: Page) -> Locator:
    """The first line of each visible change. What a click shows comes a moment later, so tests expect it."""
    return page.locator(".change:visible .line:first-of-type")


def wider_than_the_screen(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > innerWidth"))


def test_a_cell_says_how_many_lines_change_and_leads_to_them(opened: Open) -> None:
    page = opened(html())
    assert cells(page) == [
        ["", "eu-1", "2 clusters", "2 clusters"],
        ["platform", "~ 1", "", ""],
        ["movy", "- 1", "", "+ 1"],
        ["rocky", "! ~ 5", "~ 4", "~ 4"],
    ]
    expect(page.locator("thead tr").first).to_have_text("prod and 1 unchanged")
    expect(changes(page)).to_have_count(5)
    page.get_by_role("link", name="! ~ 5").click()
    expect(changes(page)).to_have_text(["~ rocky/web on eu-1, eu-2, us-1, us-2, ap-1", "~ tenant rocky on eu-1"])
    assert page.locator(".change:visible .line").all_inner_texts() == [
        "~ rocky/web on eu-1, eu-2, us-1, us-2, ap-1",
        "~ helm.version: 1.2.0 -> 1.3.0",
        "~ helm.values:",
        "- host: a",
        "+ host: b",
        "~ tenant rocky on eu-1",
        "~ role: edit -> cluster-admin",
    ]
    expect(page.locator("#shown")).to_have_text("2 of 5 changes are shown. Show all")
    assert page.locator("#matrix [aria-current]").all_inner_texts() == ["rocky", "! ~ 5"]
    page.get_by_role("link", name="Show all").click()
    expect(changes(page)).to_have_count(5)


def test_a_tenant_a_cluster_and_a_danger_lead_to_their_lines(opened: Open) -> None:
    page = opened(html())
    page.get_by_role("rowheader", name="movy").get_by_role("link").click()
    expect(changes(page)).to_have_text(["- movy/worker on eu-1", "+ movy/queue on us-1, us-2"])
    page.get_by_role("columnheader", name="2 clusters").first.get_by_role("link").click()
    expect(changes(page)).to_have_text(["~ rocky/web on eu-1, eu-2, us-1, us-2, ap-1"])
    page.get_by_text("The clusters of each column").click()
    expect(page.locator("details li")).to_have_text(
        ["prod eu-1", "prod eu-2, ap-1", "prod us-1, us-2", "prod unchanged: ap-2"]
    )
    expect(page.locator(".dangers li")).to_have_text(
        "rights tenant rocky on eu-1: its apps get cluster-admin instead of edit prod, lines"
    )
    page.locator(".dangers").get_by_role("link").click()
    expect(changes(page)).to_have_text(["~ rocky/web on eu-1, eu-2, us-1, us-2, ap-1", "~ tenant rocky on eu-1"])


def test_the_address_of_a_cell_shows_its_lines_and_any_other_shows_all(opened: Open) -> None:
    page = opened(html())
    page.get_by_role("link", name="- 1").click()
    address = page.url.partition("#")[2]
    expect(changes(opened(html(), hash=f"#{address}"))).to_have_text(["- movy/worker on eu-1"])
    for unknown in ("#c99", "#nobody", "#%3Cscript%3E", "#"):
        expect(changes(opened(html(), hash=unknown))).to_have_count(5)


def test_the_filters_take_tenants_and_clusters_and_their_lines(opened: Open) -> None:
    page = opened(html())
    tenants, clusters = page.get_by_role("searchbox", name="Tenants"), page.get_by_role("searchbox", name="Clusters")
    tenants.fill("MOV")
    assert [row[0] for row in cells(page)] == ["", "movy"]
    expect(changes(page)).to_have_text(["- movy/worker on eu-1", "+ movy/queue on us-1, us-2"])
    clusters.fill("us-2")  # one of the two in a column
    assert cells(page) == [["", "2 clusters"], ["movy", "+ 1"]]
    expect(changes(page)).to_have_text(["+ movy/queue on us-1, us-2"])
    clusters.fill("nowhere")
    expect(changes(page)).to_have_count(0)
    assert cells(page) == [[""], ["movy"]]
    tenants.fill("")
    clusters.fill("")
    expect(changes(page)).to_have_count(5)
    assert len(cells(page)) == 4


def test_everything_works_by_keyboard_alone(opened: Open) -> None:
    page = opened(html())
    page.get_by_role("searchbox", name="Clusters").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("region", name="Tenants by clusters")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="eu-1", exact=True)).to_be_focused()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):  # over the empty cell
        page.keyboard.press(key)
    expect(page.get_by_role("link", name="+ 1")).to_be_focused()
    page.keyboard.press("ArrowRight")  # nothing is there
    expect(page.get_by_role("link", name="+ 1")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Lines")).to_be_focused()
    expect(changes(page)).to_have_text(["+ movy/queue on us-1, us-2"])
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="+ 1")).to_be_focused()
    expect(changes(page)).to_have_count(5)


def test_without_its_script_links_lead_to_the_lines(browser: Browser) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.set_content(html())
    expect(page.locator("#filters")).to_be_hidden()
    expect(page.locator(".change")).to_have_count(5)
    for link in page.locator("#matrix a").all():
        expect(page.locator(str(link.get_attribute("href")))).to_have_count(1)
    page.close()


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize("clusters", [3, 300])
def test_the_matrix_scrolls_in_itself_and_its_heads_stay(opened: Open, clusters: int, size: tuple[int, int]) -> None:
    page = opened(html(made.large(40, clusters)), size=size)
    assert len(cells(page)[0]) == clusters + 1
    assert not wider_than_the_screen(page)
    matrix, row = page.locator(".matrix"), page.get_by_role("rowheader", name="tenant-0")
    left, top = row.bounding_box(), page.get_by_role("columnheader", name="prod").bounding_box()
    assert left is not None
    assert top is not None
    matrix.evaluate("node => node.scrollTo(200, 200)")
    moved = row.bounding_box()
    assert moved is not None
    assert moved["x"] == left["x"]
    assert (
        page.get_by_role("columnheader", name="prod").evaluate("node => node.getBoundingClientRect().top") == top["y"]
    )
    page.get_by_role("searchbox", name="Clusters").fill("cluster-2")
    assert len(cells(page)[0]) == {3: 2, 300: 112}[clusters]
    assert not wider_than_the_screen(page)


def test_long_names_and_values_stay_within_a_phone(opened: Open) -> None:
    long = "x" * 300
    where = {made.app(long): [long]}
    changed = made.review(
        [made.change(where, made.value("helm.version", long, f"{long}y"))],
        [made.danger(where, long)],
        name=long,
        of=[long],
    )
    page = opened(html(changed, base=long, refusals=(Refused(long, f"{long}\n    {long}"),)), size=PHONE)
    assert not wider_than_the_screen(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_both_schemes(opened: Open, scheme: str) -> None:
    page = opened(html(refusals=(Refused("no", "undo `this`\n    git revert abc"),)), scheme=scheme, hash="#l0")
    bright = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]") > 127
    assert bright is (scheme == "light")
    found = page.evaluate(CONTRASTS)
    assert len(found) > 30
    assert [each for each in found if each["contrast"] < 4.5] == []


ATTACKS = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "<!--<script>",
    "]]><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' autofocus onfocus=alert(1) x='",
    "javascript:alert(1)",
    "<iframe src='https://example.com'></iframe>",
    "<style>@import 'https://example.com/a.css'</style>",
    "<meta http-equiv=refresh content='0;url=https://example.com'>",
    "{{7*7}}{% if %}${alert(1)}`${alert(1)}`",
    "&lt;img src=x onerror=alert(1)&gt;",
    "\\u003cscript\\u003ealert(1)",
    "__proto__",
)


def hostile(attack: str) -> Review:
    """The attack is everything that a fleet names."""
    where: dict[Subject, list[str]] = {made.app(attack, attack): [attack]}
    both = {Subject(Kind.TENANT, attack): [attack], CLUSTER: [attack, "other"]}
    changes = [
        made.change(where, made.value(attack, attack, f"{attack}2")),
        made.change(where, made.value(attack, f"a\n{attack}", f"b\n{attack}2"), effect=Effect.ADDED),
        made.change(both, made.value(attack, {attack: 1}, [attack]), effect=Effect.REMOVED),
    ]
    dangers: list[Danger] = [made.danger(where, attack)]
    return made.review(changes, dangers, name=attack, of=[attack, "other"])


def test_values_are_text_and_nothing_else(opened: Open) -> None:
    refusals = tuple(Refused(each, f"{each}\n    {each}") for each in ATTACKS)
    page = opened(html(*map(hostile, ATTACKS), base=" ".join(ATTACKS), refusals=refusals))
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Changes against {' '.join(ATTACKS)}")
    rows = [row[0] for row in cells(page)[1:]]
    assert rows == ["platform", *sorted(ATTACKS)]
    assert page.locator(".refusal").count() == len(ATTACKS)
    for link in page.locator("#matrix a").all()[:40]:
        link.click()
    page.locator("thead .cluster").first.hover()
    page.get_by_role("searchbox", name="Tenants").fill(ATTACKS[0])
    assert [row[0] for row in cells(page)[1:]] == [each for each in sorted(ATTACKS) if ATTACKS[0] in each]
    # Nothing but what the template has.
    strange = "img, iframe, object, embed, form, meta[http-equiv=refresh], body style, main script"
    assert page.locator(f"{strange}, [onerror], [onfocus], [onmouseover], [style]").count() == 0
    assert (page.locator("script").count(), page.locator("style").count()) == (1, 1)
    assert page.evaluate("[...document.links].filter(link => !/^#[a-z0-9]+$/.test(link.getAttribute('href')))") == []


def test_the_policy_stops_what_would_get_in_nevertheless(opened: Open, visits: Visits) -> None:
    page = opened(html())
    blocked = page.evaluate(
        """() => new Promise((done) => {
          const found = [];
          document.addEventListener("securitypolicyviolation", (event) => {
            found.push(event.effectiveDirective);
            if (found.length === 3) done(found.sort());
          });
          const script = document.createElement("script");
          script.textContent = "window.alive = true";
          document.body.append(script);
          const image = document.createElement("img");
          image.src = "https://example.com/a.png";
          document.body.append(image);
          fetch("https://example.com/").catch(() => {});
        })"""
    )
    assert blocked == ["connect-src", "img-src", "script-src-elem"]
    assert page.evaluate("window.alive") is None
    visits.told.clear()  # the console says so, too


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
    if (!own || !node.checkVisibility() || ["SCRIPT", "OPTION"].includes(node.tagName)) continue;
    const [one, other] = [light(parse(getComputedStyle(node).color)), light(behind(node))].sort((a, b) => b - a);
    found.push({ text: node.textContent.trim().slice(0, 30), class: node.className, contrast: (one + 0.05) / (other + 0.05) });
  }
  return found;
}"""
