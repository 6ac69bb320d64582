"""`tenantry status` against an API server in memory."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tenantry.cluster import connect as connecting
from tenantry.kube.objects import KubeObject
from tests.terminal import plain, tenantry_in_terminal
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.memory import Memory, hold
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
    hold(memory, planned(TEXT))
    memory.objects[APPS] = {"metadata": {}, "items": [app()]}
    memory.objects["/apis/helm.toolkit.fluxcd.io/v2/helmreleases"] = {"metadata": {}, "items": []}
    monkeypatch.setattr(connecting, "connect", lambda *_: memory.client())
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
    assert [(each["app"], each["status"]) for each in json.loads(out)["apps"]] == [("web", "ready")]


def test_what_is_there_besides_is_told(capsys: Capture, hub: Memory) -> None:
    hub.objects[APPS]["items"].append(app(name="api"))
    code, _, err = tenantry(capsys, *COMMAND)
    assert code == 0
    assert err.startswith(
        "1 object of environment 'dev' on its management cluster is not in the file: Kustomization rocky/api\n  fix: "
    )


def test_who_may_not_look_for_it_gets_the_rest_all_the_same(capsys: Capture, hub: Memory) -> None:
    hub.refuse("GET", "/api/v1/secrets", 403, "no")
    code, out, err = tenantry(capsys, *COMMAND)
    assert (code, len(json.loads(out)["apps"]), json.loads(out)["undeclared"]) == (0, 1, None)
    assert err == (
        "these credentials may not list Secrets, so nobody has looked for Secrets that the file does not declare\n"
    )


def test_a_cluster_without_flux_is_refused(capsys: Capture, hub: Memory) -> None:
    del hub.objects[APPS]
    assert tenantry(capsys, "status", "-e", "dev") == (
        2,
        "",
        "error: the cluster does not serve Kustomization: Flux is not installed there\n"
        "  fix: install Flux, or name the management cluster\n",
    )


# --- in a terminal ----------------------------------------------------------------------------------------------

MESSAGE = (
    "kustomize build failed: accumulating resources: 'deploy/web.yaml' doesn't exist in revision main@sha1:0123456"
)


@pytest.fixture
def _failing(hub: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = app()
    failed["status"]["conditions"] = [{"type": "Ready", "status": "False", "reason": "BuildFailed", "message": MESSAGE}]
    failed["status"]["lastAppliedRevision"] = "main@sha1:0123456789abcdef"
    hub.objects[APPS]["items"] = [failed]
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("CI", "1")  # no progress on a slow machine


@pytest.mark.usefixtures("_failing")
def test_a_terminal_has_the_message_below_its_row() -> None:
    code, shown = tenantry_in_terminal("status", "--environment", "dev", columns=80)
    assert code == 1
    assert [line.rstrip() for line in plain(shown).splitlines()] == [
        "TENANT  CLUSTER  APP  KIND           STATUS  AGE  REVISION",
        "rocky   hub      web  Kustomization  failed       main@0123456",
        f"    {MESSAGE}",
        "cause: tenantry why rocky/web -e dev -c hub",
        "5 of 6 objects as planned",
    ]


# --- objects besides apps ------------------------------------------------------------------------------------------

REMOTE = rocky("web: {kustomize: {source: manifests}}", "clusters: {names: [edge]}\nquota: {pods: 9}")
RELEASES = "/apis/helm.toolkit.fluxcd.io/v2/helmreleases"
SOURCES = "/apis/source.toolkit.fluxcd.io/v1/gitrepositories"


@pytest.fixture
def _objects(hub: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The baseline is missing, a source fails, and somebody changed a service account."""
    Path("tenants.yaml").write_text(REMOTE)
    hub.objects.clear()
    hold(hub, planned(REMOTE))
    hub.objects[RELEASES]["items"] = []
    (source,) = hub.objects[SOURCES]["items"]
    source["status"]["conditions"][0].update(status="False", message="repository not found")
    monkeypatch.setattr("tenantry.cluster.report.confirmed", lambda _, found: list(found))
    account = hub.objects["/api/v1/serviceaccounts"]["items"][-1]["metadata"]
    wrote = {"f:metadata": {"f:labels": {"f:toolkit.fluxcd.io/tenant": {}}}}
    account["labels"] = {**account["labels"], "toolkit.fluxcd.io/tenant": "movy"}
    account["managedFields"] = [{"manager": "kubectl-edit", "time": "2026-01-31T12:00:00Z", "fieldsV1": wrote}]
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("CI", "1")  # no progress on a slow machine


