"""One Chromium for the whole run. Pages are opened from files; what they request, log and raise is recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect, sync_playwright

CHROMIUM = "/usr/bin/chromium"
PATIENCE = 120_000
"""Milliseconds. A build server can be slow; what fails, fails for another reason."""
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield found
        found.close()


class Visits:
    """The browser's only tab. told: what pages did apart from being shown."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.told: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("request", lambda each: each.url.startswith("file:") or self.told.append(f"request {each.url}"))
        page.on("console", lambda each: self.told.append(f"console {each.text}"))
        page.on("pageerror", lambda each: self.told.append(f"error {each}"))
        page.on("popup", lambda each: self.told.append(f"popup {each.url}"))
        page.on("dialog", self._dismiss)

    def _dismiss(self, dialog: Dialog) -> None:
        self.told.append(f"dialog {dialog.message}")
        dialog.dismiss()


@pytest.fixture(scope="session")
def visits(browser: Browser) -> Visits:
    expect.set_options(timeout=PATIENCE)
    return Visits(browser.new_page())


Open = Callable[..., Page]


@pytest.fixture
def opened(visits: Visits, tmp_path: Path) -> Iterator[Open]:
    """Opens a page. At the end of the test, it must have made no request, logged nothing and raised nothing."""

    def open_page(html: str, *, hash: str = "", size: tuple[int, int] = (1280, 900), scheme: Any = "light") -> Page:
        file = tmp_path / f"{len(list(tmp_path.iterdir()))}.html"
        file.write_text(html, encoding="utf-8")
        visits.page.set_viewport_size({"width": size[0], "height": size[1]})
        visits.page.emulate_media(color_scheme=scheme)
        visits.page.goto(f"{file.as_uri()}{hash}")
        return visits.page

    visits.told.clear()
    yield open_page
    assert visits.told == []
