"""`tenantry status` against an API server in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenantry.cli import management
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.memory import Memory
from tests.unit.texts import planned, rocky

TEXT = rocky("web: {kustomize: {source: manifests}}")
APPS = "/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations"
COMMAND = ("status", "--environment", "dev", "--output", "json")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """It holds the fleet's one app, ready, and nothing else of it."""
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(TEXT)
    memory = Memory()
    memory.objects[APPS] = {"metadata": {}, "items": [app()]}
    memory.objects["/apis/helm.toolkit.fluxcd.io/v2/helmreleases"] = {"metadata": {}, "items": []}
    monkeypatch.setattr(management, "connect", lambda *_: memory.client())
    return memory


def app(**metadata: Any) -> dict[str, Any]:
    (manifest,) = (each.manifest for each in planned(TEXT).objects if each.id.kind == "Kustomization")
    ready = {"type": "Ready", "status": "True", "reason": "ReconciliationSucceeded", "message": "Applied"}
    status = {"observedGeneration": 1, "conditions": [ready]}
    return {**manifest, "metadata": {**manifest["metadata"], "generation": 1, **metadata}, "status": status}


@pytest.mark.usefixtures("hub")
def test_where_all_is_as_planned_only_the_apps_are_told(capsys: Capture) -> None:
    code, out, err = tenantry(capsys, *COMMAND)
    assert (code, err) == (0, "")
    assert [(each["app"], each["status"]) for each in json.loads(out)] == [("web", "ready")]


def test_what_is_there_besides_is_told(capsys: Capture, hub: Memory) -> None:
    hub.objects[APPS]["items"].append(app(name="api"))
    code, _, err = tenantry(capsys, *COMMAND)
    assert code == 0
    assert err.startswith(
        "1 object of environment 'dev' on the management cluster that the file does not plan: Kustomization rocky/api\n  fix: "
    )


def test_who_may_not_look_for_it_gets_the_rest_all_the_same(capsys: Capture, hub: Memory) -> None:
    hub.refuse("GET", "/api/v1/secrets", 403, "no")
    code, out, err = tenantry(capsys, *COMMAND)
    assert (code, len(json.loads(out))) == (0, 1)
    assert err == (
        "what else is there of environment 'dev' was not looked at: cannot read secrets: HTTP 403\n"
        "  fix: use credentials that may read secrets\n"
    )


def test_a_cluster_without_flux_is_refused(capsys: Capture, hub: Memory) -> None:
    del hub.objects[APPS]
    assert tenantry(capsys, *COMMAND) == (
        2,
        "",
        "error: the cluster knows no Kustomization: Flux is not installed there\n"
        "  fix: install Flux, or name the management cluster\n",
    )
