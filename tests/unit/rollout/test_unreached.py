"""What is said of apps and baselines of a cluster that Flux does not reach."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tenantry.cluster.report import apps_report, failing
from tenantry.kube.objects import Manifest
from tests.table import table
from tests.unit.texts import planned, rocky

PLAN = planned(
    rocky(
        "web: {kustomize: {source: manifests}}\nshop: {helm: {source: charts, chart: shop, version: 1.3.0}}",
        "clusters: {names: [edge]}",
    )
)
DIAL = "failed to get client: dial tcp 10.0.0.1:6443: i/o timeout"
EXPIRED = "failed to get client: x509: certificate has expired"
OLD, NEW = "main@sha1:aaa", "main@sha1:bbb"


def _ready(status: str, message: str = "", reason: str = "ReconciliationFailed") -> list[dict[str, Any]]:
    return [{"type": "Ready", "status": status, "reason": reason, "message": message, "observedGeneration": 2}]


def _cluster(revision: str = OLD) -> dict[str, Manifest]:
    """Everything is ready, and of this revision. By app, and `source`."""
    found: dict[str, Manifest] = {}
    for each in PLAN.objects:
        manifest, kind = deepcopy(dict(each.manifest)), each.id.kind
        if kind not in ("Kustomization", "HelmRelease", "HelmChart", "GitRepository", "HelmRepository"):
            continue
        manifest["metadata"]["generation"] = 2
        status: dict[str, Any] = {"observedGeneration": 2, "conditions": _ready("True")}
        if kind == "GitRepository":
            status["artifact"] = {"revision": revision}
        if kind == "HelmChart":
            status |= {"artifact": {"revision": "1.3.0"}, "observedSourceArtifactRevision": "index"}
        if kind == "HelmRepository":
            status["artifact"] = {"revision": "index"}
        if kind == "Kustomization":
            status["lastAppliedRevision"] = OLD
        if kind == "HelmRelease":
            status |= {"lastAttemptedRevision": "1.3.0", "history": [{"chartVersion": "1.3.0"}]}
        names = {"GitRepository": "source", "Kustomization": "web", "HelmRelease": "shop"}
        name = "baseline" if each.id.name.endswith("-baseline") else names.get(kind, str(each.id))
        found[name] = {**manifest, "status": status}
    return found


def _said(live: dict[str, Manifest]) -> dict[str, tuple[str, str]]:
    report = apps_report(PLAN, live.values())
    apps = {str(each.app): (str(each.readiness), each.behind or "") for each in report.apps}
    return apps | {each.name: (str(each.readiness), each.behind or "") for each in report.objects}


READY, LOST = ("ready", ""), ("unreachable", "")


@table(
    "revision, web, baseline, expected",
    [
        (OLD, _ready("True"), _ready("True"), {"web": READY}),
        (OLD, _ready("False", DIAL), _ready("True"), {"web": LOST}),
        (NEW, _ready("False", DIAL), _ready("True"), {"web": ("unreachable", NEW)}),
        (NEW, _ready("False", EXPIRED), _ready("True"), {"web": ("failed", "")}),
        # Others of the cluster show that Flux does not reach it.
        (NEW, _ready("True"), _ready("False", DIAL), {"web": ("unreachable", NEW)}),
        (NEW, _ready("Unknown", "in progress", "Progressing"), _ready("False", DIAL), {"web": ("unreachable", NEW)}),
        (OLD, _ready("True"), _ready("False", DIAL), {"web": READY}),
        (NEW, _ready("False", "no such path"), _ready("False", DIAL), {"web": ("failed", "")}),
        (NEW, _ready("Unknown", "in progress", "Progressing"), _ready("True"), {"web": ("progressing", "")}),
    ],
)
def test_a_cluster_without_a_connection_is_unreachable_and_what_it_lacks_is_said(
    revision: str, web: list[Any], baseline: list[Any], expected: dict[str, tuple[str, str]]
) -> None:
    live = _cluster(revision)
    live["web"]["status"]["conditions"] = web
    live["baseline"]["status"]["conditions"] = baseline
    lost = {} if baseline == _ready("True") else {"the baseline of rocky": LOST}
    assert _said(live) == {"shop": READY, **expected, **lost}


@table(
    "status, behind",
    [
        ({}, ""),
        ({"observedGeneration": 1}, "changed settings"),
        ({"history": [{"chartVersion": "1.2.0"}]}, "1.3.0"),
        ({"history": [{"chartVersion": "1.2.0"}], "lastAttemptedRevision": "1.2.0"}, "1.3.0"),
        ({"history": []}, "1.3.0"),
    ],
    ids=str,
)
def test_a_release_lacks_its_version_or_its_settings(status: dict[str, Any], behind: str) -> None:
    live = _cluster()
    live["shop"]["status"] |= {"conditions": _ready("False", DIAL), **status}
    assert _said(live)["shop"] == ("unreachable", behind)


def test_a_source_that_has_failed_is_said_first() -> None:
    live = _cluster()
    live["web"]["status"]["conditions"] = _ready("False", DIAL)
    live["source"]["status"]["conditions"] = _ready("False", "no such branch")
    assert _said(live)["web"] == ("failed", "")


def test_the_message_says_what_the_cluster_has_and_failing_shows_it() -> None:
    live = _cluster(NEW)
    live["web"]["status"]["conditions"] = _ready("False", DIAL)
    (app,) = failing(apps_report(PLAN, live.values())).apps
    assert app.message == f"Flux does not reach edge, which is behind: it has {OLD} and lacks {NEW}; {DIAL}"
