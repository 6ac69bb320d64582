"""How long a page takes to open in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

from bench.measure import timed
from bench.tables import Row, Table
from tenantry.cli.page import as_html
from tests.browser.made import large

_DRAWN = "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)))"
"""The milliseconds from the navigation to the end of the next frame."""


def measure(*, tenants: int, clusters: int) -> Iterator[Table]:
    times: dict[str, float] = {}
    with timed("write the file", times.__setitem__):
        html = as_html([large(tenants, clusters)], "main", [])
    with TemporaryDirectory() as directory, sync_playwright() as playwright:
        file = Path(directory) / "page.html"
        file.write_text(html, encoding="utf-8")
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        shown = chromium.new_page(viewport={"width": 1280, "height": 900})
        shown.goto(file.as_uri())
        times["open it, until the matrix is drawn"] = shown.evaluate(_DRAWN) / 1000
        filtering = "filter.value = 'cluster-7'; filter.dispatchEvent(new Event('input', { bubbles: true }))"
        times["filter clusters"] = _seconds(shown, filtering)
        times["show the lines of a cell"] = _seconds(shown, "document.querySelector('td a').click()")
        chromium.close()
    yield Table(
        "page",
        f"The page of a difference, {tenants} tenants on {clusters} clusters",
        f"Each cluster has a change of its own. A file of {len(html) / 1_000_000:.1f} MB in headless Chromium. One run.",
        tuple(Row(name, seconds) for name, seconds in times.items()),
    )


def _seconds(shown: Page, action: str) -> float:
    started = "const filter = document.getElementById('clusters'), started = performance.now()"
    seconds: float = shown.evaluate(f"async () => {{ {started}; {action}; return await {_DRAWN} - started; }}") / 1000
    return seconds
