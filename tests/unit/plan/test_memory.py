"""What planning keeps, shares and leaves behind."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from tenantry.compare.diff import diff_all
from tenantry.compare.review.build import review
from tenantry.fleet import resolve
from tenantry.load import load_fleet, plan_all, warnings_of
from tenantry.plan.plan import Plan, plan
from tests.unit.texts import fleet, rocky

ALL = "clusters: {all: true}"


def test_neither_reading_nor_planning_nor_comparing_leaves_cycles_of_references(tmp_path: Path) -> None:
    """Nothing looks for cycles meanwhile, so each one would stay in memory."""
    file = tmp_path / "tenants.yaml"
    apps = "web: {kustomize: {source: manifests}}\nshop: {helm: {source: charts, chart: shop, version: 1.x}}"

    def run() -> None:
        plans: list[dict[str, Plan]] = []
        for interval in ("5m", "7m"):
            file.write_text(rocky(apps, f"{ALL}\ninterval: {interval}"))
            read = load_fleet(file)
            warnings_of(read)
            plans.append(plan_all(read))
        before, after = plans
        assert review(diff_all(before, after), before, after).environments

    run()
    gc.collect()
    run()
    assert gc.collect() == 0
    assert gc.isenabled()


@pytest.mark.parametrize(
    ("app", "paths"),
    [
        ("{kustomize: {source: manifests, path: ./web}}", ["./web", "./web"]),
        ("{kustomize: {source: manifests, path: './{env}'}}", ["./dev", "./dev"]),
        ("{kustomize: {source: manifests, path: './{cluster}'}}", ["./hub", "./edge"]),
        (
            "{kustomize: {source: manifests, path: ./web}, overrides: {clusters: {edge: {kustomize: {path: ./far}}}}}",
            ["./web", "./far"],
        ),
    ],
)
def test_clusters_with_the_same_app_share_its_check(
    app: str, paths: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read, checked = fleet(rocky(f"web: {app}", ALL)), []
    resolved = resolve.resolved_layers

    def recorded(*arguments: object, **more: object) -> object:
        checked.append(more.get("part"))
        return resolved(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(resolve, "resolved_layers", recorded)
    apps = [each.manifest for each in plan(read, "dev").objects if each.id.kind == "Kustomization"]
    assert [each["spec"]["path"] for each in apps] == paths
    assert checked.count(("kustomize",)) == len(set(paths))
