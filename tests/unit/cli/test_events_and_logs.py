"""`tenantry events` and `tenantry logs` against an API server in memory, and the logs of a sandbox."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tenantry.cluster import connect as connecting
from tenantry.cluster.logs import parsed
from tenantry.cluster.requests import path_of
from tenantry.kube.objects import ObjectId
from tests.table import table
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.cli.test_control import TEXT, Hub, live
from tests.unit.texts import planned

THEN = "2026-01-02T03:04:05Z"
WEB = ObjectId("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "rocky", "web")
EVENTS = "/api/v1/namespaces/rocky/events"
POD = "/api/v1/namespaces/flux-system/pods"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(TEXT)
    memory = Hub()
    for each in planned(TEXT).objects:
        memory.objects[path_of(each.id)] = live(each)
    monkeypatch.setattr(connecting, "connect", lambda *_: memory.client())
    return memory


def ago(**time: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=5, **time)).strftime("%Y-%m-%dT%H:%M:%SZ")


EARLY, LATE = ago(minutes=30), ago()
"""Seconds ago as seen at import: a slow run comes to a test minutes later, which is still less than `--since 15m`."""


def event(uid: str, kind: str, name: str, **rest: Any) -> dict[str, Any]:
    about = {"kind": kind, "namespace": "rocky", "name": name}
    return {"metadata": {"uid": uid}, "involvedObject": about, "reason": "Failed", **rest}


BROKEN = {"type": "Warning", "message": "cannot build"}


def happened() -> list[dict[str, Any]]:
    return [
        event(
            "4", "Kustomization", "web", **BROKEN, firstTimestamp=ago(minutes=9), lastTimestamp=ago(minutes=4), count=3
        ),
        event("5", "Kustomization", "web", **BROKEN, firstTimestamp=ago(minutes=3), lastTimestamp=ago(minutes=3)),
        event(
            "1",
            "GitRepository",
            "manifests",
            message="https://u:hunter2hunter2@git.example.com",
            eventTime=ago(hours=2),
        ),
        event("2", "Kustomization", "shop", message="another app", eventTime=ago(hours=1)),
        event("3", "Deployment", "web", message="another kind", eventTime=ago(hours=1)),
    ]


def test_events_of_an_app_and_its_source_are_joined_oldest_first(capsys: Capture, hub: Hub) -> None:
    hub.objects[EVENTS] = {"metadata": {}, "items": happened()}
    code, out, err = tenantry(capsys, "events", "rocky", "web", "-e", "dev", "-c", "hub")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "2h               Normal   Failed  GitRepository rocky/manifests: https://(a secret?)@git.example.com",
        "3m (x4 over 9m)  Warning  Failed  Kustomization rocky/web: cannot build",
    ]
    asked = [parameters["fieldSelector"] for _, path, parameters in hub.requests if path == EVENTS]
    assert sorted(asked) == [
        "involvedObject.kind=GitRepository,involvedObject.name=manifests",
        "involvedObject.kind=Kustomization,involvedObject.name=web",
    ]


def test_events_as_json_and_without_the_file(capsys: Capture, hub: Hub) -> None:
    items = happened()
    hub.objects[EVENTS] = {"metadata": {}, "items": items}
    Path("tenants.yaml").unlink()
    code, out, _ = tenantry(capsys, "events", "rocky", "web", "-e", "dev", "-c", "hub", "-o", "json")
    document = json.loads(out)
    last = document["items"][-1]
    assert (code, document["kind"], document["byLabels"]) == (0, "Events", True)
    assert (last["type"], last["count"], last["first"], last["name"]) == (
        "Warning",
        4,
        items[0]["firstTimestamp"],
        "web",
    )


def test_watching_prints_what_is_new(capsys: Capture, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.objects[EVENTS] = {"metadata": {}, "items": happened()[:1]}

    def pauses() -> Iterator[None]:
        hub.objects[EVENTS]["items"].append(
            event("9", "Kustomization", "web", message="built", eventTime=ago(minutes=2))
        )
        yield
        yield
        raise KeyboardInterrupt

    pause = pauses()
    monkeypatch.setattr("tenantry.cli.events.time.sleep", lambda _: next(pause))
    code, out, _ = tenantry(capsys, "events", "rocky", "web", "-e", "dev", "-c", "hub", "--watch")
    assert (code, [line.rpartition(": ")[2] for line in out.splitlines()]) == (130, ["cannot build", "built"])


def line(message: str, *, name: str = "web", kind: str = "Kustomization", time: str = "", **rest: str) -> str:
    """As a controller in a pod writes it."""
    content = {"level": "error", "ts": time or THEN, "msg": message, "controllerKind": kind}
    return json.dumps({**content, "name": name, "namespace": "rocky", **rest}) + "\n"


def console(message: str, **rest: str) -> str:
    """As a controller of the sandbox writes it."""
    content = json.loads(line(message, **rest))
    return "\t".join([content.pop("ts"), content.pop("level").upper(), content.pop("msg"), json.dumps(content)]) + "\n"


@table(
    ("text", "message"),
    [
        (line("Reconciliation failed", error="a\nb"), "Reconciliation failed: a b"),
        (console("Reconciliation failed", error="a\nb"), "Reconciliation failed: a b"),
        (console("x").replace("\tx\t", "\tsetup\tx\t"), "x"),
        (line("https://u:hunter2hunter2@git.example.com"), "https://(a secret?)@git.example.com"),
        (line("\x1b[31m"), "\\x1b[31m"),
        (line("x", kind="HelmRelease"), None),
        ("web\n", None),
        ("", None),
        ("[1]\n", None),
        ("a\tb\tc\tweb\n", None),
        ("{" * 9999, None),
    ],
)
def test_a_line_of_a_controller_is_known_in_both_of_its_forms(text: str, message: str | None) -> None:
    found = parsed(text, {(WEB.kind, WEB.namespace, WEB.name): WEB})
    assert (found and found.message) == message
    assert found is None or (found.level, found.time) == ("error", THEN)


@pytest.fixture
def pod(hub: Hub) -> list[str]:
    """The lines that the controller's pod has written."""
    lines = [
        line("old", time=ago(hours=3)),
        line("first", time=EARLY),
        line("other", name="shop", time=LATE),
        line("second", time=LATE),
    ]
    container = {"name": "manager", "image": "ghcr.io/fluxcd/kustomize-controller:v1.9.4"}
    spec = {
        "selector": {"matchLabels": {"app": "k"}},
        "template": {"spec": {"containers": [{"name": "proxy"}, container]}},
    }
    metadata = {"name": "kustomize-controller", "namespace": "flux-system"}
    hub.objects["/apis/apps/v1/deployments"] = {"metadata": {}, "items": [{"metadata": metadata, "spec": spec}]}
    hub.objects[POD] = {"metadata": {}, "items": [{"metadata": {"name": "k-1"}}]}
    hub.refusals["GET", f"{POD}/k-1/log"] = lambda _: httpx2.Response(200, text="".join(lines))
    return lines


