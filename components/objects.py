"""Planned and held objects as Pulumi resources. The plan decides the content of an object; the components are its parents."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pulumi

from tenantry.kube.objects import KubeObject, ObjectId, Owner
from tenantry.stacks.states import CLUSTER, PLACEMENT, TENANT, type_token

from .state import State, StateObject

_EVERYTHING = ["*"]
"""The engine takes the former inputs of an object then."""
_SECRETS = pulumi.ResourceOptions(replace_on_changes=["type"], delete_before_replace=True)
"""The API server lets no Secret change its type, so one of another type takes its place."""


class Object(pulumi.CustomResource):
    """An object with its manifest unchanged: the provider accepts one for every kind, under a type token made of apiVersion and
    kind.
    """

    def __init__(self, id: ObjectId, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__(type_token(id), id.logical_name, {**manifest}, opts)
        self._fields = tuple(manifest)

    async def content(self) -> dict[str, Any]:
        """What the engine says that the object is, with its secret values. Never print it.

        A field may be unknown. `Output.all` would look for outputs in every value below, which takes a third of a run that creates.
        """
        outputs = ((name, getattr(self, name)) for name in self._fields)
        return {name: await output.future(with_unknowns=True) for name, output in outputs}


@dataclass(slots=True)
class Objects:
    """Registers objects below the components of their owners, each after what it depends on.

    timeout: seconds for a deletion. state: what a held object is registered with. created: the objects so far.
    """

    timeout: int
    state: State
    parents: dict[Owner, pulumi.ComponentResource] = field(default_factory=dict)
    created: dict[ObjectId, Object] = field(default_factory=dict)

    def create(self, planned: KubeObject) -> Object:
        """Register a planned object. Dependencies lead from object to object: one on a component would mean everything below it,
        and would grow with the fleet.
        """
        opts = pulumi.ResourceOptions(
            parent=self.parents[planned.owner],
            depends_on=[self.created[id] for id in planned.depends_on if id in self.created],
            protect=planned.protect or None,
            retain_on_delete=planned.retained or None,
            # As Pulumi writes a path: `["metadata"]["annotations"]["example.com/owner"]`.
            ignore_changes=["".join(f"[{json.dumps(key)}]" for key in path) for path in planned.rewritten] or None,
            custom_timeouts=pulumi.CustomTimeouts(delete=f"{self.timeout}s"),
        )
        if planned.secret:
            opts = pulumi.ResourceOptions.merge(opts, _SECRETS)
        return self._register(planned.id, planned.manifest, opts)

    def hold(self, before: StateObject) -> Object:
        """Register an object with what the state has, so that it remains as it was applied last."""
        manifest, ignored = before.inputs, list(before.ignored)
        if before.is_secret:
            # The program does not have the values, and the engine takes the former ones.
            metadata = {
                key: before.inputs["metadata"][key] for key in ("name", "namespace") if key in before.inputs["metadata"]
            }
            manifest = {"apiVersion": before.id.api_version, "kind": before.id.kind, "metadata": metadata}
            ignored = _EVERYTHING
        timeouts = {key: f"{seconds}s" for key, seconds in before.timeouts.items()}
        opts = pulumi.ResourceOptions(
            parent=self._parent(before.owner),
            depends_on=[self.created[id] for id in before.dependencies if id in self.created],
            protect=before.protect or None,
            retain_on_delete=before.retained or None,
            ignore_changes=ignored or None,
            custom_timeouts=pulumi.CustomTimeouts(**timeouts) if timeouts else None,
        )
        return self._register(before.id, manifest, opts)

    def finish(
        self, planned: Mapping[ObjectId, KubeObject], held: Collection[ObjectId], missing: Collection[ObjectId]
    ) -> None:
        """Register everything that is left, each after what it depends on.

        Args:   planned: what is not registered yet. held: planned objects, and those of the state.
                missing: planned objects that the cluster does not have.
        """
        begun: set[ObjectId] = set()

        def ensure(ids: Iterable[ObjectId]) -> None:
            for id in ids:
                if id in self.created or id in begun:
                    continue
                begun.add(id)
                if id in held:
                    before = self.state.object(id)
                    # What the state does not have is left out, and a Secret whose values only the cluster had.
                    if before and not (before.is_secret and id in missing):
                        ensure(before.dependencies)
                        self.hold(before)
                elif object := planned.get(id):
                    ensure(object.depends_on)
                    self.create(object)

        ensure((*planned, *held))

    def _register(self, id: ObjectId, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions) -> Object:
        with without_positions():
            self.created[id] = made = Object(id, manifest, opts)
        return made

    def _parent(self, owner: Owner) -> pulumi.ComponentResource:
        """The component of an owner. One that left the plan is registered again, as long as it has a held object."""
        if owner not in self.parents:
            kind, name, above = _component(owner)
            opts = pulumi.ResourceOptions(parent=self._parent(above))
            self.parents[owner] = pulumi.ComponentResource(kind, name, None, opts)
        return self.parents[owner]


def _component(owner: Owner) -> tuple[str, str, Owner]:
    """The type and name of an owner's component, and the owner above."""
    tenant, cluster = owner
    if tenant and cluster:
        return PLACEMENT, f"{tenant}/{cluster}", Owner(tenant)
    return (TENANT, tenant, Owner()) if tenant else (CLUSTER, cluster, Owner())


@contextmanager
def without_positions() -> Iterator[None]:
    """Let the SDK find no source positions below the fleet, which has its own.

    It sends all lines that lead to a resource, which are the same lines of this package for all objects: a quarter of the state.
    """
    before = getattr(sys, "tracebacklimit", None)
    sys.tracebacklimit = 3
    try:
        yield
    finally:
        if before is None:
            del sys.tracebacklimit
        else:
            sys.tracebacklimit = before
