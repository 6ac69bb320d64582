"""Planned objects as Pulumi resources, and when the engine is sent each of them: after what it depends on, and in its wave.

The plan decides the content of an object; the components choose its parent.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

import pulumi
from pulumi.resource import DependencyResource
from pulumi.runtime import stack

from tenantry.kube.objects import KubeObject, ObjectId, Owner
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.moves import Move
from tenantry.rollout.turns import Turns
from tenantry.stacks.targets import CLUSTER, FLEET, PLACEMENT, TENANT, parent_type, type_token

from .gates import Answer, Gates
from .moving import EVERYTHING, Moving

T = TypeVar("T")

_FAILED: type[Exception] | None = getattr(stack, "ResourceRegistrationFailed", None)
"""The error that outputs of a resource have which failed; None: newer SDKs leave them unknown."""


class _Expected(NamedTuple):
    """A resource's parent, and one of its fields."""

    parent: pulumi.Resource
    field: pulumi.Output[Any]


@dataclass(frozen=True, slots=True)
class Answers:
    """The engine's answers, which come when the program has ended and its resources are sent.

    With `--continue-on-error` the engine goes on after a resource has failed, and skips what depends on it. Some SDKs would end the
    program with a traceback instead, because they tell no URN of a resource that failed. So what has failed is named by its URN,
    which is known beforehand.
    """

    gates: Gates
    _expected: dict[pulumi.Resource, _Expected] = field(default_factory=dict)
    _asked: dict[pulumi.Resource, asyncio.Future[Answer]] = field(default_factory=dict)
    _now: pulumi.Output[None] = field(default_factory=lambda: pulumi.Output.from_input(None))

    def expect(self, resource: pulumi.CustomResource, parent: pulumi.Resource, field: pulumi.Output[Any]) -> None:
        """Call it for every resource that `after` may name. field: of the resource, which a resource that did not fail has."""
        self._expected[resource] = _Expected(parent, field)

    def of(self, resource: pulumi.Resource) -> asyncio.Future[Answer]:
        """The answer about a resource that is expected. Raises: what has kept the resource from being sent."""
        if resource not in self._asked:
            self._asked[resource] = _answer(resource, self._expected[resource])
        return self._asked[resource]

    def after(
        self,
        needed: Iterable[pulumi.Resource],
        id: ObjectId | None = None,
        last: Callable[[], Awaitable[list[pulumi.Resource]]] | None = None,
    ) -> pulumi.Output[list[pulumi.Resource]]:
        """Dependencies of a resource, which is sent when they have been answered and its wave has begun.

        needed: may grow until the program ends. id: of an object, which may belong to a wave. last: what is waited for after that;
        it gives further dependencies.
        """
        # Not `from_input`, which takes the list apart and looks at every resource.
        return self._now.apply(lambda _: self._answered(needed, id, last))

    async def _answered(
        self,
        needed: Iterable[pulumi.Resource],
        id: ObjectId | None,
        last: Callable[[], Awaitable[list[pulumi.Resource]]] | None,
    ) -> list[pulumi.Resource]:
        await self.gates.wait(id)
        resources = [(await self.of(each)).resource for each in needed]
        if last:
            resources += await last()
        self.gates.check()
        return resources


def _answer(resource: pulumi.Resource, expected: _Expected) -> asyncio.Future[Answer]:
    answer: asyncio.Future[Answer] = _quiet()

    def answered(value: Any) -> None:
        # With older SDKs, a resource with an unknown field is one that `--target` leaves out.
        answer.set_result(Answer(resource, ok=_FAILED is not None or value is not pulumi.UNKNOWN))

    def failed(error: Exception) -> None:
        if _FAILED is None or not isinstance(error, _FAILED):
            answer.set_exception(error)
            return
        urn = pulumi.create_urn(resource.pulumi_resource_name, resource.pulumi_resource_type, expected.parent)
        urn.apply(lambda urn: answer.set_result(Answer(DependencyResource(urn), ok=False)))

    expected.field.apply(answered, run_with_unknowns=True).recover(failed)
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


class _Gate(NamedTuple):
    """A gate, and what it comes after."""

    resource: pulumi.Stash
    needed: list[pulumi.Resource]


