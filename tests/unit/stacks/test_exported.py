"""The state of a stack, from the `pulumi` command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Refused
from tenantry.stacks import states
from tenantry.stacks.states import InState

FIX = "see that the stack exists, and that you are logged in to its state backend and know its passphrase"


def pulumi(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Have a `pulumi` that runs a shell script."""
    program = folder / "pulumi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def is_in_state(project: Path) -> bool:
    return InState(project, "dev")(ObjectId("v1", "Namespace", "", "rocky"))


def test_the_state_is_asked_for_in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pulumi(tmp_path, monkeypatch, """printf '%s in %s' "$*" "$PWD" > asked; echo '{"deployment": {}}'""")
    assert not is_in_state(tmp_path)
    assert (tmp_path / "asked").read_text() == f"--non-interactive stack export --stack dev in {tmp_path}"


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            "echo 'error: no stack named dev' >&2; exit 255",
            f"`pulumi stack export --stack dev` failed: no stack named dev\n  fix: {FIX}",
        ),
        (
            "echo 'error: https://admin:geheim@state.example.com' >&2; exit 255",
            f"`pulumi stack export --stack dev` failed: https://(a secret?)@state.example.com\n  fix: {FIX}",
        ),
        ("echo nothing", f"`pulumi stack export --stack dev` failed: it printed nothing\n  fix: {FIX}"),
        ("exec sleep 9", f"`pulumi stack export --stack dev` did not answer in 0.2 s\n  fix: {FIX}"),
    ],
)
def test_a_failure_is_told_without_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    monkeypatch.setattr(states, "_PATIENCE", 0.2 if "sleep" in script else 60)
    pulumi(tmp_path, monkeypatch, script)
    with pytest.raises(Refused) as refused:
        is_in_state(tmp_path)
    assert str(refused.value) == message


def test_without_pulumi_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refused, match=r"^there is no program 'pulumi'"):
        is_in_state(tmp_path)
