"""Nothing in a fleet can come alive in a page, whatever its names, values and messages are."""

from __future__ import annotations

from dataclasses import replace

from playwright.sync_api import expect

from tenantry.cli.page.document import Notice
from tenantry.cli.page.fleet_map import Alert, Column, Entry, FleetMap, Row, Value
from tenantry.cli.page.review_map import STATES as EFFECTS
from tests.browser import made
from tests.browser.conftest import Open, Visits

ATTACKS = (
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "' autofocus onfocus=alert(1) x='",
    "javascript:alert(1)",
    "<iframe src='https://example.com'></iframe>",
    "<style>@import 'https://example.com/a.css'</style>",
    "<meta http-equiv=refresh content='0;url=https://example.com'>",
    "{{7*7}}${alert(1)}`${alert(1)}`",
    "&lt;img src=x onerror=alert(1)&gt;",
    "\\u003cscript\\u003ealert(1)",
    "__proto__",
    "constructor",
)


ALL = " ".join(ATTACKS)


def hostile() -> FleetMap:
    """Each attack is a tenant, a cluster, a group, an alert, and everything that an entry says."""
    every = tuple(range(len(ATTACKS)))
    return FleetMap(
        states=EFFECTS,
        rows=tuple(Row(each, every, (each,)) for each in ATTACKS),
        columns=tuple(Column(each, each, ((each, each), ("group", each))) for each in ATTACKS),
        entries=tuple(_entry(at, each) for at, each in enumerate(ATTACKS)),
        alerts=tuple(Alert(label=each, text=each, where=each, entries=(at,)) for at, each in enumerate(ATTACKS)),
        idle="unchanged",
    )


def _entry(row: int, attack: str) -> Entry:
    values = (Value(attack, attack, attack), Value(attack, lines=(f"+{attack}", f"-{attack}")))
    return Entry(
        row=row,
        columns=tuple(range(len(ATTACKS))),
        state=row % len(EFFECTS),
        kind=attack,
        name=attack,
        of=len(ATTACKS),
        words=attack,
        lines=(attack,),
        values=values,
        objects=(attack,),
    )


def test_values_are_text_and_nothing_else(opened: Open) -> None:
    content = replace(
        made.page(hostile(), ALL),
        about=ALL,
        notes=tuple(Notice((each, each), (each,), (each,)) for each in ATTACKS),
        refusals=tuple(Notice((each, each), (each,), (each,)) for each in ATTACKS),
        figures=tuple((each, each) for each in ATTACKS),
    )
    page = opened(content)
    assert page.title() == f"{ALL} - tenantry diff"
    expect(page.get_by_role("heading", level=1)).to_have_text(ALL)
    page.locator(".alerts summary").click()
    for at, attack in enumerate(ATTACKS):
        page.locator(".alert").nth(at).click()
        expect(page.locator("#panel-title")).to_have_text(attack)
        expect(page.locator("#panel .line").first).to_have_text(attack)
        page.evaluate("document.querySelectorAll('#panel details').forEach((node) => (node.open = true))")
    page.get_by_role("gridcell").first.hover()
    page.get_by_role("searchbox").fill(ATTACKS[0])
    page.get_by_role("button", name="List").click()
    page.get_by_role("searchbox").fill("")
    assert page.locator("#list h3.tenant").count() == len(ATTACKS)
    # Nothing but what the template has.
    strange = "img, iframe, object, embed, form, meta[http-equiv=refresh], body style, main script, aside script"
    assert page.locator(f"{strange}, [onerror], [onfocus], [onmouseover]").count() == 0
    assert page.locator("script").count() == 2
    assert set(
        page.locator("a").evaluate_all("all => all.map((each) => each.getAttribute('href').replace(/[0-9]+/, ''))")
    ) == {"#alert="}


def test_the_policy_stops_what_would_get_in_nevertheless(opened: Open, visits: Visits) -> None:
    page = opened(made.page(made.small()))
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