@pytest.mark.usefixtures("_objects")
def test_objects_that_are_not_as_planned_are_below_the_apps(capsys: Capture) -> None:
    objects = [
        "failed   GitRepository kamaji/rocky.manifests.62305212  AGE",
        "    repository not found",
        "missing  HelmRelease kamaji/edge-rocky-baseline (the baseline of rocky on edge)",
        "    not on the management cluster: run `tenantry up`",
        "changed  ServiceAccount kamaji/rocky",
        "    changed by hand: metadata.labels.toolkit.fluxcd.io/tenant, by kubectl-edit at 2026-01-31T12:00:00Z; run"
        " `tenantry up --environment dev`",
    ]

    def lines(*options: str) -> list[str]:
        code, out, _ = tenantry(capsys, "status", "--environment", "dev", *options)
        assert code == 1
        return [re.sub(r"\b[0-9]+d$", "AGE", line.rstrip()) for line in out.splitlines()]

    app = "rocky   edge     web  Kustomization  ready   AGE"
    assert lines()[1:] == [app, *objects, "4 of 7 objects as planned"]
    assert lines("--failing") == objects
    _, text, _ = tenantry(capsys, *COMMAND)
    found = json.loads(text)
    assert ([each["status"] for each in found["objects"]], found["planned"]) == (
        ["failed", "missing", "changed"],
        7,
    )
    assert found["objects"][2] == {
        "environment": "dev",
        "id": {"apiVersion": "v1", "kind": "ServiceAccount", "namespace": "kamaji", "name": "rocky"},
        "tenant": "rocky",
        "app": None,
        "cluster": None,
        "status": "changed",
        "message": "changed by hand: metadata.labels.toolkit.fluxcd.io/tenant, by kubectl-edit at 2026-01-31T12:00:00Z;"
        " run `tenantry up --environment dev`",
        "revision": "",
        "since": None,
        "suspendedByHand": False,
        "wave": None,
        "waits": False,
        "lasts": False,
    }


# --- which apps, in which order ------------------------------------------------------------------------------------

TWO = rocky("web: {kustomize: {source: manifests}}\ndb: {kustomize: {source: manifests}}", "clusters: {all: true}")


@pytest.fixture
def _two_apps(hub: Memory) -> None:
    """Two apps on two clusters: `db` failed on the remote, `web` is missing there, and both are ready on the hub."""
    Path("tenants.yaml").write_text(TWO)
    hub.objects.clear()
    hold(hub, planned(TWO))
    live = [live_app(each) for each in planned(TWO).objects if each.id.kind == "Kustomization"]
    for each in live:
        if each["metadata"]["name"] == "edge-rocky-db":
            each["status"]["conditions"][0].update(status="False", reason="BuildFailed", message="no such path")
    hub.objects[APPS]["items"] = [each for each in live if each["metadata"]["name"] != "edge-rocky-web"]


def live_app(each: KubeObject) -> dict[str, Any]:
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    status = {"observedGeneration": 1, "conditions": [ready]}
    return {**each.manifest, "metadata": {**each.manifest["metadata"], "generation": 1}, "status": status}


def found(capsys: Capture, *options: str) -> tuple[int, list[tuple[str, str, str]]]:
    code, out, err = tenantry(capsys, *COMMAND, *options)
    assert err == (
        "nothing failed, is missing or was changed; 2 of 2 apps ready\n" if code == 0 and "--failing" in options else ""
    )
    return code, [(each["cluster"], each["app"], each["status"]) for each in json.loads(out)["apps"]]


@pytest.mark.usefixtures("_two_apps")
def test_what_needs_attention_comes_first(capsys: Capture) -> None:
    assert found(capsys) == (
        1,
        [("edge", "db", "failed"), ("edge", "web", "missing"), ("hub", "db", "ready"), ("hub", "web", "ready")],
    )


