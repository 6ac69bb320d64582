"""A stack's outputs, from the `pulumi` command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.messages.errors import Refused
from tenantry.stacks import states
from tenantry.stacks.states import outputs_of

FIX = "see that the stack exists, and that you are logged in to its state backend and know its passphrase"


def pulumi(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Have a `pulumi` that runs a shell script."""
    program = folder / "pulumi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_outputs_are_asked_for_in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pulumi(tmp_path, monkeypatch, """printf '{"asked": "%s", "in": "%s"}' "$*" "$PWD" """)
    assert outputs_of(tmp_path, "dev") == {
        "asked": "--non-interactive stack output --json --stack dev",
        "in": str(tmp_path),
    }


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            "echo 'error: no stack named dev' >&2; exit 255",
            f"`pulumi stack output --stack dev` failed: no stack named dev\n  fix: {FIX}",
        ),
        (
            "echo 'error: https://admin:geheim@state.example.com' >&2; exit 255",
            f"`pulumi stack output --stack dev` failed: https://(a secret?)@state.example.com\n  fix: {FIX}",
        ),
        ("echo nothing", f"`pulumi stack output --stack dev` failed: it printed nothing\n  fix: {FIX}"),
        ("exec sleep 9", f"`pulumi stack output --stack dev` did not answer in 0.2 s\n  fix: {FIX}"),
    ],
)
def test_a_failure_is_told_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    monkeypatch.setattr(states, "_PATIENCE", 0.2 if "sleep" in script else 60)
    pulumi(tmp_path, monkeypatch, script)
    with pytest.raises(Refused) as refused:
        outputs_of(tmp_path, "dev")
    assert str(refused.value) == message


def test_without_pulumi_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refused, match=r"^there is no program 'pulumi'"):
        outputs_of(tmp_path, "dev")
