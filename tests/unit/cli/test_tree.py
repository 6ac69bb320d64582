"""`tenantry tree` against an API server in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenantry.cluster import connect as connecting
from tenantry.cluster.requests import path_of
from tenantry.kube.objects import KubeObject
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.memory import Memory
from tests.unit.texts import planned, rocky

APPS = """\
web: {kustomize: {source: manifests}}
shop: {clusters: {names: [hub]}, helm: {source: charts, chart: shop, version: 1.x}}
idle: {state: paused, clusters: {names: [hub]}, kustomize: {source: manifests}}
"""
TEXT = rocky(APPS, "clusters: {all: true}")
LISTS = {
    "Namespace": "/api/v1/namespaces",
    "Kustomization": "/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations",
    "HelmRelease": "/apis/helm.toolkit.fluxcd.io/v2/helmreleases",
}
WEB = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/rocky/kustomizations/web"
EDGE = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/kamaji/kustomizations/edge-rocky-web"
SHOP = "/apis/helm.toolkit.fluxcd.io/v2/namespaces/rocky/helmreleases/shop"


class Hub(Memory):
    """Lists hold the objects that requests for single ones find."""

    def client(self, server: str = "https://hub.example.com") -> Any:
        for kind, path in LISTS.items():
            found = [each for each in self.objects.values() if each.get("kind") == kind]
            self.objects[path] = {"metadata": {}, "items": found}
        return super().client(server)


def live(each: KubeObject) -> dict[str, Any]:
    metadata = {**each.manifest["metadata"], "generation": 1, "uid": f"uid-{each.id.name}"}
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    return {**each.manifest, "metadata": metadata, "status": {"observedGeneration": 1, "conditions": [ready]}}


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """It holds all of the fleet's objects, ready."""
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(TEXT)
    memory = Hub()
    for each in planned(TEXT).objects:
        memory.objects[path_of(each.id)] = live(each)
    monkeypatch.setattr(connecting, "connect", lambda *_: memory.client())
    return memory


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("rokcy",),
            "tenants.yaml declares no tenant 'rokcy'\n  fix: name one of these: platform, rocky (closest: rocky)",
        ),
        (
            ("rocky", "webb"),
            "environment 'dev' has no app 'webb' of rocky\n  fix: name one of these: idle, shop, web (closest: web)",
        ),
        (("platform",), "environment 'dev' has no add-ons\n  fix: run `tenantry list placements -e dev`"),
    ],
)
def test_wrong_names_are_refused(capsys: Capture, arguments: tuple[str, ...], message: str) -> None:
    assert tenantry(capsys, "tree", *arguments, "-e", "dev") == (2, "", f"error: {message}\n")


def test_a_tree_goes_from_the_source_to_what_was_applied(capsys: Capture, hub: Hub) -> None:
    entries = [
        {"id": "rocky_web_apps_Deployment", "v": "v1"},
        {"id": "_system__view_rbac.authorization.k8s.io_ClusterRole", "v": "v1"},
    ]
    hub.objects[SHOP]["status"] |= {
        "inventory": {"entries": [*entries, "odd", {"id": "odd"}]},
        "history": [{"chartVersion": "1.2.0"}],
    }
    code, out, err = tenantry(capsys, "tree", "rocky", "shop", "-e", "dev", "--no-health")
    assert (code, err) == (0, "")
    chart = next(each.id for each in planned(TEXT).objects if each.id.kind == "HelmChart")
    assert [line.rstrip().partition("  ready")[0] for line in out.splitlines()] == [
        "rocky/shop on hub",
        "└── HelmRepository rocky/charts",
        f"    └── {chart}",
        "        └── HelmRelease rocky/shop",
        "            ├── Deployment rocky/web",
        "            └── ClusterRole system:view",
    ]
    assert out.splitlines()[3].endswith("d  1.2.0")


def test_a_tree_says_what_fails_and_what_is_missing(capsys: Capture, hub: Hub) -> None:
    del hub.objects["/apis/source.toolkit.fluxcd.io/v1/namespaces/rocky/gitrepositories/manifests"]
    hub.objects[WEB]["status"]["conditions"] = [{"type": "Ready", "status": "False", "message": "[bold]no source"}]
    assert tenantry(capsys, "tree", "rocky", "web", "-e", "dev", "-c", "hub") == (
        1,
        "rocky/web on hub\n"
        "└── GitRepository rocky/manifests  missing\n"
        "    not on the management cluster: run `tenantry up`\n"
        "    └── Kustomization rocky/web  failed\n"
        "        [bold]no source\n"
        "        └── Flux has not applied anything yet\n",
        "",
    )


def test_a_tree_as_json(capsys: Capture, hub: Hub) -> None:
    hub.objects[WEB]["status"]["inventory"] = {"entries": [{"id": "rocky_web__Service", "v": "v1"}]}
    _, out, _ = tenantry(capsys, "tree", "rocky", "web", "-e", "dev", "-c", "hub", "--no-health", "-o", "json")
    (said,) = json.loads(out)["apps"]
    assert [(each["kind"], each["status"]) for each in said["steps"]] == [
        ("GitRepository", "ready"),
        ("Kustomization", "ready"),
    ]
    web = {"apiVersion": "v1", "kind": "Service", "namespace": "rocky", "name": "web"}
    assert said["objects"] == [{**web, "health": None, "why": ""}]