@pytest.mark.usefixtures("_two_apps")
@pytest.mark.parametrize(
    ("options", "code", "expected"),
    [
        (("--failing",), 1, [("edge", "db", "failed"), ("edge", "web", "missing")]),
        (("--cluster", "hub"), 0, [("hub", "db", "ready"), ("hub", "web", "ready")]),
        (("--cluster", "hub", "--failing"), 0, []),
        (("--app", "db", "--tenant", "rocky"), 1, [("edge", "db", "failed"), ("hub", "db", "ready")]),
        (
            ("--cluster", "hub", "--cluster", "edge", "--app", "web"),
            1,
            [("edge", "web", "missing"), ("hub", "web", "ready")],
        ),
    ],
)
def test_options_select_apps_and_the_exit_code_is_about_them(
    capsys: Capture, options: tuple[str, ...], code: int, expected: list[tuple[str, str, str]]
) -> None:
    assert found(capsys, *options) == (code, expected)


@pytest.mark.usefixtures("_two_apps")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--tenant", "rokcy"), "has no apps of tenant 'rokcy'\n  fix: name one of these: rocky (closest: rocky)"),
        (("--tenant", "platform"), "has no apps of tenant 'platform'\n  fix: name one of these: rocky"),
        (("--app", "webb"), "has no app 'webb'\n  fix: name one of these: db, web (closest: web)"),
        (("--cluster", "x"), "has no apps on cluster 'x'\n  fix: name one of these: edge, hub"),
    ],
)
def test_an_unknown_name_is_refused_with_the_known_ones(
    capsys: Capture, options: tuple[str, ...], message: str
) -> None:
    code, _, err = tenantry(capsys, *COMMAND, *options)
    assert (code, err) == (2, f"error: environment 'dev' {message}\n")


@pytest.mark.usefixtures("_two_apps")
def test_undeclared_objects_of_others_are_left_out_of_a_selection(capsys: Capture, hub: Memory) -> None:
    hub.objects[APPS]["items"].append(live_app(planned(TWO).objects[-1]) | {"metadata": app(name="api")["metadata"]})
    assert "Kustomization rocky/api" in tenantry(capsys, *COMMAND)[2]
    assert tenantry(capsys, *COMMAND, "--cluster", "edge")[2] == ""


@pytest.mark.usefixtures("_two_apps")
def test_each_kind_is_read_once(capsys: Capture, hub: Memory) -> None:
    tenantry(capsys, *COMMAND)
    read = [sent for _, path, sent in hub.requests if path == APPS]
    assert [each["labelSelector"] for each in read] == ["tenantry/environment=dev", "tenantry/environment!=dev"]


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(
    ("rest", "message", "by_hand"),
    [
        ("", "suspended by hand, not in the file: flux resume kustomization web --namespace rocky", True),
        ("state: paused, ", "paused in the file: set 'state: active' and run `tenantry up` to resume", False),
    ],
)
def test_who_suspended_an_app_is_told(capsys: Capture, hub: Memory, rest: str, message: str, *, by_hand: bool) -> None:
    Path("tenants.yaml").write_text(rocky(f"web: {{{rest}kustomize: {{source: manifests}}}}"))
    hub.objects[APPS]["items"] = [{**app(), "spec": {**app()["spec"], "suspend": True}}]
    code, out, _ = tenantry(capsys, *COMMAND)
    (said,) = json.loads(out)["apps"]
    assert (said["status"], said["message"], said["suspendedByHand"]) == ("suspended", message, by_hand)
    # What the file pauses is as declared, so `tenantry up` and `--wait` do not wait for it.
    assert code == (1 if by_hand else 0)
    assert tenantry(capsys, *COMMAND, "--wait", "--timeout", "1")[0] == code


