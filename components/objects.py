"""A planned object as a Pulumi resource. The plan decides its content; the components choose its parent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any, TypeVar

import pulumi
from pulumi.runtime.stack import ResourceRegistrationFailed

from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.stacks.targets import type_token

from .gates import Gates
from .steps import Steps

T = TypeVar("T")

_SECRETS = pulumi.ResourceOptions(replace_on_changes=["type"], delete_before_replace=True)
"""The API server lets no Secret change its type, so one of another type takes its place."""


class Object(pulumi.CustomResource):
    """An object with its manifest unchanged: the provider accepts one for every kind, under a type token made of apiVersion and
    kind.
    """

    def __init__(self, planned: KubeObject, opts: pulumi.ResourceOptions) -> None:
        super().__init__(type_token(planned.id), planned.logical_name, {**planned.manifest}, opts)
        self._fields = tuple(planned.manifest)

    def answer(self) -> pulumi.Output[Any]:
        """What the engine says that the object is, with its secret values. Never print it."""
        return pulumi.Output.all(**{name: getattr(self, name) for name in self._fields})


class Objects:
    """Creates the objects of a plan in its order: what an object depends on exists before it.

    created: the objects so far.
    """

    def __init__(self, gates: Gates, steps: Steps) -> None:
        self.created: dict[ObjectId, Object] = {}
        self._gates = gates
        self._steps = steps

    def create(self, planned: Iterable[KubeObject], parent: pulumi.ComponentResource) -> None:
        """Create objects below a component. Dependencies go from object to object: one on a component would mean everything below
        it, and would grow with the fleet.
        """
        for one in planned:
            needed = [*(self.created[id] for id in one.depends_on), *self._steps.before(one.id)]
            opts = _options(one, parent, self._gates.held(one.id, needed))
            self.created[one.id] = Object(one, opts)
            self._steps.took(one.id, self.created[one.id])


def _options(
    planned: KubeObject, parent: pulumi.ComponentResource, depends_on: pulumi.Input[list[pulumi.Resource]]
) -> pulumi.ResourceOptions:
    # Deletion keeps the provider's own timeout, which an annotation would shorten too.
    patience = f"{planned.ready_within}s" if planned.ready_within else None
    opts = pulumi.ResourceOptions(
        parent=parent,
        depends_on=depends_on,
        protect=planned.protect or None,
        retain_on_delete=planned.retained or None,
        ignore_changes=[*map(_property, planned.rewritten)] or None,
        custom_timeouts=pulumi.CustomTimeouts(create=patience, update=patience) if patience else None,
    )
    return pulumi.ResourceOptions.merge(opts, _SECRETS) if planned.secret else opts


def _property(path: Iterable[str]) -> str:
    """A path as Pulumi writes it: `["metadata"]["annotations"]["example.com/owner"]`."""
    return "".join(f"[{json.dumps(key)}]" for key in path)


def answered(resource: pulumi.Resource) -> asyncio.Future[bool]:
    """Whether the engine could create or change a resource, when it has answered. False: it failed, and goes on with others."""
    return future_of(resource.urn.apply(bool).recover(_failed))


def _failed(error: Exception) -> bool:
    if isinstance(error, ResourceRegistrationFailed):
        return False
    raise error


def future_of(output: pulumi.Output[T]) -> asyncio.Future[T]:
    """The value of an output, to be awaited. It is a plain value, even if it is secret."""
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    def failed(error: Exception) -> None:
        future.set_exception(error)

    output.apply(future.set_result, run_with_unknowns=True).recover(failed)
    return future
