"""The `pulumi` command of a tuned run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.stacks import command
from tenantry.stacks.command import memory_here, tuned
from tests.table import table

SKIP = {"PULUMI_SKIP_CHECKPOINTS": "true"}
GO = "GOGC=400 GOMEMLIMIT=3GiB"
ALL = f"{GO} PULUMI_PARALLEL=64"


@table(
    ("verb", "options", "given", "kinds", "line"),
    [
        ("up", (), {}, {}, f"{ALL} PULUMI_SKIP_CHECKPOINTS=true pulumi up --stack dev"),
        ("preview", (), {}, {}, f"{ALL} pulumi preview --stack dev"),
        ("destroy", (), {}, {}, f"{ALL} PULUMI_SKIP_CHECKPOINTS=true pulumi destroy --stack dev"),
        ("up", (), {}, {"self_managed": False}, f"{ALL} pulumi up --stack dev"),
        # What the user says wins: Pulumi takes an option before its variable.
        ("up", ("-p", "8"), SKIP, {}, f"{ALL} pulumi up --stack dev -p 8"),
        ("up", (), {**SKIP, "PULUMI_PARALLEL": "8"}, {}, f"{GO} pulumi up --stack dev"),
        ("up", (), {"PULUMI_SKIP_CHECKPOINTS": "false"}, {}, f"{ALL} pulumi up --stack dev"),
        ("preview", (), {"GOGC": "off"}, {}, "GOMEMLIMIT=3GiB PULUMI_PARALLEL=64 pulumi preview --stack dev"),
        # Values of the configuration may be secret.
        (
            "up",
            ("--config", "tenantry:a=b c", "-cx=1", "--config=y=2", "--message", "a b"),
            SKIP,
            {},
            f"{ALL} pulumi up --stack dev --config tenantry:a=... -cx=... --config=y=... --message 'a b'",
        ),
    ],
)
def test_the_command_has_every_setting_that_is_safe_and_not_the_users(
    verb: str, options: tuple[str, ...], given: dict[str, str], kinds: dict[str, bool], line: str
) -> None:
    command = tuned(verb, "dev", options, given, **kinds)
    assert command.line() == line
    assert command.argv[:4] == ("pulumi", verb, "--stack", "dev")
    assert [each for each in options if each not in command.argv] == []


@table(("memory", "limit"), [(None, "3GiB"), (24 * 2**30, "12GiB"), (7 * 2**30, "3GiB"), (2**30, "1GiB")])
def test_the_engine_gets_half_of_the_memory(memory: int | None, limit: str) -> None:
    assert tuned("up", "dev", memory=memory).variables["GOMEMLIMIT"] == limit
    assert "GOMEMLIMIT" not in tuned("up", "dev", given={"GOMEMLIMIT": "1GiB"}, memory=memory).variables


def test_a_container_has_as_much_memory_as_its_limit_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(command, "_CGROUP", limit)
    machine = memory_here()
    assert machine
    limit.write_text("max\n")
    assert memory_here() == machine
    limit.write_text("1048576\n")
    assert memory_here() == 1048576
