"""A long run with Pulumi's own settings says which command is faster; other runs do not."""

from __future__ import annotations

from pathlib import Path

import pulumi
import pytest

from components import run
from components.run import readable_errors
from tenantry.messages.errors import InvalidFleet, Refused, RefusedChange
from tenantry.plan.plan import nothing_of
from tenantry.stacks.outcome import OUTCOME_FILE
from tests.components.plans import PLAN


@pytest.mark.parametrize(
    ("many", "preview", "variables", "said"),
    [
        (True, False, {"PULUMI_PARALLEL": "8"}, True),
        (True, False, {"PULUMI_SKIP_CHECKPOINTS": "false"}, True),
        (False, False, {}, False),
        (True, True, {}, False),
        (True, False, {"PULUMI_PARALLEL": "64"}, False),
        (True, False, {"PULUMI_SKIP_CHECKPOINTS": "true"}, False),
        (True, False, {OUTCOME_FILE: "/tmp/x"}, False),
    ],
)
def test_the_faster_way_is_named_once_where_it_matters(
    monkeypatch: pytest.MonkeyPatch,
    *,
    many: bool,
    preview: bool,
    variables: dict[str, str],
    said: bool,
) -> None:
    messages: list[str] = []
    monkeypatch.setattr(run, "_MANY", 0 if many else 300)
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: preview)
    monkeypatch.setattr(pulumi.log, "info", messages.append)
    for name in (OUTCOME_FILE, "PULUMI_SKIP_CHECKPOINTS", "PULUMI_PARALLEL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    run.warn_if_slow(PLAN)
    assert messages == [f"faster: tenantry up --environment {PLAN.environment}"] * said
    run.warn_if_slow(nothing_of(PLAN))
    assert len(messages) == said


@pytest.mark.parametrize(
    ("error", "outcome"), [(RefusedChange("too much"), "4"), (Refused("no file"), "2"), (InvalidFleet(()), "2")]
)
def test_the_command_that_started_the_program_learns_why_it_ended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception, outcome: str
) -> None:
    monkeypatch.setenv(OUTCOME_FILE, str(tmp_path / "outcome"))
    with pytest.raises(pulumi.RunError), readable_errors():
        raise error
    assert (tmp_path / "outcome").read_text() == outcome
