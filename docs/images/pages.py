"""Takes the pictures of the pages, docs/images/*.png, from docs/images/fleet/tenants.yaml: `make pictures`.

The change and the statuses are made up here. Pictures differ by fonts and browsers, so no check compares them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tenantry.cli.page.diff_page import diff_page
from tenantry.cli.page.document import as_html
from tenantry.cli.page.status_map import reading
from tenantry.cli.page.status_page import status_page
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import AppStatus, Readiness, by_trouble
from tenantry.compare.diff import diff_all
from tenantry.compare.review.build import review
from tenantry.compare.review.parts import Planned
from tenantry.load import fleet_of, plan_all
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
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
NOW = datetime(2030, 3, 14, 9, 30, tzinfo=UTC)
UPGRADE = (
    "Helm upgrade failed for release checkout/web with chart checkout-web@5.0.4: timed out waiting for the condition:\n"
    "Deployment checkout/web is not ready: 1 of 3 replicas"
)
TROUBLE = {
    ("checkout", "web"): (("austin", "boston", "miami"), Readiness.FAILED, UPGRADE),
    ("payments", "ledger"): (
        ("tokyo",),
        Readiness.FAILED,
        "kustomize build failed: accumulating resources: ./ledger: no such file",
    ),
    ("media", "images"): (("denver",), Readiness.MISSING, "not on the management cluster: run `tenantry up`"),
    ("search", "query"): (
        ("osaka", "seoul", "sydney"),
        Readiness.PROGRESSING,
        "Running 'upgrade' action with timeout of 5m0s",
    ),
    ("insights", "reports"): (("oslo", "paris"), Readiness.SUSPENDED, "paused in the file"),
}


def changed() -> str:
    """The file after the change."""
    text = TEXT
    for old, new in CHANGES:
        assert old in text, old
        text = text.replace(old, new)
    return text


def plans(text: str) -> dict[str, Plan]:
    return dict(plan_all(fleet_of(parse(text.encode(), "tenants.yaml"))))


def page_of_diff() -> str:
    old, new = (fleet_of(parse(text.encode(), "tenants.yaml")) for text in (TEXT, changed()))
    before, after = plan_all(old), plan_all(new)
    found = review(diff_all(before, after), Planned(old, before), Planned(new, after))
    base = "4f1c2ab, where HEAD branched off from origin/main"
    return as_html(diff_page(found, base, [], {**new.clusters, **old.clusters}, before, after))


def page_of_status() -> str:
    fleet = fleet_of(parse(TEXT.encode(), "tenants.yaml"))
    planned = plans(TEXT)["prod"]
    return as_html(
        status_page([reading(StatusReport("prod", NOW, by_trouble(map(status, planned.apps))), planned, fleet)])
    )


def status(app: PlannedApp) -> AppStatus:
    clusters, readiness, message = TROUBLE.get((app.tenant, app.name), ((), Readiness.READY, ""))
    revision = "5.0.4" if app.release else "main@sha1:4f1c2ab9"
    if app.cluster not in clusters:
        return AppStatus(app, Readiness.READY, "", revision)
    return AppStatus(app, readiness, message, revision, since=(NOW - timedelta(minutes=17)).isoformat())


@contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


def take(page: Page, name: str, address: str, size: tuple[int, int], **media: Any) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(**{"color_scheme": "light", **media})
    page.goto(address)
    file = HERE / f"page-{name}.png"
    page.screenshot(path=file, timeout=120_000)
    print(f"{file}: {file.stat().st_size // 1000} kB")


def main() -> int:
    with TemporaryDirectory() as directory, browser() as found:
        diff, status = (Path(directory) / name for name in ("diff.html", "status.html"))
        diff.write_text(page_of_diff(), encoding="utf-8")
        status.write_text(page_of_status(), encoding="utf-8")
        page = found.new_page()
        page.set_default_timeout(120_000)
        take(page, "diff", diff.as_uri(), (1280, 900))
        take(
            page, "diff-dark", f"{diff.as_uri()}#tenant=payments&cluster=prod/denver", (1280, 900), color_scheme="dark"
        )
        take(page, "diff-phone", f"{diff.as_uri()}#view=list", (390, 844))
        take(page, "status", status.as_uri(), (1280, 900))
        take(page, "status-dark", f"{status.as_uri()}#tenant=checkout&cluster=austin", (1280, 900), color_scheme="dark")
        take(page, "status-phone", f"{status.as_uri()}#tenant=checkout&cluster=austin", (390, 844))
    return 0


if __name__ == "__main__":
    sys.exit(main())
