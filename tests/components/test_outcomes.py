"""The command that started a program learns why it ended."""

from __future__ import annotations

from pathlib import Path

import pulumi
import pytest

from components.run import readable_errors
from tenantry.messages.errors import InvalidFleet, Refused, RefusedChange
from tenantry.stacks.outcome import OUTCOME_FILE


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
