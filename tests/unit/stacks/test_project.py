"""The stacks of a project."""

from __future__ import annotations

from pathlib import Path

from tenantry.stacks.file import stacks_of, stacks_running, target_of


def test_each_file_is_a_stack_that_runs_the_environment_of_its_name_or_the_one_it_sets(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    (tmp_path / "Pulumi.prod.yaml").write_text("{}\n")
    (tmp_path / "Pulumi.blue.yaml").write_text("config: {tenantry:environment: staging}\n")
    assert [(each.name, each.environment) for each in stacks_of(tmp_path)] == [("prod", "prod"), ("blue", "staging")]


def test_a_directory_without_stacks_has_none(tmp_path: Path) -> None:
    assert stacks_of(tmp_path) == []


def stacks(directory: Path, **settings: str) -> Path:
    """A project; settings: of each stack, "_" in its name standing for "-"."""
    (directory / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    for name, config in settings.items():
        pairs = (each.partition("=") for each in config.split())
        lines = "".join(f"  tenantry:{key}: {value}\n" for key, _, value in pairs)
        (directory / f"Pulumi.{name.replace('_', '-')}.yaml").write_text(f"config:\n{lines}")
    return directory


def test_stacks_come_by_environment_then_by_name(tmp_path: Path) -> None:
    stacks(tmp_path, prod="context=a", files="environment=prod", dev="context=b")
    assert [each.name for each in stacks_of(tmp_path)] == ["dev", "files", "prod"]
    assert [each.name for each in stacks_running(tmp_path, "prod")] == ["files", "prod"]


def test_an_environment_without_a_stack_of_its_name_is_reached_as_the_first_that_runs_it_says(tmp_path: Path) -> None:
    stacks(tmp_path, b="environment=prod context=two", a="environment=prod context=one")
    assert target_of(tmp_path, "prod").reach.context == "one"
    assert target_of(tmp_path, "dev").reach.context is None
