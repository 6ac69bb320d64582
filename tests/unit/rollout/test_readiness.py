"""Whose failure it is when an app is not ready: its own, its source's, or that of what it depends on."""

from __future__ import annotations

from typing import Any

from tenantry.kube.objects import ObjectId
from tenantry.rollout.flux_status import Readiness
from tenantry.rollout.readiness import Live, Reconciler, Standing, judge, reconcilers_of
from tests.table import table
from tests.unit.rollout.test_judging import (
    CACHE,
    CHART,
    CHARTED,
    COMMIT,
    DEPLOYED,
    FETCHED,
    GIT,
    NOW,
    WEB,
    artifact,
    live,
    ready,
)
from tests.unit.texts import planned, rocky

BASELINE = ObjectId("helm.toolkit.fluxcd.io/v2", "HelmRelease", "rocky", "baseline")
DB = ObjectId("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "rocky", "db")
NAME = "the baseline of rocky"
APPLIED: dict[str, Any] = {"lastAppliedRevision": COMMIT}
FORBIDDEN = 'deployments.apps is forbidden: User "rocky" cannot patch'


def since(condition: dict[str, Any], time: str, reason: str = "ReconciliationFailed") -> dict[str, Any]:
    return {**condition, "reason": reason, "lastTransitionTime": f"2026-01-01T{time}Z"}


def web(found: Live, after: ObjectId = BASELINE) -> Standing:
    """What is told of `web`; whether that lasts is another matter."""
    before = Reconciler(after, WEB.owner, NAME if after == BASELINE else "rocky/db")
    told = judge(Reconciler(WEB.id, WEB.owner, WEB.name, (GIT,), (), (before,)), found, NOW)
    return told._replace(lasts=False)


GONE = live(GIT, since(ready("False", "repository not found"), "12:00:00", "GitOperationFailed"), observedGeneration=-1)
RUNS = live(WEB.id, **APPLIED)
FAILED = live(WEB.id, since(ready("False", FORBIDDEN), "12:00:00"), observedGeneration=-1)


@table(
    ("found", "state", "message", "cause"),
    [
        ({**FETCHED, **RUNS}, "ready", "", WEB.id),
        ({**FETCHED, **FAILED}, "failed", FORBIDDEN, WEB.id),
        ({**FETCHED, **live(WEB.id, spec={"suspend": True})}, "suspended", "", WEB.id),
        (FETCHED, "missing", "not on the management cluster: run `tenantry up`", WEB.id),
        # The source's own reason, also if the app still runs what a former address had.
        ({**GONE, **FAILED}, "failed", f"{GIT}: repository not found", GIT),
        ({**GONE, **RUNS}, "failed", f"{GIT}: repository not found", GIT),
        # It was fetched with this spec, and cannot be fetched again at present.
        ({**live(GIT, ready("False", "timeout"), artifact=artifact(COMMIT)), **RUNS}, "ready", "", WEB.id),
        (
            {**live(GIT, ready("Unknown", "building artifact"), observedGeneration=1), **RUNS},
            "progressing",
            f"waits for {GIT}: building artifact",
            GIT,
        ),
        (
            {**live(GIT, artifact=artifact("main@sha1:new")), **RUNS},
            "progressing",
            "Flux has not applied main@sha1:new yet",
            WEB.id,
        ),
    ],
)
def test_an_app_is_as_good_as_its_source(found: Live, state: str, message: str, cause: ObjectId) -> None:
    assert web(found) == Standing(Readiness(state), message, cause)


def test_a_release_tells_the_reason_of_its_chart() -> None:
    chart = live(CHART, ready("False", "no 'cache' chart with version matching '9.x' found"), observedGeneration=1)
    release = live(CACHE.id, {**ready("False", "HelmChart is not ready"), "reason": "SourceNotReady"}, **DEPLOYED)
    found = judge(CACHE, {**CHARTED, **chart, **release}, NOW)
    assert found == Standing(Readiness.FAILED, f"{CHART}: no 'cache' chart with version matching '9.x' found", CHART)


INSTALLING = live(
    BASELINE, {**ready("Unknown", "Running 'install' action"), "reason": "Progressing"}, observedGeneration=-1
)


@table(
    ("found", "state", "message", "cause"),
    [
        (INSTALLING, "progressing", f"waits for {NAME}: Running 'install' action", BASELINE),
        (
            live(BASELINE, ready("False", "no route to host"), observedGeneration=-1),
            "progressing",
            f"waits for {NAME}: no route to host",
            BASELINE,
        ),
        # A first attempt fails before the baseline is there, and says nothing once it is.
        (
            live(BASELINE, since(ready(), "12:00:00")),
            "progressing",
            f"tried before {NAME} was ready, and is tried again: {FORBIDDEN}",
            WEB.id,
        ),
        (live(BASELINE, since(ready(), "11:59:59")), "failed", FORBIDDEN, WEB.id),
        (live(BASELINE, spec={"suspend": True}), "failed", FORBIDDEN, WEB.id),
        ({}, "failed", FORBIDDEN, WEB.id),
    ],
)
def test_a_failure_before_the_baseline_is_ready_is_none(found: Live, state: str, message: str, cause: ObjectId) -> None:
    assert web({**FETCHED, **FAILED, **found})[:3] == (Readiness(state), message, cause)


def test_what_an_app_depends_on_may_be_looked_after_again_meanwhile() -> None:
    again = live(DB, {**ready("Unknown", "Reconciliation in progress"), "reason": "Progressing"}, **APPLIED)
    assert web({**FETCHED, **FAILED, **again}, DB) == Standing(Readiness.FAILED, FORBIDDEN, WEB.id)
    good = live(
        DB,
        since(ready(), "12:30:00"),
        history=[{"lastReconciledStatus": "ReconciliationSucceeded", "firstReconciled": "2026-01-01T08:00:00Z"}],
        **APPLIED,
    )
    assert web({**FETCHED, **FAILED, **good}, DB) == Standing(Readiness.FAILED, FORBIDDEN, WEB.id)


def test_a_plan_says_what_each_app_needs() -> None:
    plan = planned(
        rocky(
            "web: {kustomize: {source: manifests}, dependsOn: [db]}\ndb: {kustomize: {source: manifests}}",
            "clusters: {names: [edge]}",
        )
    )
    needs = {id.name: found for id, found in reconcilers_of(plan).items()}
    (source,) = needs["edge-rocky-web"].sources
    assert source.kind == "GitRepository"
    assert sorted(each.name for each in needs["edge-rocky-web"].after) == ["rocky/db", NAME]
    assert needs["edge-rocky-baseline"].after == ()
