"""Takes pictures of the site, build/docs-pictures/*.png, for somebody to look at: `make docs-pictures`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SITE, PICTURES = ROOT / "build" / "docs", ROOT / "build" / "docs-pictures"
DESK, PHONE = (1280, 900), (360, 800)
SHOTS: tuple[tuple[str, str, tuple[int, int], Any], ...] = (
    ("front", "docs/README.html", DESK, "light"),
    ("front-phone", "docs/README.html", PHONE, "dark"),
    ("concepts-dark", "docs/concepts.html", DESK, "dark"),
    ("reference", "docs/tenants-reference.html", DESK, "light"),
    ("reference-phone", "docs/tenants-reference.html", PHONE, "light"),
    ("search", "search.html?q=offboarding", DESK, "light"),
    ("file", "files/tenants.yaml.html", DESK, "dark"),
)


def main() -> int:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page()
        for name, address, (width, height), scheme in SHOTS:
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=scheme)
            page.goto(f"{SITE.as_uri()}/{address}", wait_until="networkidle")
            page.screenshot(path=PICTURES / f"{name}.png")
        browser.close()
    print(f"{PICTURES}: {len(SHOTS)} pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
