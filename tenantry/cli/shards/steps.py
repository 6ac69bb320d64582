"""The steps of `tenantry shards move`, each of which can be repeated after an interruption.

1. Note on the claims that the states change: from then on, the guard refuses every run of the environment.
2. Make sure that no run is at work, and that the last ones finished. Otherwise, take the note back.
3. Make missing stacks. 4. Write the states that gain tenants, then those that lose them: no tenant is ever in none.
5. Set `tenantry:shard` of each stack. 6. Write the claims of the new shards, which ends the note.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tenantry.cli.shards.backend import Backend
from tenantry.cluster.claiming import mark, settle
from tenantry.cluster.inventory import claims_on
from tenantry.guard.claims import Claim
from tenantry.messages.errors import Refused
from tenantry.messages.problems import refuse
from tenantry.messages.text import listed
from tenantry.plan.shards import WHOLE, Shard
from tenantry.stacks.division import Divided, Document, Move, divided, unclean
from tenantry.stacks.file import NAMESPACE
from tenantry.stacks.project import read_stacks

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


class Division:
    """An environment that is divided into another number of shards. Raises: Refused: in all steps."""

    def __init__(
        self, client: Client, backend: Backend, project: Path, platform: str, environment: str, count: int
    ) -> None:
        self.environment, self.count = environment, count
        self._client, self._backend, self._project, self._platform = client, backend, project, platform
        self._claims = [each for each in claims_on(client, platform) if each.environment == environment]
        self._check()
        self.names = self._names()
        self.leaving = sorted({_stack(each) for each in self._claims} - {*self.names})

    @property
    def before(self) -> int:
        """How many shards the environment has, or had before an interrupted move."""
        return min((each.shard.count for each in self._claims if each.moving), default=self._claims[0].shard.count)

    @property
    def is_done(self) -> bool:
        wanted = {each.data["stack"]: each for each in self._wanted()}
        return all(wanted.get(each.stack) == each for each in self._claims)

    @property
    def _resumes(self) -> bool:
        return any(each.moving for each in self._claims)

    def planned(self) -> Divided:
        """What would move, with the states as they are."""
        there = self._backend.stacks()
        states = {name: self._backend.state(name) if name in there else _new() for name in (*self.names, *self.leaving)}
        return self._divided(states)

    def run(self, tell: Callable[[str], None]) -> Sequence[Move]:
        """Do what is left to do. tell: is told each step that is done."""
        resumed, there = self._resumes, self._backend.stacks()
        mark(self._client, self._platform, self._claims, self.count)
        tell(
            f"{'resuming' if resumed else 'begun'}: no run of '{self.environment}' can start until the move is complete"
        )
        try:
            for name in (*self.names, *self.leaving):
                if name in there:
                    self._backend.check_unlocked(name)
            self._divided({name: self._backend.state(name) for name in (*self.names, *self.leaving) if name in there})
        except Refused:
            if not resumed:
                mark(self._client, self._platform, self._claims, 0)
            raise
        self._create(there, tell)
        states = {name: self._backend.state(name) for name in (*self.names, *self.leaving)}
        done = self._divided(states)
        self._write(done, tell)
        self._configure(tell)
        settle(self._client, self._platform, self._claims, self._wanted())
        tell("the claims on the cluster name the new shards")
        return done.moves

    def _check(self) -> None:
        if not self._claims:
            raise Refused(
                f"no stack runs environment '{self.environment}' yet, so there is nothing to move",
                f"set {NAMESPACE}:shard of each stack before its first `tenantry up`",
            )
        moving = next((each.moving for each in self._claims if each.moving), self.count)
        if moving != self.count:
            raise Refused(
                f"environment '{self.environment}' is being divided into {moving} shards, and that is not complete",
                f"tenantry shards move --environment {self.environment} --to {moving}",
            )
        known = {each.name for each in read_stacks(self._project)}
        if missing := sorted({_stack(each) for each in self._claims} - known):
            raise Refused(
                f"{self._project} has no file of {listed(missing)}, which runs a part of '{self.environment}'",
                "run the command in the project of these stacks",
            )

    def _names(self) -> list[str]:
        """The stacks of the new shards in their order: those that run them, those with such a setting, or new ones."""
        running = {each.shard.index: _stack(each) for each in self._claims}
        set_up = {
            each.shard.index: each.name
            for each in read_stacks(self._project)
            if each.environment == self.environment and each.shard.count == self.count and not each.target.files
        }
        found = {**set_up, **running}
        return [found.get(index, f"{running[1]}-{index}") for index in range(1, self.count + 1)]

    def _wanted(self) -> list[Claim]:
        project = self._claims[0].stack.rpartition("/")[0]
        kept = sorted({entry for each in self._claims for entry in each.kept})
        shards = [Shard(index, self.count) for index in range(1, self.count + 1)]
        return [
            Claim(
                self.environment,
                f"{project}/{name}",
                shard,
                kept=tuple(entry for entry in kept if shard.holds(entry.tenant)),
            )
            for name, shard in zip(self.names, shards, strict=True)
        ]

    def _divided(self, states: dict[str, Document]) -> Divided:
        refuse(problem for name, state in states.items() for problem in unclean(name, state))
        complete = {name: states.get(name, _new()) for name in (*self.names, *self.leaving)}
        return divided(complete, self._wanted(), self._platform)

    def _create(self, there: set[str], tell: Callable[[str], None]) -> None:
        for index, name in enumerate(self.names, 1):
            if name not in there:
                self._backend.create(name, self.names[0])
                tell(f"made stack '{name}' with the settings of '{self.names[0]}'")
            if index > 1:
                self._backend.set(name, f"{NAMESPACE}:environment", self.environment)

    def _write(self, done: Divided, tell: Callable[[str], None]) -> None:
        gaining = {each.dest for each in done.moves}
        for name in sorted(done.states, key=lambda each: each not in gaining):
            self._backend.write(name, done.states[name])
            tell(f"wrote the state of '{name}'")

    def _configure(self, tell: Callable[[str], None]) -> None:
        for claim in self._wanted():
            if claim.shard == WHOLE:
                self._backend.unset(_stack(claim), f"{NAMESPACE}:shard")
            else:
                self._backend.set(_stack(claim), f"{NAMESPACE}:shard", str(claim.shard))
        tell(f"set {NAMESPACE}:shard of {listed(self.names)}")


def _new() -> Document:
    return {"version": 3, "deployment": {"resources": []}}


def _stack(claim: Claim) -> str:
    return claim.stack.rpartition("/")[2]
