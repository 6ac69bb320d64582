"""How the states of stacks are read and written, with a program in the place of Pulumi."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.messages.errors import Refused
from tenantry.stacks.states import States

PROGRAM = """\
#!/bin/sh
shift
echo "$@" >> calls
case "$*" in
  "stack export --show-secrets --stack prod") echo '{"version": 3}' ;;
  *"stack export --stack locked") echo '{}' ;;
  *"stack import --stack locked") echo 'error: the stack is currently locked by 1 lock(s).' >&2; exit 255 ;;
  *"stack import"*) cat > imported ;;
  *) echo 'error: no such stack' >&2; exit 255 ;;
esac
"""


@pytest.fixture
def states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> States:
    program = tmp_path / "pulumi"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return States(tmp_path)


def test_a_state_is_read_with_the_values_of_its_secrets(states: States) -> None:
    assert states.read("prod") == {"version": 3}


@pytest.mark.parametrize(
    ("file", "provider"),
    [
        ("encryptionsalt: v1:abc", '{"type": "passphrase", "state": {"salt": "v1:abc"}}'),
        (
            "{secretsprovider: 'awskms://key', encryptedkey: xyz}",
            '{"type": "cloud", "state": {"url": "awskms://key", "encryptedkey": "xyz"}}',
        ),
    ],
)
def test_a_new_state_is_encrypted_with_the_stack_s_own_key(
    tmp_path: Path, states: States, file: str, provider: str
) -> None:
    (tmp_path / "Pulumi.prod.yaml").write_text(f"{file}\n")
    states.write("prod", {"version": 3, "deployment": {}})
    assert (tmp_path / "imported").read_text() == (
        f'{{"version": 3, "deployment": {{"secrets_providers": {provider}}}}}'
    )


def test_a_locked_stack_is_told_with_what_frees_it(states: States) -> None:
    with pytest.raises(Refused) as refused:
        states.check_unlocked("locked")
    assert str(refused.value) == (
        "`pulumi stack import --stack locked` failed: error: the stack is currently locked by 1 lock(s).\n"
        "  fix: wait until the other run ends; if none is at work: pulumi cancel --stack locked"
    )


def test_what_pulumi_says_of_a_failure_is_told(states: States) -> None:
    with pytest.raises(Refused) as refused:
        states.read("other")
    assert str(refused.value) == (
        "`pulumi stack export --show-secrets --stack other` failed: error: no such stack\n"
        "  fix: see what Pulumi says, then run the same command again"
    )


def test_without_pulumi_the_message_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refused, match="there is no program 'pulumi'"):
        States(tmp_path).read("prod")
