"""Which stack runs an environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.cli import pulumi as module
from tenantry.cli.pulumi import chosen
from tenantry.messages.errors import Refused
from tenantry.stacks.file import Stack


def stacks(*names: str) -> list[Stack]:
    return [Stack(name, "prod") for name in names]


@pytest.mark.parametrize(
    ("found", "stack", "expected"),
    [
        ([], None, "prod"),
        (stacks("live"), None, "live"),
        (stacks("copy", "prod"), None, "prod"),
        (stacks("copy", "live"), "copy", "copy"),
        ([], "new", "new"),
        (stacks("copy", "live"), None, "the files of several stacks name environment 'prod': copy, live"),
        (stacks("dev"), "dev", "stack 'dev' runs environment 'dev'"),
    ],
)
def test_the_stack_of_an_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: list[Stack], stack: str | None, expected: str
) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: fleet\n")
    (tmp_path / "tenants.yaml").write_text("environments: {prod: {management: hub}}\n")
    monkeypatch.setattr(module, "stacks_running", lambda *_: found)
    monkeypatch.setattr(module, "stacks_of", lambda _: [Stack("dev", "dev"), *found])
    try:
        result = chosen(tmp_path, "prod", stack).name
    except Refused as refused:
        result = refused.message
    assert result == expected


def test_a_directory_without_a_project_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="so it is no Pulumi project"):
        chosen(tmp_path, "prod", None)
