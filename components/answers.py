"""What Pulumi's engine says of the resources that others depend on, and what a resource is told to depend on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pulumi
from pulumi.resource import DependencyResource
from pulumi.runtime.stack import ResourceRegistrationFailed

from tenantry.kube.objects import ObjectId

from .gates import Answer, Gates

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Answers:
    """The engine's answers, which come when the program has ended and its resources are sent.

    With `--continue-on-error` the engine goes on after a resource has failed, and skips what depends on it. The SDK would end the
    program with a traceback instead, because it tells no URN of a resource that failed. So what has failed is named by its URN,
    which is known beforehand.
    """

    gates: Gates
    _parents: dict[pulumi.Resource, pulumi.Resource] = field(default_factory=dict)
    _asked: dict[pulumi.Resource, asyncio.Future[Answer]] = field(default_factory=dict)
    _now: pulumi.Output[None] = field(default_factory=lambda: pulumi.Output.from_input(None))

    def expect(self, resource: pulumi.CustomResource, parent: pulumi.Resource) -> None:
        """Call it for every resource that `after` may name."""
        self._parents[resource] = parent

    def of(self, resource: pulumi.Resource) -> asyncio.Future[Answer]:
        """The answer about a resource that is expected. Raises: what has kept the resource from being sent."""
        if resource not in self._asked:
            self._asked[resource] = _answer(resource, self._parents[resource])
        return self._asked[resource]

    def after(
        self, needed: Iterable[pulumi.Resource], id: ObjectId | None = None
    ) -> pulumi.Output[list[pulumi.Resource]]:
        """Dependencies of a resource, which is sent when they have been answered and its wave has begun.

        needed: may grow until the program ends. id: of an object, which may belong to a wave.
        """
        # Not `from_input`, which takes the list apart and looks at every resource.
        return self._now.apply(lambda _: self._answered(needed, id))

    async def _answered(self, needed: Iterable[pulumi.Resource], id: ObjectId | None) -> list[pulumi.Resource]:
        await self.gates.wait(id)
        resources = [(await self.of(each)).resource for each in needed]
        self.gates.check()
        return resources


def _answer(resource: pulumi.Resource, parent: pulumi.Resource) -> asyncio.Future[Answer]:
    answer: asyncio.Future[Answer] = _quiet()

    def failed(error: Exception) -> None:
        if not isinstance(error, ResourceRegistrationFailed):
            answer.set_exception(error)
            return
        urn = pulumi.create_urn(resource.pulumi_resource_name, resource.pulumi_resource_type, parent)
        urn.apply(lambda urn: answer.set_result(Answer(DependencyResource(urn), ok=False)))

    resource.urn.apply(lambda _: answer.set_result(Answer(resource, ok=True))).recover(failed)
    return answer


def future_of(output: pulumi.Output[T]) -> asyncio.Future[T]:
    """The value of an output, to be awaited. It is a plain value, even if it is secret."""
    future: asyncio.Future[Any] = _quiet()
    output.apply(future.set_result, run_with_unknowns=True).recover(future.set_exception)
    return future


def _quiet() -> asyncio.Future[Any]:
    """A future whose error nobody has to ask for, because the SDK reports it."""
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    future.add_done_callback(lambda done: done.cancelled() or done.exception())
    return future
