"""Which apps may apply something else."""

from __future__ import annotations

from tenantry.compare.diff import diff
from tenantry.manifests.changed import changed_apps
from tenantry.manifests.model import ChangedApp
from tests.unit.texts import planned, rocky

APPS = """\
web: {kustomize: {source: manifests, path: ./web}}
cache: {helm: {source: charts, chart: valkey, version: 1.0.0}}
"""
BASE = rocky(APPS)


def found(old: str, new: str, *also: str) -> list[ChangedApp]:
    assert old in BASE
    before, after = planned(BASE), planned(BASE.replace(old, new, 1))
    return list(changed_apps(diff(before, after), before, after, also))


def test_a_changed_version_of_a_chart_concerns_the_app_that_takes_it() -> None:
    (app,) = found("version: 1.0.0", "version: 2.0.0")
    assert (app.tenant, app.name) == ("rocky", "cache")
    versions = [side and side.chart and side.chart["spec"]["version"] for side in (app.before, app.after)]
    assert versions == ["1.0.0", "2.0.0"]
    assert app.after is not None
    assert app.after.name == "rocky/charts"


def test_a_changed_path_concerns_its_app() -> None:
    (app,) = found("./web", "./other")
    assert (app.name, app.after and app.after.name) == ("web", "rocky/manifests")


def test_what_does_not_decide_about_manifests_is_no_change() -> None:
    assert found("path: ./web}", "path: ./web, timeout: 9m}") == []


def test_added_and_removed_apps_have_one_side() -> None:
    (removed,) = found("web: {kustomize: {source: manifests, path: ./web}}", "")
    assert removed.before is not None
    assert removed.after is None


def test_a_source_that_the_user_compares_concerns_all_its_apps() -> None:
    assert [app.name for app in found("./web", "./web", "rocky/manifests")] == ["web"]
