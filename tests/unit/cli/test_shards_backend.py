"""How `tenantry shards move` calls Pulumi, with a program in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.cli.shards.backend import Backend
from tenantry.messages.errors import Refused

PROGRAM = """\
#!/bin/sh
shift
echo "$@" >> calls
case "$*" in
  "stack ls --json") echo '[{"name": "prod"}, {"name": "organization/shop/prod-2"}]' ;;
  *"stack export --stack locked") echo '{}' ;;
  *"stack import --stack locked") echo 'error: the stack is currently locked by 1 lock(s).' >&2; exit 255 ;;
  *"stack import"*) cat > imported ;;
  *) echo 'error: no such stack' >&2; exit 255 ;;
esac
"""


@pytest.fixture
def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Backend:
    program = tmp_path / "pulumi"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return Backend(tmp_path)


def test_stacks_are_known_by_their_short_names(backend: Backend) -> None:
    assert backend.stacks() == {"prod", "prod-2"}


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
    tmp_path: Path, backend: Backend, file: str, provider: str
) -> None:
    (tmp_path / "Pulumi.prod.yaml").write_text(f"{file}\n")
    backend.write("prod", {"version": 3, "deployment": {}})
    assert (tmp_path / "imported").read_text() == (
        f'{{"version": 3, "deployment": {{"secrets_providers": {provider}}}}}'
    )


def test_a_locked_stack_is_told_with_what_frees_it(backend: Backend) -> None:
    with pytest.raises(Refused) as refused:
        backend.check_unlocked("locked")
    assert str(refused.value) == (
        "`pulumi stack import --stack locked` failed: error: the stack is currently locked by 1 lock(s).\n"
        "  fix: wait until the other run ends; if none is at work: pulumi cancel --stack locked"
    )


def test_a_stack_is_made_with_the_settings_and_the_kind_of_key_of_another(tmp_path: Path, backend: Backend) -> None:
    (tmp_path / "Pulumi.prod.yaml").write_text("secretsprovider: awskms://key\n")
    with pytest.raises(Refused, match="error: no such stack"):
        backend.create("prod-2", "prod")
    assert (tmp_path / "calls").read_text() == (
        "stack init prod-2 --copy-config-from prod --no-select --secrets-provider awskms://key\n"
    )


def test_without_pulumi_the_message_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refused, match="there is no program 'pulumi'"):
        Backend(tmp_path).stacks()