@pytest.mark.usefixtures("hub")
def test_the_wave_of_each_app_is_shown_where_there_are_waves(capsys: Capture, hub: Memory) -> None:
    text = rocky("web: {kustomize: {source: manifests}}")
    waves = "waves: [{name: canary, names: [hub]}, {all: true}]"
    Path("tenants.yaml").write_text(text.replace("dev: {", f"dev: {{{waves}, "))
    hub.objects[APPS]["items"] = [app()]
    _, out, _ = tenantry(capsys, *COMMAND)
    (said,) = json.loads(out)["apps"]
    assert said["wave"] == {"number": 1, "name": "canary"}
    _, out, _ = tenantry(capsys, *COMMAND[: COMMAND.index("--output")])
    heading, line, *_ = out.splitlines()
    assert line[heading.index("WAVE") :].startswith("1 canary  ")


WAVES = TWO.replace("dev: {", "dev: {waves: [{name: canary, names: [edge]SOAK}, {all: true}], ", 1)


def _old_on_hub(hub: Memory, text: str) -> None:
    """Everything is ready, and on the management cluster the apps have another path than the file."""
    Path("tenants.yaml").write_text(text)
    hub.objects.clear()
    hold(hub, planned(text))
    hub.objects[APPS]["items"] = [live_app(each) for each in planned(text).objects if each.id.kind == "Kustomization"]
    for each in hub.objects[APPS]["items"]:
        if each["metadata"]["namespace"] == "rocky":
            each["spec"] = {**each["spec"], "path": "./old"}


def test_a_wave_that_failed_is_never_called_as_planned(
    capsys: Capture, hub: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenantry.cluster.report.confirmed", lambda _, found: list(found))
    _old_on_hub(hub, WAVES.replace("SOAK", ""))
    for each in hub.objects[APPS]["items"]:
        if each["metadata"]["name"] == "edge-rocky-db":
            each["status"]["conditions"][0].update(status="False", reason="BuildFailed", message="no such path")
    code, out, _ = tenantry(capsys, "status", "dev")
    assert (code, out.splitlines()[-3:]) == (
        1,
        [
            "wave 1 of 2 (canary), 1 cluster: failed; 2 apps: 1 failed, 1 ready",
            "wave 2 of 2, 1 cluster: blocked; 2 apps: 2 outdated",
            "12 of 15 objects as planned",
        ],
    )


def test_what_waits_for_a_soak_says_so_and_has_a_code_of_its_own(
    capsys: Capture, hub: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenantry.cluster.report.confirmed", lambda _, found: list(found))
    _old_on_hub(hub, WAVES.replace("SOAK", ", soak: 1h"))
    ready = datetime.now(UTC).replace(microsecond=0)
    for each in hub.objects[APPS]["items"]:
        each["status"]["conditions"][0]["lastTransitionTime"] = f"{ready:%Y-%m-%dT%H:%M:%SZ}"
    reason, until = "wave 1 of 2 (canary) soaks", f"{ready + timedelta(hours=1):%Y-%m-%dT%H:%M:%S}"
    code, out, _ = tenantry(capsys, *COMMAND)
    told = json.loads(out)
    assert (code, told["waves"][1]) == (
        5,
        {
            "number": 2,
            "name": "wave 2",
            "clusters": ["hub"],
            "apps": {"outdated": 2},
            "progress": "blocked",
        },
    )
    outdated = [each for each in told["apps"] if each["status"] == "outdated"]
    assert {each["waits"] for each in outdated} == {True}
    assert {each["message"].rpartition(" (")[0] for each in outdated} == {f"not applied yet: {reason} until {until}Z"}


@pytest.mark.parametrize(
    ("minutes", "listed", "told"),
    [
        (1, [], "nothing failed, is missing or was changed; 0 of 1 app ready"),
        (7, ["web"], ""),
    ],
)
def test_what_progresses_is_never_passed_over_in_silence(
    capsys: Capture, hub: Memory, minutes: int, listed: list[str], told: str
) -> None:
    waits = app(creationTimestamp=(datetime.now(UTC) - timedelta(minutes=minutes)).isoformat())
    waits["status"]["conditions"] = [
        {"type": "Ready", "status": "Unknown", "reason": "Progressing", "message": "waits"}
    ]
    hub.objects[APPS]["items"] = [waits]
    code, out, err = tenantry(capsys, *COMMAND, "--failing")
    assert (code, [each["app"] for each in json.loads(out)["apps"]]) == (1, listed)
    assert re.sub(r"6[0-9]s", "60s", err).startswith(told)
    assert bool(err) == bool(told)
