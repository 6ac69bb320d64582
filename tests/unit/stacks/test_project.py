"""The stacks of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.messages.errors import Refused
from tenantry.plan.shards import WHOLE
from tenantry.stacks.project import stacks_of, stacks_running, target_of


def test_each_file_is_a_stack_that_runs_the_environment_of_its_name_or_the_one_it_sets(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    (tmp_path / "Pulumi.prod.yaml").write_text("{}\n")
    (tmp_path / "Pulumi.blue.yaml").write_text("config: {tenantry:environment: staging}\n")
    assert [(each.name, each.environment, each.shard) for each in stacks_of(tmp_path)] == [
        ("prod", "prod", WHOLE),
        ("blue", "staging", WHOLE),
    ]


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


def test_shards_of_an_environment_come_in_their_order(tmp_path: Path) -> None:
    stacks(
        tmp_path, prod="shard=1/3", a="environment=prod shard=3/3", z="environment=prod shard=2/3", dev="target=cluster"
    )
    assert [(each.name, str(each.shard)) for each in stacks_of(tmp_path)] == [
        ("dev", "1/1"),
        ("prod", "1/3"),
        ("z", "2/3"),
        ("a", "3/3"),
    ]
    assert [each.name for each in stacks_running(tmp_path, "prod")] == ["prod", "z", "a"]


def test_an_environment_without_a_stack_of_its_name_is_reached_as_its_first_shard_says(tmp_path: Path) -> None:
    stacks(tmp_path, b="environment=prod shard=1/2 context=one", a="environment=prod shard=2/2 context=one")
    assert target_of(tmp_path, "prod").context == "one"
    assert target_of(tmp_path, "dev").context is None


def test_files_of_the_whole_environment_may_be_written_beside_its_shards(tmp_path: Path) -> None:
    stacks(tmp_path, prod="shard=1/2", prod_2="environment=prod shard=2/2", files="environment=prod target=directory")
    assert len(stacks_of(tmp_path)) == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"prod": "shard=1/3", "prod_2": "environment=prod shard=2/3"},
            "no stack runs 1 shard of environment 'prod': 3/3\n"
            "  fix: pulumi stack init NAME; pulumi config set tenantry:environment prod --stack NAME; pulumi config set"
            " tenantry:shard 3/3 --stack NAME",
        ),
        (
            {"prod": "shard=1/2", "b": "environment=prod shard=2/2", "c": "environment=prod shard=2/2"},
            "stacks 'b', 'c' run the same shard 2/2 of environment 'prod'\n"
            "  fix: give each stack a shard of its own: pulumi config set tenantry:shard I/2 --stack NAME",
        ),
        (
            {"prod": "shard=1/2", "b": "environment=prod shard=2/3"},
            "the stacks of environment 'prod' count different numbers of shards: prod (1/2), b (2/3)\n"
            "  fix: give all of them the same number; to change it: tenantry shards move --environment prod --to 3",
        ),
        (
            {"prod": "context=one", "a": "environment=prod shard=1/2", "b": "environment=prod shard=2/2"},
            "stack 'prod' would run all of environment 'prod' beside the shards of stacks 'a', 'b'\n"
            "  fix: tenantry shards move --environment prod --to 2; or remove the file of the stack that is not needed",
        ),
        (
            {"prod": "shard=1/2 context=one", "b": "environment=prod shard=2/2 context=two"},
            "the stacks of environment 'prod' do not have the same target: stacks 'prod', 'b'\n"
            "  fix: give all of them the same tenantry:target, tenantry:kubeconfig and tenantry:context",
        ),
        (
            {
                "prod": "shard=1/2 target=directory directory=out",
                "b": "environment=prod shard=2/2 target=directory directory=./out",
            },
            "some of stacks 'prod', 'b' write to the same directory, and each would remove the others' files\n"
            "  fix: give each stack a tenantry:directory of its own; without the setting they are rendered/prod/shard-1 and"
            " so on",
        ),
        (
            {"prod": "shard=9/8"},
            "tenantry:shard is '9/8', but must be a shard such as 2/8, the second of eight; there are at most 64\n"
            "  fix: pulumi config set --stack prod tenantry:shard 2/8; for the whole environment: pulumi config rm"
            " --stack prod tenantry:shard",
        ),
    ],
)
def test_shards_that_do_not_fit_together_are_refused(tmp_path: Path, settings: dict[str, str], message: str) -> None:
    with pytest.raises(Refused) as refused:
        stacks_of(stacks(tmp_path, **settings))
    assert str(refused.value) == message
