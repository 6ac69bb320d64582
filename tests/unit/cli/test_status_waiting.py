"""What `tenantry up` and `status --wait` print where waiting ends early."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from tenantry.cli.status import lasting_text
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


def test_what_fails_again_and_again_is_told_with_what_to_type() -> None:
    assert lasting_text(StatusReport("dev", NOW, (BAD,) * 7, (OWN,))) == (
        "7 objects failed again and again, so waiting ends here:\n"
        + "  rocky/web on hub: GitRepository rocky/manifests: repository not found\n" * 5
        + "  and 2 more\n"
        "  fix: correct the file or what the app applies, then run `tenantry up --environment dev` again;"
        " `tenantry why rocky/web -e dev -c hub` tells the cause"
    )


def test_an_object_that_no_app_needs_is_told_too() -> None:
    assert lasting_text(StatusReport("dev", NOW, (), (OWN,))) == (
        "1 object failed again and again, so waiting ends here:\n"
        "  GitRepository rocky/manifests: repository not found\n"
        "  fix: correct the file or what the app applies, then run `tenantry up --environment dev` again"
    )
    assert lasting_text(StatusReport("dev", NOW, (replace(BAD, lasts=False),), (replace(OWN, lasts=False),))) == ""
