"""How long a page takes to open in Chromium: `python -m bench.page [TENANTS [CLUSTERS]]` (default 200 and 500).

Prints the size of the file, the seconds until it is written, and those from the navigation until the map is drawn, until
all groups are unfolded, and until a filter has taken effect.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

from bench.plan import timed
from tenantry.cli.page.document import as_html
from tests.browser.made import large, page

_DRAWN = "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)))"
"""The milliseconds from the navigation to the end of the next frame."""


def main() -> None:
    given = [int(each) for each in sys.argv[1:3]]
    tenants, clusters = [*given, *(200, 500)[len(given) :]]
    times: dict[str, float] = {}
    with timed("write", times.__setitem__):
        html = as_html(page(large(tenants, clusters)))
    with TemporaryDirectory() as directory, sync_playwright() as playwright:
        file = Path(directory) / "page.html"
        file.write_text(html, encoding="utf-8")
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        shown = chromium.new_page(viewport={"width": 1280, "height": 900})
        shown.goto(file.as_uri())
        times["open"] = shown.evaluate(_DRAWN) / 1000
        times["unfold"] = _seconds(shown, "document.getElementById('fold').click()")
        times["filter"] = _seconds(shown, "filter.value = 'eu-7'; filter.dispatchEvent(new Event('input'))")
        nodes = shown.evaluate("document.querySelectorAll('*').length")
        chromium.close()
    print(f"{tenants} tenants x {clusters} clusters: {len(html)} bytes, {nodes} nodes after filtering")
    for step, seconds in times.items():
        print(f"{step:8} {seconds:6.2f} s")


def _seconds(shown: Page, action: str) -> float:
    started = "const filter = document.getElementById('filter'), started = performance.now()"
    seconds: float = shown.evaluate(f"async () => {{ {started}; {action}; return await {_DRAWN} - started; }}") / 1000
    return seconds


if __name__ == "__main__":
    main()