def test_logs_are_the_lines_of_fluxs_pods_about_an_app(capsys: Capture, hub: Hub, pod: list[str]) -> None:
    told = f"{LATE} error Kustomization rocky/web: second\n"
    command = ("logs", "rocky", "web", "-e", "dev")
    assert tenantry(capsys, *command) == (0, f"{EARLY} error Kustomization rocky/web: first\n{told}", "")
    assert [parameters for _, path, parameters in hub.requests if path.endswith("/log")] == [
        {"container": "manager", "sinceSeconds": "3600"}
    ]
    assert ("GET", POD, {"limit": "500", "labelSelector": "app=k"}) in hub.requests
    assert tenantry(capsys, *command, "--tail", "1") == (0, told, "")
    assert tenantry(capsys, *command, "--since", "15m", "--follow") == (0, told, "")
    assert hub.requests[-1][2] == {"container": "manager", "sinceSeconds": "900", "follow": "true"}
    (item,) = json.loads(tenantry(capsys, *command, "--tail", "1", "-o", "json")[1])["items"]
    assert (item["kind"], item["level"], item["message"]) == ("Kustomization", "error", "second")
    pod.clear()
    assert tenantry(capsys, *command)[1:] == ("", "no lines about these apps: see further back with --since 24h\n")


@pytest.mark.usefixtures("pod")
@pytest.mark.parametrize("option", [(), ("--follow",)])
def test_logs_that_may_not_be_read_name_the_right(capsys: Capture, hub: Hub, option: tuple[str, ...]) -> None:
    hub.refuse("GET", f"{POD}/k-1/log", 403, "no")
    assert tenantry(capsys, "logs", "rocky", "web", "-e", "dev", *option) == (
        2,
        "",
        "error: cannot read the log of pod k-1: HTTP 403\n"
        "  fix: use credentials that may 'get' pods/log in namespace flux-system\n",
    )


def test_logs_without_pods_come_from_the_sandboxs_files_or_are_refused_with_the_names(
    capsys: Capture, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = tenantry(capsys, "logs", "rocky", "web", "-e", "dev", "-c", "hub")
    assert (code, "look in their logs there for GitRepository rocky/manifests, Kustomization rocky/web" in err) == (
        2,
        True,
    )
    root = Path(".sandbox").absolute()
    (root / "logs").mkdir(parents=True)
    (root / ".tenantry-sandbox").touch()
    (root / "logs" / "hub-kustomize-controller.log").write_text(
        f"{console('old', time=ago(hours=2))}{console('new', time=LATE)}"
    )
    (root / "logs" / "hub-kube-controller-manager.log").write_text(console("not Flux"))
    (root / "logs" / "hub-2-helm-controller.log").write_text(console("another cluster"))
    client = hub.client()
    monkeypatch.setattr(connecting, "connect", lambda *_: client)
    config = client.config._replace(fname=root / "hub" / "kubeconfig")
    monkeypatch.setattr(type(client), "config", config)
    assert tenantry(capsys, "logs", "rocky", "web", "-e", "dev", "-c", "hub") == (
        0,
        f"{LATE} error Kustomization rocky/web: new\n",
        "",
    )
