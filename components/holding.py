"""Secrets of tenants whose values nobody has set: each is held alone, and everything else of the run goes through.

What is held and exists is registered with all changes ignored, so that it stays as it is: what is not registered is deleted. What
does not exist is left out, and Flux says what it lacks. The platform's own credentials are not held: a run without them is refused,
because add-ons and baselines are everybody's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pulumi

from tenantry.cluster import connect
from tenantry.cluster.requests import in_parallel, one
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.kube.secret_values import missing
from tenantry.messages.text import listed
from tenantry.plan.plan import Plan
from tenantry.stacks.outcome import HELD, for_stack, is_started_by_tenantry, tell

from .config import ClusterTarget
from .registering import Check
from .secrets import SecretConfig, command_of


@dataclass(frozen=True, slots=True)
class Holding:
    """kept: Secrets that exist, and stay as they are. left_out: those that do not. message: what is missing, with a fix."""

    kept: frozenset[ObjectId] = frozenset()
    left_out: frozenset[ObjectId] = frozenset()
    message: str = ""

    @property
    def ids(self) -> frozenset[ObjectId]:
        return self.kept | self.left_out

    def registered(self, plan: Plan) -> Plan:
        """The plan without what is left out."""
        if not self.left_out:
            return plan
        objects = (
            replace(each, depends_on=tuple(id for id in each.depends_on if id not in self.left_out))
            for each in plan.objects
            if each.id not in self.left_out
        )
        return replace(plan, objects=tuple(objects))

    def ending(self, check: Check | None) -> Check | None:
        """The check at the end of a run, which says what was held."""
        return _Ending(check, self.message) if self.ids else check


def holding(
    plan: Plan, secrets: SecretConfig, target: ClusterTarget, is_in_state: Callable[[ObjectId], bool]
) -> Holding:
    """What has to be held: nothing in a run that is refused, because it lacks values of the platform.

    Raises: Refused: the cluster or the state cannot be read.
    """
    lacking = [each for each in plan.objects if missing([each], secrets.values)]
    if not lacking or not all(each.owner.tenant for each in lacking):
        return Holding()
    there = _on_cluster(target, [each.id for each in lacking])
    kept = frozenset(id for id in there if is_in_state(id))
    left_out = frozenset(each.id for each in lacking) - kept
    message = for_stack(_message(lacking, secrets, kept, left_out), pulumi.get_stack())
    pulumi.log.warn(message)
    return Holding(kept, left_out, message)


def _on_cluster(target: ClusterTarget, ids: Sequence[ObjectId]) -> list[ObjectId]:
    with connect.connect(target.kubeconfig, target.context) as client, connect.answering(client.config):
        found = in_parallel(lambda id: one(client, id, metadata_only=True), ids)
    return [id for id, there in zip(ids, found, strict=True) if there]


def _message(
    lacking: Iterable[KubeObject], secrets: SecretConfig, kept: Collection[ObjectId], left_out: Collection[ObjectId]
) -> str:
    values = missing(lacking, secrets.values)
    what = "a value is" if len(values) == 1 else f"{len(values)} values are"
    done = [
        f"{listed(sorted(ids))} {one if len(ids) == 1 else several}"
        for ids, one, several in (
            (kept, "stays as it is", "stay as they are"),
            (left_out, "is left out", "are left out"),
        )
        if ids
    ]
    commands = "\n       ".join(map(command_of, values))
    return (
        f"{what} not in the stack's secret config, so {', and '.join(done)}; everything else of the run goes through"
        f"\n  fix: {commands}"
    )


@dataclass(frozen=True, slots=True)
class _Ending:
    inner: Check | None
    message: str
    ids: frozenset[ObjectId] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", self.inner.ids if self.inner else frozenset())

    async def check(self, answers: Mapping[ObjectId, Mapping[str, Any]]) -> None:
        """Raises: RunError: nobody else would say it. The engine then deletes nothing, and the next run does."""
        if self.inner:
            await self.inner.check(answers)
        if pulumi.runtime.is_dry_run():
            return
        tell(HELD)
        if not is_started_by_tenantry():
            raise pulumi.RunError(self.message)
