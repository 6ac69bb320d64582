"""A planned object as a Pulumi resource. The plan decides its content; the components choose its parent."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any

import pulumi

from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.stacks.targets import type_token

from .answers import Answers
from .steps import Steps

_SECRETS = pulumi.ResourceOptions(replace_on_changes=["type"], delete_before_replace=True)
"""The API server lets no Secret change its type, so one of another type takes its place."""

_EVERYTHING = ["*"]
"""The engine takes the former inputs of an object then."""


class Object(pulumi.CustomResource):
    """An object with its manifest unchanged: the provider accepts one for every kind, under a type token made of apiVersion and
    kind.
    """

    def __init__(self, planned: KubeObject, opts: pulumi.ResourceOptions) -> None:
        super().__init__(type_token(planned.id), planned.logical_name, {**planned.manifest}, opts)
        self._fields = tuple(planned.manifest)

    def content(self) -> pulumi.Output[Any]:
        """What the engine says that the object is, with its secret values. Never print it."""
        return pulumi.Output.all(**{name: getattr(self, name) for name in self._fields})


class Objects:
    """Creates the objects of a plan in its order: what an object depends on exists before it.

    created: the objects so far.
    """

    def __init__(self, answers: Answers, steps: Steps, kept: Collection[ObjectId]) -> None:
        """kept: objects that stay as they are, whatever the plan says of them."""
        self.created: dict[ObjectId, Object] = {}
        self._answers = answers
        self._steps = steps
        self._kept = kept

    def create(self, planned: Iterable[KubeObject], parent: pulumi.ComponentResource) -> None:
        """Create objects below a component. Dependencies go from object to object: one on a component would mean everything below
        it, and would grow with the fleet.
        """
        for one in planned:
            needed = [*(self.created[id] for id in one.depends_on), *self._steps.before(one.id)]
            opts = _options(one, parent, ignore_all=one.id in self._kept)
            if needed or self._answers.gates.holds(one.id):
                opts.depends_on = self._answers.after(needed, one.id)
            self.created[one.id] = Object(one, opts)
            self._answers.expect(self.created[one.id], parent)
            self._steps.took(one.id, self.created[one.id])


def _options(planned: KubeObject, parent: pulumi.ComponentResource, *, ignore_all: bool) -> pulumi.ResourceOptions:
    # Deletion keeps the provider's own timeout, which an annotation would shorten too.
    patience = f"{planned.ready_within}s" if planned.ready_within else None
    opts = pulumi.ResourceOptions(
        parent=parent,
        protect=planned.protect or None,
        retain_on_delete=planned.retained or None,
        ignore_changes=_EVERYTHING if ignore_all else [*map(_property, planned.rewritten)] or None,
        custom_timeouts=pulumi.CustomTimeouts(create=patience, update=patience) if patience else None,
    )
    return pulumi.ResourceOptions.merge(opts, _SECRETS) if planned.secret else opts


def _property(path: Iterable[str]) -> str:
    """A path as Pulumi writes it: `["metadata"]["annotations"]["example.com/owner"]`."""
    return "".join(f"[{json.dumps(key)}]" for key in path)
