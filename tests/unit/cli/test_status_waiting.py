"""What `tenantry up` and `status --wait` print where waiting ends early."""

from __future__ import annotations

from datetime import UTC, datetime

from tenantry.cli.status.waiting import told
from tenantry.cluster.objects import ObjectStatus
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import AppStatus, Readiness
from tests.unit.texts import one, planned, rocky

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PLAN = planned(rocky("web: {kustomize: {source: manifests}}"))
APP = PLAN.apps[0]
SOURCE = one(PLAN, "GitRepository", "manifests")


def test_what_fails_again_and_again_is_told_with_what_to_type() -> None:
    gone = "GitRepository rocky/manifests: repository not found"
    bad = AppStatus(APP, Readiness.FAILED, gone, "", cause=SOURCE.id)
    own = ObjectStatus(SOURCE, Readiness.FAILED, "repository not found")
    assert told(StatusReport("dev", NOW, (bad,) * 7, (own,)), {SOURCE.id}) == (
        "7 apps failed again and again, so waiting ends here:\n"
        + "  hub rocky/web: GitRepository rocky/manifests: repository not found\n" * 5
        + "  and 2 more\n"
        "  fix: correct the file or what the app applies, then run `tenantry up --environment dev` again;"
        " `tenantry why rocky/web -e dev -c hub` tells the cause"
    )


def test_an_object_that_no_app_needs_is_told_too() -> None:
    own = ObjectStatus(SOURCE, Readiness.FAILED, "repository not found")
    assert told(StatusReport("dev", NOW, (), (own,)), {SOURCE.id}) == (
        "1 other object failed again and again, so waiting ends here:\n"
        "  GitRepository rocky/manifests: repository not found\n"
        "  fix: correct the file or what the app applies, then run `tenantry up --environment dev` again"
    )
    assert told(StatusReport("dev", NOW, (), (own,)), {APP.id}) == ""