class Steps:
    """A gate for each wave of each app but the last: it depends on the app's objects of the wave and on the gate before, and the
    objects of the next wave depend on it. These are far fewer edges than between the objects themselves.

    A gate is one of Pulumi's own resources, which keep a value in the state. It is no component, because the SDK takes a dependency
    on a component for one on everything below it.
    """

    def __init__(
        self, apps: Iterable[PlannedApp], turns: Turns, answers: Answers, parent: pulumi.ComponentResource
    ) -> None:
        """parent: of the gates."""
        self._turns = turns
        self._answers = answers
        self._parent = parent
        self._app = {
            each.id: f"{each.tenant}/{each.name}" if each.tenant else each.name for each in apps if each.id in turns.of
        }
        members: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        for id, app in self._app.items():
            members[app][turns.of[id].wave].append(str(id))
        self._waves = {app: sorted(found) for app, found in members.items()}
        self._names = {app: _names(app, self._waves[app], found) for app, found in members.items()}
        self._gates: dict[tuple[str, int], _Gate] = {}

    def before(self, id: ObjectId) -> list[pulumi.Resource]:
        """The gate that an app's object comes after, if there is one."""
        app, position = self._place(id)
        return [self._gate(app, position - 1).resource] if position else []

    def took(self, id: ObjectId, resource: pulumi.Resource) -> None:
        """An object is created, and the gate after it depends on it."""
        app, position = self._place(id)
        if position is not None and position < len(self._waves[app]) - 1:
            self._gate(app, position).needed.append(resource)

    def _place(self, id: ObjectId) -> tuple[str, int | None]:
        """The app of an object, and the position of its wave among the app's; None: it is no app's object, or in no wave."""
        app = self._app.get(id)
        return (app, self._waves[app].index(self._turns.of[id].wave)) if app else ("", None)

    def _gate(self, app: str, position: int) -> _Gate:
        key = app, self._waves[app][position]
        if key not in self._gates:
            needed: list[pulumi.Resource] = [self._gate(app, position - 1).resource] if position else []
            # Its name changes, so nothing may keep the old one.
            opts = pulumi.ResourceOptions(parent=self._parent, depends_on=self._answers.after(needed), protect=False)
            gate = pulumi.Stash(self._names[app][position], input=app, opts=opts)
            self._answers.expect(gate, self._parent, gate.input)
            self._gates[key] = _Gate(gate, needed)
        return self._gates[key]


def _names(app: str, waves: Sequence[int], members: Mapping[int, Sequence[str]]) -> list[str]:
    """The names of an app's gates, such as `rocky/web/1-3f9a1c20`, each with a hash of all objects up to its wave."""
    digest, names = sha256(), []
    for wave in waves[:-1]:
        digest.update("\n".join((*sorted(members[wave]), "")).encode())
        names.append(f"{app}/{wave}-{digest.hexdigest()[:8]}")
    return names


_SECRETS = pulumi.ResourceOptions(replace_on_changes=["type"], delete_before_replace=True)
"""The API server lets no Secret change its type, so one of another type takes its place."""


class Object(pulumi.CustomResource):
    """An object with its manifest unchanged: the provider accepts one for every kind, under a type token made of apiVersion and
    kind.
    """

    kind: pulumi.Output[str]

    def __init__(self, planned: KubeObject, opts: pulumi.ResourceOptions) -> None:
        super().__init__(type_token(planned.id), planned.logical_name, {**planned.manifest}, opts)
        self._fields = tuple(planned.manifest)

    def content(self) -> pulumi.Output[Any]:
        """What the engine says that the object is, with its secret values. Never print it."""
        return pulumi.Output.all(**{name: getattr(self, name) for name in self._fields})


