"""The alerts of docs/operations.md fire, evaluated against what `tenantry status --output prometheus` prints of a failing app."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from prometheus_client.parser import text_string_to_metric_families

from tenantry.cli.status.formats import metrics
from tenantry.cli.status.waiting import told
from tenantry.cluster.objects import ObjectStatus
from tenantry.cluster.report import StatusReport
from tenantry.cluster.status import AppStatus, Readiness
from tests.table import table
from tests.unit.texts import one, planned, rocky

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PLAN = planned(rocky("web: {kustomize: {source: manifests}}"))
APP = PLAN.apps[0]
SOURCE = one(PLAN, "GitRepository", "manifests")
PAGE = Path(__file__).parents[3] / "docs" / "operations.md"
EXPRESSION = re.compile(
    r"(?P<age>time\(\) - )?(?P<metric>\w+)"
    r'(\{(?P<label>\w+)!="(?P<other>\w+)"\})?'
    r" (?P<compared>==|>) (?P<value>[0-9]+)"
)
"""What these alerts need of PromQL."""


def printed(state: Readiness, minutes: int, since: str = "2026-01-01T11:59:59Z") -> str:
    """The metrics of an app and its source, read some minutes ago, whose conditions have just changed."""
    app = AppStatus(APP, state, "no such path", "", since=since)
    objects = () if state is Readiness.READY else (ObjectStatus(SOURCE, state, "no such repository"),)
    return metrics([StatusReport("dev", NOW - timedelta(minutes=minutes), (app,), objects, 2, (), ())])


def alerts() -> dict[str, dict[str, Any]]:
    (block,) = re.findall(r"```yaml\n(groups:\n.*?)```", PAGE.read_text(), re.DOTALL)
    return {rule["alert"]: rule for group in yaml.safe_load(block)["groups"] for rule in group["rules"]}


def fires(expression: str, text: str) -> bool:
    """Whether an expression has a result. An alert that names a metric which is not printed is a mistake."""
    found = EXPRESSION.fullmatch(expression)
    assert found, f"{expression}: teach this test more of PromQL"
    samples = [each for family in text_string_to_metric_families(text) for each in family.samples]
    samples = [each for each in samples if each.name == found["metric"]]
    values = [each.value for each in samples if not found["label"] or each.labels[found["label"]] != found["other"]]
    assert values, f"nothing prints {found['metric']}"
    compared, limit = found["compared"], float(found["value"])
    said = [NOW.timestamp() - each if found["age"] else each for each in values]
    return any(each == limit if compared == "==" else each > limit for each in said)


BAD = {
    "AppNotReady": printed(Readiness.FAILED, 0),
    "NotAsPlanned": printed(Readiness.MISSING, 0),
    "StatusNotRead": printed(Readiness.READY, 11),
}
"""What each alert has to tell of."""


@table("name", BAD)
def test_each_documented_alert_fires_and_only_then(name: str) -> None:
    expression = alerts()[name]["expr"]
    assert fires(expression, BAD[name])
    assert not fires(expression, printed(Readiness.READY, 0))


def test_all_alerts_are_tried_and_an_app_may_take_its_time() -> None:
    assert alerts().keys() == BAD.keys()
    assert alerts()["AppNotReady"]["for"] == "15m"


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
