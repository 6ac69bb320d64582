"""`tenantry reconcile`, `suspend`, `resume` and `tree` against an API server in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenantry.cluster import connect as connecting
from tenantry.cluster import control
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
TOKEN = "2026-01-02T03:04:05.000006Z"
WEB = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/rocky/kustomizations/web"
EDGE = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/kamaji/kustomizations/edge-rocky-web"
SHOP = "/apis/helm.toolkit.fluxcd.io/v2/namespaces/rocky/helmreleases/shop"


class Hub(Memory):
    """Lists hold the objects that requests for single ones find, and Flux answers each request to reconcile at once."""

    def client(self, server: str = "https://hub.example.com") -> Any:
        for kind, path in LISTS.items():
            found = [each for each in self.objects.values() if each.get("kind") == kind]
            self.objects[path] = {"metadata": {}, "items": found}
        return super().client(server)

    def _apply(self, path: str, wanted: dict[str, Any], parameters: dict[str, str]) -> dict[str, Any]:
        found = super()._apply(path, wanted, parameters)
        if token := found["metadata"].get("annotations", {}).get(control.REQUESTED):
            found.setdefault("status", {})["lastHandledReconcileAt"] = token
        return found

    def changes(self) -> list[tuple[str, dict[str, str]]]:
        return [(path, parameters) for method, path, parameters in self.requests if method == "PATCH"]


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
    monkeypatch.setattr("tenantry.cli.verbs.now_token", lambda: TOKEN)
    return memory


def test_suspend_sets_one_field_of_each_app_and_says_what_follows(capsys: Capture, hub: Hub) -> None:
    assert tenantry(capsys, "suspend", "rocky", "web", "-e", "dev") == (
        0,
        "suspended: rocky/web on hub (Kustomization rocky/web)\n"
        "suspended: rocky/web on edge (Kustomization kamaji/edge-rocky-web)\n"
        "Until `tenantry resume`, Flux applies no change to these apps. `tenantry up` keeps them suspended.\n",
        "",
    )
    manager = {"fieldManager": "tenantry-cli"}
    assert sorted(hub.changes()) == [(EDGE, manager), (WEB, manager)]
    assert hub.objects[WEB]["spec"]["suspend"] is True


def test_a_cluster_can_be_named(capsys: Capture, hub: Hub) -> None:
    assert tenantry(capsys, "suspend", "rocky", "-e", "dev", "--cluster", "edge")[0] == 0
    assert [path for path, _ in hub.changes()] == [EDGE]


def test_a_dry_run_changes_nothing(capsys: Capture, hub: Hub) -> None:
    code, out, _ = tenantry(capsys, "suspend", "rocky", "web", "-e", "dev", "-c", "hub", "--dry-run")
    assert (code, out) == (0, "would be suspended: rocky/web on hub (Kustomization rocky/web)\n")
    assert hub.changes() == [(WEB, {"fieldManager": "tenantry-cli", "dryRun": "All"})]
    assert "suspend" not in hub.objects[WEB]["spec"]


def test_resume_removes_the_field_and_leaves_alone_what_is_not_suspended(capsys: Capture, hub: Hub) -> None:
    hub.objects[WEB]["spec"] = {**hub.objects[WEB]["spec"], "suspend": True}
    assert tenantry(capsys, "resume", "rocky", "web", "-e", "dev") == (
        0,
        "resumed: rocky/web on hub (Kustomization rocky/web)\n"
        "unchanged: rocky/web on edge (Kustomization kamaji/edge-rocky-web): not suspended\n",
        "",
    )
    assert not hub.objects[WEB]["spec"]["suspend"]


@pytest.mark.usefixtures("hub")
def test_what_the_file_pauses_is_not_resumed(capsys: Capture, hub: Hub) -> None:
    assert tenantry(capsys, "resume", "rocky", "idle", "-e", "dev") == (
        2,
        "refused: rocky/idle on hub (Kustomization rocky/idle):"
        " paused in the file: set 'state: active' there and run `tenantry up`\n",
        "",
    )
    assert tenantry(capsys, "resume", "rocky", "-e", "dev")[0] == 1
    assert hub.changes() == []


def test_what_is_being_deleted_is_not_suspended(capsys: Capture, hub: Hub) -> None:
    hub.objects[WEB]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    code, out, _ = tenantry(capsys, "suspend", "rocky", "web", "-e", "dev", "-c", "hub")
    assert (code, out) == (
        2,
        "refused: rocky/web on hub (Kustomization rocky/web):"
        " it is being deleted: suspended, it would leave behind what it applied\n",
    )


def test_an_object_of_somebody_else_is_not_touched(capsys: Capture, hub: Hub) -> None:
    del hub.objects[WEB]["metadata"]["labels"]["tenantry/environment"]
    del hub.objects[EDGE]
    code, out, _ = tenantry(capsys, "suspend", "rocky", "web", "-e", "dev")
    assert (code, hub.changes()) == (2, [])
    assert out == (
        "refused: rocky/web on hub (Kustomization rocky/web): Kustomization rocky/web exists, but its labels do not say that"
        " it belongs to environment 'dev'\n"
        "  fix: run `tenantry preflight --environment dev` to see whose it is\n"
        "refused: rocky/web on edge (Kustomization kamaji/edge-rocky-web): Kustomization kamaji/edge-rocky-web is not on the"
        " management cluster\n"
        "  fix: run `tenantry up`\n"
    )


def test_an_object_in_somebody_elses_namespace_is_not_touched_whatever_its_labels_say(
    capsys: Capture, hub: Hub
) -> None:
    namespace = hub.objects["/api/v1/namespaces/rocky"]["metadata"]
    namespace["labels"] = {**namespace["labels"], "toolkit.fluxcd.io/tenant": "movy"}
    code, out, _ = tenantry(capsys, "suspend", "rocky/web", "-e", "dev", "-c", "hub")
    assert (code, hub.changes()) == (2, [])
    assert (
        "Kustomization rocky/web exists, but namespace 'rocky' is not the place of such an object, so its labels are not believed"
        in out
    )


def test_missing_rights_are_named_with_verb_and_kind(capsys: Capture, hub: Hub) -> None:
    hub.refuse("PATCH", WEB, 403, "forbidden")
    assert tenantry(capsys, "suspend", "rocky", "web", "-e", "dev", "-c", "hub")[:2] == (
        2,
        "refused: rocky/web on hub (Kustomization rocky/web): cannot change Kustomization rocky/web: HTTP 403\n"
        "  fix: use credentials that may 'patch' kustomizations.kustomize.toolkit.fluxcd.io in namespace rocky\n",
    )


def test_reconcile_sets_the_annotations_of_flux(capsys: Capture, hub: Hub) -> None:
    assert tenantry(capsys, "reconcile", "rocky", "shop", "-e", "dev", "--force", "--reset") == (
        0,
        "requested: rocky/shop on hub (HelmRelease rocky/shop)\n",
        "",
    )
    found = hub.objects[SHOP]["metadata"]["annotations"]
    assert {key: value for key, value in found.items() if "fluxcd" in key} == {
        "reconcile.fluxcd.io/requestedAt": TOKEN,
        "reconcile.fluxcd.io/forceAt": TOKEN,
        "reconcile.fluxcd.io/resetAt": TOKEN,
    }


def test_reconcile_with_source_asks_from_the_source_to_the_app_and_waits(capsys: Capture, hub: Hub) -> None:
    code, out, err = tenantry(capsys, "reconcile", "rocky", "shop", "-e", "dev", "--with-source", "--wait")
    assert (code, out) == (0, "ready: rocky/shop on hub (HelmRelease rocky/shop)\n")
    assert [line for line in err.splitlines() if "app" in line] == [
        "waiting until Flux has handled 1 app, at most 300 s",
        "Flux has handled 1 of 1 app in 0 s",
    ]
    assert [path.split("/")[-2] for path, _ in hub.changes()] == ["helmrepositories", "helmcharts", "helmreleases"]


def test_reconcile_reports_an_app_that_is_not_ready_after_the_wait(capsys: Capture, hub: Hub) -> None:
    hub.objects[WEB]["status"]["conditions"] = [{"type": "Ready", "status": "False", "message": "no such\x1b path"}]
    code, out, _ = tenantry(capsys, "reconcile", "rocky", "web", "-e", "dev", "-c", "hub", "--wait")
    assert (code, out) == (1, "not ready: rocky/web on hub (Kustomization rocky/web): no such\\x1b path\n")


def test_reconcile_leaves_suspended_apps_alone(capsys: Capture, hub: Hub) -> None:
    hub.objects[WEB]["spec"] = {**hub.objects[WEB]["spec"], "suspend": True}
    code, out, _ = tenantry(capsys, "reconcile", "rocky", "-e", "dev", "-c", "hub", "-o", "json")
    said = json.loads(out)
    assert (code, said["kind"], said["action"], said["dryRun"]) == (1, "Actions", "reconcile", False)
    assert [(each["app"], each["outcome"], each["message"]) for each in said["items"]] == [
        ("web", "refused", "suspended: resume it first"),
        ("shop", "requested", ""),
        ("idle", "refused", "paused in the file"),
    ]


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("reconcile", "rokcy"),
            "tenants.yaml declares no tenant 'rokcy'\n  fix: name one of these: platform, rocky (closest: rocky)",
        ),
        (
            ("suspend", "rocky", "webb"),
            "environment 'dev' has no app 'webb' of rocky\n  fix: name one of these: idle, shop, web (closest: web)",
        ),
        (("resume", "platform"), "environment 'dev' has no add-ons\n  fix: run `tenantry list placements -e dev`"),
        (
            ("reconcile", "rocky", "web", "--force"),
            "--force and --reset are for Helm releases, and none of these apps is one\n  fix: leave the option out",
        ),
    ],
)
def test_wrong_requests_are_refused(capsys: Capture, arguments: tuple[str, ...], message: str) -> None:
    assert tenantry(capsys, *arguments, "-e", "dev") == (2, "", f"error: {message}\n")


# --- tree ---------------------------------------------------------------------------------------------------------


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
