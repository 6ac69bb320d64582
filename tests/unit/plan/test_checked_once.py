"""What planning checks once for several clusters."""

from __future__ import annotations

import pytest

from tenantry.fleet import settings
from tenantry.plan.plan import plan
from tests.unit.texts import fleet, rocky

ALL = "clusters: {all: true}"


@pytest.mark.parametrize(
    ("app", "paths"),
    [
        ("{kustomize: {source: manifests, path: ./web}}", ["./web", "./web"]),
        ("{kustomize: {source: manifests, path: './{env}'}}", ["./dev", "./dev"]),
        ("{kustomize: {source: manifests, path: './{cluster}'}}", ["./hub", "./edge"]),
        (
            "{kustomize: {source: manifests, path: ./web},"
            " overrides: [{when: {clusters: {names: [edge]}}, kustomize: {path: ./far}}]}",
            ["./web", "./far"],
        ),
    ],
)
def test_clusters_with_the_same_app_share_its_check(
    app: str, paths: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read, checked = fleet(rocky(f"web: {app}", ALL)), []
    resolved = settings.resolved_layers

    def recorded(*arguments: object, **more: object) -> object:
        checked.append(more.get("part"))
        return resolved(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(settings, "resolved_layers", recorded)
    apps = [each.manifest for each in plan(read, "dev").objects if each.id.kind == "Kustomization"]
    assert [each["spec"]["path"] for each in apps] == paths
    assert checked.count(("kustomize",)) == len(set(paths))
