"""How much has failed for good, so that `tenantry up` and `status --wait` end early."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from tenantry.cli.status import failed_for_good
from tenantry.cluster.report import StatusReport
from tenantry.cluster.states import State
from tenantry.rollout.flux_status import Readiness
from tests.unit.texts import one, planned, rocky

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PLAN = planned(rocky("web: {kustomize: {source: manifests}}"))
APP = PLAN.apps[0]
WEB, SOURCE = one(PLAN, "Kustomization", "web"), one(PLAN, "GitRepository", "manifests")
GONE = "GitRepository rocky/manifests: repository not found"
BAD = State("dev", WEB, Readiness.FAILED, GONE, APP, APP.full_name, cause=SOURCE.id, lasts=True)
OWN = State("dev", SOURCE, Readiness.FAILED, "repository not found", cause=SOURCE.id, lasts=True)


def test_what_failed_again_and_again_is_counted_once() -> None:
    assert failed_for_good(StatusReport("dev", NOW, (BAD,) * 7, (OWN,))) == 7
    assert failed_for_good(StatusReport("dev", NOW, (), (OWN,))) == 1
    assert failed_for_good(StatusReport("dev", NOW, (replace(BAD, lasts=False),), (replace(OWN, lasts=False),))) == 0
