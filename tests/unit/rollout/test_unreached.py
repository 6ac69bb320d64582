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


def _said(live: dict[str, Manifest]) -> dict[str, str]:
    report = apps_report(PLAN, live.values())
    return {each.app or each.name: str(each.readiness) for each in (*report.apps, *report.objects)}


@table(
    "revision, web, baseline, expected",
    [
        (OLD, _ready("True"), _ready("True"), "ready"),
        (OLD, _ready("False", DIAL), _ready("True"), "unreachable"),
        (NEW, _ready("False", DIAL), _ready("True"), "unreachable"),
        (NEW, _ready("False", EXPIRED), _ready("True"), "failed"),
        # Others of the cluster show that Flux does not reach it.
        (NEW, _ready("True"), _ready("False", DIAL), "unreachable"),
        (NEW, _ready("Unknown", "in progress", "Progressing"), _ready("False", DIAL), "unreachable"),
        (OLD, _ready("True"), _ready("False", DIAL), "ready"),
        (NEW, _ready("False", "no such path"), _ready("False", DIAL), "failed"),
        (NEW, _ready("Unknown", "in progress", "Progressing"), _ready("True"), "progressing"),
    ],
)
def test_a_cluster_without_a_connection_is_unreachable(
    revision: str, web: list[Any], baseline: list[Any], expected: str
) -> None:
    live = _cluster(revision)
    live["web"]["status"]["conditions"] = web
    live["baseline"]["status"]["conditions"] = baseline
    lost = {} if baseline == _ready("True") else {"the baseline of rocky": "unreachable"}
    assert _said(live) == {"shop": "ready", "web": expected, **lost}


def test_a_source_that_has_failed_is_said_first() -> None:
    live = _cluster()
    live["web"]["status"]["conditions"] = _ready("False", DIAL)
    live["source"]["status"]["conditions"] = _ready("False", "no such branch")
    assert _said(live)["web"] == "failed"


def test_the_message_names_the_cluster_and_failing_shows_it() -> None:
    live = _cluster(NEW)
    live["web"]["status"]["conditions"] = _ready("False", DIAL)
    (app,) = failing(apps_report(PLAN, live.values())).apps
    assert app.message == f"Flux does not reach edge: {DIAL}"
