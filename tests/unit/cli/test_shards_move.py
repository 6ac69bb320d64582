"""`tenantry shards move`, with states and claims in memory: what it does, what it refuses, and how it goes on after a crash."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, cast

import pytest

from tenantry.cli.shards import steps
from tenantry.cli.shards.backend import Backend
from tenantry.cli.shards.steps import Division
from tenantry.guard.claims import Claim
from tenantry.messages.errors import Refused
from tenantry.plan.shards import Shard, shard_of
from tenantry.stacks.division import tenants_of
from tests.unit.stacks.states import TENANTS, shards_of


class Killed(BaseException):
    """The process ends."""


class World:
    """States, stacks' files and claims. Each change counts; the process is killed at the one that `lives` says."""

    def __init__(self, project: Path, count: int = 1) -> None:
        self.project, self.lives, self.changes, self.locked = project, -1, 0, ""
        self.states = shards_of(count)
        self.claims: dict[str, Claim] = {}
        for index, name in enumerate(self.states, 1):
            claim = Claim("prod", f"shop/{name}", Shard(index, count))
            self.claims[claim.name] = claim
            shard = f"tenantry:shard: {claim.shard}" if count > 1 else ""
            self._file(name).write_text(f"config: {{tenantry:environment: prod, {shard}}}\n")
        (project / "Pulumi.yaml").write_text("name: shop\n")

    def live(self) -> None:
        self.changes += 1
        if self.changes == self.lives:
            raise Killed

    def stacks(self) -> set[str]:
        return {*self.states}

    def state(self, stack: str) -> dict[str, Any]:
        return deepcopy(self.states[stack])

    def check_unlocked(self, stack: str) -> None:
        if stack == self.locked:
            raise Refused("the stack is locked", "wait")

    def write(self, stack: str, state: dict[str, Any]) -> None:
        self.live()
        self.states[stack] = deepcopy(state)

    def create(self, stack: str, like: str) -> None:
        self.live()
        self._file(stack).write_text(self._file(like).read_text())
        self.live()
        self.states[stack] = {"version": 3, "deployment": {}}

    def set(self, stack: str, key: str, value: str) -> None:
        self.live()
        config = {**self.config(stack), key: value}
        self._file(stack).write_text("config:\n" + "".join(f"  {each}: {config[each]}\n" for each in config))

    def unset(self, stack: str, key: str) -> None:
        self.set(stack, key, '""')

    def config(self, stack: str) -> dict[str, str]:
        import yaml

        return cast("dict[str, str]", yaml.safe_load(self._file(stack).read_text())["config"])

    def _file(self, stack: str) -> Path:
        return self.project / f"Pulumi.{stack}.yaml"

    def mark(self, _: object, __: str, there: Iterable[Claim], moving: int) -> None:
        for each in there:
            self.live()
            self.claims[each.name] = Claim(each.environment, each.stack, each.shard, moving)

    def settle(self, _: object, __: str, there: Iterable[Claim], wanted: Iterable[Claim]) -> None:
        new = {each.name: each for each in wanted}
        for each in there:
            if each.name not in new:
                self.live()
                self.claims.pop(each.name, None)
        for claim in reversed(new.values()):
            self.live()
            self.claims[claim.name] = claim

    def division(self, count: int) -> Division:
        return Division(cast("Any", self), cast("Backend", self), self.project, "platform", "prod", count)

    def move(self, count: int) -> list[str]:
        told: list[str] = []
        self.division(count).run(told.append)
        return told


@pytest.fixture(autouse=True)
def _in_memory(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(steps, "claims_on", lambda world, _: [*world.claims.values()])
    monkeypatch.setattr(steps, "mark", lambda world, *rest: world.mark(world, *rest))
    monkeypatch.setattr(steps, "settle", lambda world, *rest: world.settle(world, *rest))
    return


def check_complete(world: World, count: int) -> None:
    names = ["prod", *(f"prod-{index}" for index in range(2, count + 1))]
    assert [each.shard for each in world.claims.values() if each.moving] == []
    assert {each.stack: str(each.shard) for each in world.claims.values()} == {
        f"shop/{name}": f"{index}/{count}" for index, name in enumerate(names, 1)
    }
    for index, name in enumerate(names, 1):
        assert {*tenants_of(world.states[name])} == {each for each in TENANTS if shard_of(each, count) == index}
        assert world.config(name).get("tenantry:shard") in ({"", None} if count == 1 else {f"{index}/{count}"})
    assert all(tenants_of(state) == {} for name, state in world.states.items() if name not in names)


def test_one_stack_becomes_two(tmp_path: Path) -> None:
    world = World(tmp_path)
    assert world.move(2) == [
        "begun: no run of 'prod' can start until the move is complete",
        "made stack 'prod-2' with the settings of 'prod'",
        "wrote the state of 'prod-2'",
        "wrote the state of 'prod'",
        "set tenantry:shard of prod, prod-2",
        "the claims on the cluster name the new shards",
    ]
    check_complete(world, 2)
    assert world.division(2).is_done


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 4), (3, 1)])
def test_a_move_that_is_killed_anywhere_is_completed_by_the_same_command(
    tmp_path: Path, before: int, after: int
) -> None:
    for lives in range(1, 40):
        world = World(tmp_path, before)
        world.lives = lives
        try:
            world.move(after)
        except Killed:
            assert {each for state in world.states.values() for each in tenants_of(state)} == {*TENANTS}
            first = world.claims["tenantry-prod"]
            if world.states != shards_of(before):
                assert first.moving or first.shard.count == after
            world.lives = -1
            if not world.division(after).is_done:
                world.move(after)
        else:
            assert lives > 5
            return
        finally:
            if world.lives == -1:
                check_complete(world, after)
            for file in tmp_path.glob("Pulumi.*.yaml"):
                file.unlink()
    raise AssertionError("the move never ended")


def test_a_locked_stack_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    world = World(tmp_path, 2)
    before, claims = deepcopy(world.states), dict(world.claims)
    world.locked = "prod-2"
    with pytest.raises(Refused, match="the stack is locked"):
        world.move(4)
    assert (world.states, world.claims) == (before, claims)


def test_a_stack_whose_last_run_did_not_finish_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    world = World(tmp_path, 2)
    claims = dict(world.claims)
    world.states["prod-2"]["deployment"]["pending_operations"] = [{}]
    with pytest.raises(Refused, match="the last run of stack 'prod-2' was interrupted"):
        world.move(4)
    assert world.claims == claims


def test_another_count_while_a_move_is_not_complete_is_refused(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.lives = 3
    with pytest.raises(Killed):
        world.move(2)
    with pytest.raises(Refused) as refused:
        world.division(3)
    assert str(refused.value) == (
        "environment 'prod' is being divided into 2 shards, and that is not complete\n"
        "  fix: tenantry shards move --environment prod --to 2"
    )


def test_an_environment_that_no_stack_runs_yet_has_nothing_to_move(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.claims.clear()
    with pytest.raises(Refused) as refused:
        world.division(2)
    assert str(refused.value) == (
        "no stack runs environment 'prod' yet, so there is nothing to move\n"
        "  fix: set tenantry:shard of each stack before its first `tenantry up`"
    )


def test_a_dry_run_says_who_would_move_and_changes_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    planned = world.division(2).planned()
    assert [(each.tenant, each.source, each.dest) for each in planned.moves] == [
        ("otto", "prod", "prod-2"),
        ("zoe", "prod", "prod-2"),
    ]
    assert world.changes == 0
