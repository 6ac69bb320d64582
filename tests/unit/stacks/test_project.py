"""The stacks of a project."""

from __future__ import annotations

from pathlib import Path

from tenantry.plan.shards import WHOLE
from tenantry.stacks.project import stacks_of


def test_each_file_is_a_stack_that_runs_the_environment_of_its_name_or_the_one_it_sets(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    (tmp_path / "Pulumi.prod.yaml").write_text("{}\n")
    (tmp_path / "Pulumi.blue.yaml").write_text("config: {tenantry:environment: staging}\n")
    assert [(each.name, each.environment, each.shard) for each in stacks_of(tmp_path)] == [
        ("blue", "staging", WHOLE),
        ("prod", "prod", WHOLE),
    ]


def test_a_directory_without_stacks_has_none(tmp_path: Path) -> None:
    assert stacks_of(tmp_path) == []
