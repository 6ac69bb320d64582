"""What `diff --manifests` renders is what Flux applied: each app of the fleet, compared with the objects on its cluster."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tenantry.compare.diff import diff
from tenantry.compare.fields import changed_fields, projected
from tenantry.load import load_fleet, plan_one
from tenantry.manifests import helm, kustomize
from tenantry.manifests.cage import working_cage
from tenantry.manifests.changed import changed_apps
from tenantry.manifests.documents import substituted
from tenantry.manifests.model import ChangedApp, Options
from tenantry.manifests.sources import Sources
from tenantry.plan.plan import nothing_of
from tenantry.tools import locate
from tests.e2e.clusters import Cluster
from tests.e2e.project import Project

pytestmark = pytest.mark.e2e


def rendered(app: ChangedApp, options: Options, scratch: Path) -> tuple[Mapping[str, Any], ...]:
    inputs = app.after
    assert inputs is not None
    root, chart = Sources(options, scratch).files(inputs, {})
    if inputs.app["kind"] == "HelmRelease":
        return helm.render(chart, root, inputs, options.programs, options.cage, upgrade=False).objects
    spec = inputs.app["spec"]
    built = kustomize.build(root, spec, options.programs["kustomize"], options.cage)
    return substituted(built.decode(), spec.get("postBuild") or {}).objects


def test_what_is_rendered_is_what_flux_applied(fleet: Project, hub: Cluster, edge: Cluster, tmp_path: Path) -> None:
    helm_path, kustomize_path = (str(locate.path_of(name)) for name in ("helm", "kustomize"))
    programs = {"git": ("git",), "helm": (helm_path,), "kustomize": (kustomize_path, "build")}
    options = Options(cache=tmp_path / "cache", programs=programs, cage=working_cage())
    plan = plan_one(load_fleet(fleet.fleet), "dev")
    empty = nothing_of(plan)
    apps = [app for app in changed_apps(diff(empty, plan), empty, plan) if app.tenant]
    compared = 0
    for app in apps:
        assert app.after is not None
        home = app.after.app["spec"]["targetNamespace"]
        for manifest in rendered(app, options, tmp_path / "scratch"):
            cluster = hub if app.cluster == "hub-dev" else edge
            group, _, version = manifest["apiVersion"].rpartition("/")
            kind, metadata = manifest["kind"], manifest["metadata"]
            there = cluster.get(
                group, version, kind, f"{kind.lower()}s", metadata["name"], metadata.get("namespace", home)
            )
            assert there is not None, (app.name, manifest)
            assert list(changed_fields(projected(there, manifest), dict(manifest))) == []
            compared += 1
    assert len(apps) == 6
    assert compared >= 12
