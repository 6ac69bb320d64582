"""Which stacks an environment has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.cli.engine import chosen as module
from tenantry.cli.engine.chosen import chosen
from tenantry.cli.engine.options import Asked
from tenantry.messages.errors import Refused
from tenantry.plan.shards import WHOLE, Shard
from tenantry.stacks.file import StackTarget
from tenantry.stacks.project import Stack


def asked(project: Path, stack: str | None = None, shard: str | None = None) -> Asked:
    return Asked(project / "tenants.yaml", "prod", stack, shard, 1, ())


def stacks(*named: tuple[str, Shard]) -> list[Stack]:
    return [Stack(name, "prod", StackTarget(), shard) for name, shard in named]


THREE = stacks(("c", Shard(1, 3)), ("a", Shard(2, 3)), ("b", Shard(3, 3)))


@pytest.mark.parametrize(
    ("found", "stack", "shard", "expected"),
    [
        ([], None, None, ["prod"]),
        (stacks(("live", WHOLE)), None, None, ["live"]),
        (stacks(("copy", WHOLE), ("prod", WHOLE)), None, None, ["prod"]),
        (stacks(("copy", WHOLE), ("live", WHOLE)), "copy", None, ["copy"]),
        ([], "new", None, ["new"]),
        (THREE, None, None, ["c", "a", "b"]),
        (THREE, None, "2/3", ["a"]),
        (stacks(("copy", WHOLE), ("live", WHOLE)), None, None, "several stacks run environment 'prod': copy, live"),
        ([*THREE, *stacks(("files", WHOLE))], None, None, ["c", "a", "b"]),
        (stacks(("dev", WHOLE)), "dev", None, "stack 'dev' runs environment 'dev'"),
        (THREE, None, "2/4", "environment 'prod' has no shard '2/4'; stacks run: 1/3, 2/3, 3/3 (closest: 2/3)"),
    ],
)
def test_the_stacks_of_an_environment(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    found: list[Stack],
    stack: str | None,
    shard: str | None,
    expected: list[str] | str,
) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: fleet\n")
    (tmp_path / "tenants.yaml").write_text("environments: {prod: {management: hub}}\n")
    monkeypatch.setattr(module, "stacks_running", lambda *_: found)
    monkeypatch.setattr(module, "read_stacks", lambda _: [Stack("dev", "dev", StackTarget()), *found])
    try:
        result: list[str] | str = [each.name for each in chosen(asked(tmp_path, stack, shard))]
    except Refused as refused:
        result = refused.message
    assert result == expected


def test_an_environment_that_no_stack_runs_must_be_declared(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: fleet\n")
    (tmp_path / "tenants.yaml").write_text("environments: {prodd: {management: hub}}\n")
    with pytest.raises(Refused, match="declares no environment 'prod'") as refused:
        chosen(asked(tmp_path))
    assert refused.value.fix == "name 'prodd'"


def test_a_directory_without_a_project_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="so it is no Pulumi project"):
        chosen(asked(tmp_path))
