"""The stack that runs an environment."""

from __future__ import annotations

from pathlib import Path

from tenantry.messages.errors import Refused
from tenantry.stacks.file import target_of
from tests.table import table


def stacks(directory: Path, **settings: str) -> Path:
    """A project; settings: of each stack, "_" in its name standing for "-"."""
    (directory / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    for name, config in settings.items():
        pairs = (each.partition("=") for each in config.split())
        lines = "".join(f"  tenantry:{key}: {value}\n" for key, _, value in pairs)
        (directory / f"Pulumi.{name.replace('_', '-')}.yaml").write_text(f"config:\n{lines}")
    return directory


@table(
    ("settings", "expected"),
    [
        ({}, "prod"),
        ({"prod": "context=a"}, "prod"),
        ({"live": "environment=prod", "dev": "context=a"}, "live"),
        ({"copy": "environment=prod", "prod": "context=a"}, "prod"),
        (
            {"copy": "environment=prod", "live": "environment=prod"},
            "the files of several stacks name environment 'prod': copy, live",
        ),
    ],
)
def test_a_stack_runs_the_environment_of_its_name_or_the_one_it_sets(
    settings: dict[str, str], expected: str, tmp_path: Path
) -> None:
    for file in tmp_path.iterdir():
        file.unlink()
    try:
        found = target_of(stacks(tmp_path, **settings), "prod").name
    except Refused as refused:
        found = refused.message
    assert found == expected


def test_the_stack_says_how_its_cluster_is_reached(tmp_path: Path) -> None:
    stacks(tmp_path, live="environment=prod context=one")
    assert target_of(tmp_path, "prod").reach.context == "one"
    assert target_of(tmp_path, "dev").reach.context is None