class Objects:
    """Creates the objects of a plan in its order: what an object depends on exists before it.

    created: the objects so far. moving: the apps that move to another source.
    """

    def __init__(
        self,
        answers: Answers,
        steps: Steps,
        kept: Collection[ObjectId],
        providers: Mapping[str, pulumi.ProviderResource],
        former: Mapping[ObjectId, str],
        moving: Moving,
    ) -> None:
        """kept: objects that stay as they are, whatever the plan says of them. providers: by management cluster; by "" if there is
        only one, which comes from the parent. former: names that objects still have in the state.
        """
        self.created: dict[ObjectId, Object] = {}
        self.moving = moving
        self._answers = answers
        self._steps = steps
        self._kept = kept
        self._providers = providers
        self._former = former
        self._parents: dict[tuple[str, str], pulumi.ComponentResource] = {}

    def create(self, planned: Iterable[KubeObject], parent: pulumi.ComponentResource) -> None:
        """Create objects below a component. Dependencies go from object to object: one on a component would mean everything below
        it, and would grow with the fleet.
        """
        kind = parent.pulumi_resource_type
        self._parents[kind, "" if kind == FLEET else parent.pulumi_resource_name] = parent
        for one in planned:
            needed = [*(self.created[id] for id in one.depends_on), *self._steps.before(one.id)]
            opts = _options(one, parent, ignore_all=one.id in self._kept)
            if one.hub:
                opts.provider = self._providers[one.hub]
            if former := self._former.get(one.id):
                opts.aliases = [pulumi.Alias(name=former)]
            if move := self.moving.of(one.id):
                opts.depends_on = self._answers.after(needed, one.id, self._settled(move, opts))
            elif needed or self._answers.gates.holds(one.id):
                opts.depends_on = self._answers.after(needed, one.id)
            self._made(one, opts, parent)
            self._steps.took(one.id, self.created[one.id])

    def keep(self, id: ObjectId, urn: str, move: Move, after: Sequence[pulumi.Resource]) -> Object:
        """Register what the plan no longer has as it is, for an app that does not move. urn: of the state.

        Raises: RunError: nothing above the app has the place of the URN.
        """
        kind, (tenant, cluster) = parent_type(urn), move.app.owner
        name = {TENANT: tenant, CLUSTER: cluster, PLACEMENT: f"{tenant}/{cluster}"}.get(kind, "")
        if kind == CLUSTER and (kind, name) not in self._parents:
            # It has no other objects any more.
            own = pulumi.ResourceOptions(parent=self._parents[FLEET, ""])
            self._parents[kind, name] = pulumi.ComponentResource(kind, name, None, own)
        if not (parent := self._parents.get((kind, name))):
            raise pulumi.RunError(f"{move.where} stays on {id}, which this run would delete, so the run ends here")
        metadata = {"name": id.name, "namespace": id.namespace}
        manifest = {"apiVersion": id.api_version, "kind": id.kind, "metadata": metadata}
        planned = KubeObject(manifest, Owner(tenant, cluster), hub=id.hub)
        opts = _options(planned, parent, ignore_all=True)
        if id.hub:
            opts.provider = self._providers[id.hub]
        opts.depends_on = self._answers.after(after)
        return self._made(planned, opts, parent)

    def _made(self, planned: KubeObject, opts: pulumi.ResourceOptions, parent: pulumi.ComponentResource) -> Object:
        made = self.created[planned.id] = Object(planned, opts)
        self._answers.expect(made, parent, made.kind)
        return made

    def _settled(self, move: Move, opts: pulumi.ResourceOptions) -> Callable[[], Awaitable[list[pulumi.Resource]]]:
        # The SDK reads this very list when it sends the app, after its dependencies are known.
        opts.ignore_changes = ignored = [*(opts.ignore_changes or ())]
        return lambda: self.moving.settle(move, ignored, self.keep)


def _options(planned: KubeObject, parent: pulumi.ComponentResource, *, ignore_all: bool) -> pulumi.ResourceOptions:
    # Deletion keeps the provider's own timeout, which an annotation would shorten too.
    patience = f"{planned.ready_within}s" if planned.ready_within else None
    opts = pulumi.ResourceOptions(
        parent=parent,
        protect=planned.protect or None,
        retain_on_delete=planned.retained or None,
        ignore_changes=[*EVERYTHING] if ignore_all else [*map(_property, planned.rewritten)] or None,
        custom_timeouts=pulumi.CustomTimeouts(create=patience, update=patience) if patience else None,
    )
    return pulumi.ResourceOptions.merge(opts, _SECRETS) if planned.secret else opts


def _property(path: Iterable[str]) -> str:
    """A path as Pulumi writes it: `["metadata"]["annotations"]["example.com/owner"]`."""
    return "".join(f"[{json.dumps(key)}]" for key in path)
