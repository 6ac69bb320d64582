"""Takes the pictures of the page, docs/images/*.png, from docs/images/fleet/tenants.yaml: `make pictures`.

The change is made up here. Pictures differ by fonts and browsers, so no check compares them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Page, sync_playwright

from tenantry.cli.page import as_html
from tenantry.facts.review import review
from tenantry.load import fleet_of, plan_all
from tenantry.source.parse import parse

HERE = Path(__file__).resolve().parent
TEXT = (HERE / "fleet" / "tenants.yaml").read_text(encoding="utf-8")
CHANGES = (
    ("version: 5.0.4", "version: 5.1.0"),
    ("role: admin", "role: cluster-admin\n    clusterAdmin: true"),
    ("ref: {tag: v41}", "ref: {tag: v42}"),
    (
        "clusters: {names: [berlin, dublin, boston, denver, tokyo]}",
        "clusters: {names: [berlin, dublin, boston, tokyo]}",
    ),
    (
        "  insights:\n    clusters: {labels: {region: eu}}",
        "  insights:\n    state: offboarding\n    clusters: {labels: {region: eu}}",
    ),
    (
        "  media:\n    clusters: {labels: {region: us}}",
        "  media:\n    quota: {pods: 40}\n    clusters: {labels: {region: us}}",
    ),
    ("indexer, version: 1.8.0}, clusters: {labels: {region: eu}}", "indexer, version: 1.8.0}"),
)


def changed() -> str:
    """The file after the change."""
    text = TEXT
    for old, new in CHANGES:
        assert old in text, old
        text = text.replace(old, new)
    return text


def page_of_diff() -> str:
    old, new = (fleet_of(parse(text.encode(), "tenants.yaml")) for text in (TEXT, changed()))
    found = review(old, new, plan_all(old), plan_all(new))
    return as_html(found, "4f1c2ab, where HEAD branched off from origin/main", [])


@contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


def take(page: Page, name: str, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    file = HERE / f"page-{name}.png"
    page.screenshot(path=file, timeout=120_000)
    print(f"{file}: {file.stat().st_size // 1000} kB")


def main() -> int:
    with TemporaryDirectory() as directory, browser() as found:
        diff = Path(directory) / "diff.html"
        diff.write_text(page_of_diff(), encoding="utf-8")
        page = found.new_page(color_scheme="light")
        page.set_default_timeout(120_000)
        page.goto(diff.as_uri())
        take(page, "diff", (1280, 900))
    return 0


if __name__ == "__main__":
    sys.exit(main())
