"""The end of a run: the waves have been led, the result is looked at, and the last object is created."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import pulumi

from tenantry.kube.objects import KubeObject, ObjectId

from .answers import Answers, future_of
from .objects import Object


class Last(Protocol):
    """Makes the object that is created after all others, when every wave is good."""

    @property
    def output(self) -> pulumi.Output[Any]: ...

    async def planned(self, *, complete: bool) -> KubeObject | None:
        """complete: whether the engine could change everything. None: there is no such object."""

    def answered(self, outputs: Mapping[str, Any]) -> None:
        """What the engine has of the object; empty if there is none."""

    def failed(self, error: Exception) -> None:
        """The object is not created, because the run has failed."""


class Check(Protocol):
    """Looks at some objects when all have been created. ids: which ones."""

    @property
    def ids(self) -> frozenset[ObjectId]: ...

    async def check(self, answers: Mapping[ObjectId, Mapping[str, Any]]) -> None:
        """answers: what the engine says that each object is. Raises: RunError: something is wrong."""


async def end(
    created: Mapping[ObjectId, Object],
    answers: Answers,
    parent: pulumi.ComponentResource,
    *,
    check: Check | None,
    last: Last | None,
) -> None:
    """Lead the waves to the end of the run.

    Raises: RunError: a wave or the check has failed, and nothing more is created.
    """
    try:
        await answers.gates.lead({id: answers.of(each) for id, each in created.items() if answers.gates.holds(id)})
        complete = all([(await answers.of(each)).ok for each in created.values()]) if check or last else True
        if check and complete:
            await check.check({id: await future_of(created[id].content()) for id in check.ids & created.keys()})
        if last:
            planned = await last.planned(complete=complete)
            own = pulumi.ResourceOptions(parent=parent)
            last.answered(await future_of(Object(planned, own).content()) if planned else {})
    except Exception as error:
        if last:
            last.failed(error)
        raise
