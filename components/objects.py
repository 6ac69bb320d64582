"""Planned objects as Pulumi resources, and when the engine is sent each of them: after what it depends on, and in its wave.

The plan decides the content of an object; the components choose its parent.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple, TypeVar

import pulumi
from pulumi.resource import DependencyResource
from pulumi.runtime import stack

from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.turns import Turns
from tenantry.stacks.targets import CLUSTER, FLEET, PLACEMENT, TENANT, parent_type, type_token

from .gates import Answer, Gates
from .moving import Moving
from .staying import EVERYTHING

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

    def after(self, needed: Iterable[pulumi.Resource]) -> pulumi.Output[list[pulumi.Resource]]:
        """Dependencies of a resource, which is sent when they have been answered. needed: may grow until then."""
        # Not `from_input`, which takes the list apart and looks at every resource.
        return self._now.apply(lambda _: self.answered(needed))

    async def answered(self, needed: Iterable[pulumi.Resource]) -> list[pulumi.Resource]:
        """What others can depend on. Raises: what has ended the run: nothing more is sent."""
        resources = [answer.resource for each in needed if (answer := await self.of(each)).resource]
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
        self._needed: dict[tuple[str, int], list[pulumi.Resource]] = defaultdict(list)
        self._gates: dict[tuple[str, int], pulumi.Stash] = {}

    def before(self, id: ObjectId) -> list[pulumi.Resource]:
        """The gate that an app's object comes after, if there is one."""
        app, position = self._place(id)
        return [self._gate(app, position - 1)] if position else []

    def took(self, id: ObjectId, resource: pulumi.Resource) -> None:
        """An object is created, and the gate after it depends on it."""
        app, position = self._place(id)
        if position is not None and position < len(self._waves[app]) - 1:
            self._needed[app, position].append(resource)

    def _place(self, id: ObjectId) -> tuple[str, int | None]:
        """The app of an object, and the position of its wave among the app's; None: it is no app's object, or in no wave."""
        app = self._app.get(id)
        return (app, self._waves[app].index(self._turns.of[id].wave)) if app else ("", None)

    def _gate(self, app: str, position: int) -> pulumi.Stash:
        """It is made when something of the next wave is: in a run, all of its own wave exists then."""
        key = app, position
        if key not in self._gates:
            needed = self._needed[key]
            if position:
                needed.insert(0, self._gate(app, position - 1))
            # Its name changes, so nothing may keep the old one.
            opts = pulumi.ResourceOptions(parent=self._parent, depends_on=self._answers.after(needed), protect=False)
            gate = pulumi.Stash(self._names[app][position], input=app, opts=opts)
            self._answers.expect(gate, self._parent, gate.input)
            self._gates[key] = gate
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

    Most are created while the program builds the components. One that waits for its wave, or for its new source, is created when
    its time comes: only then is it known whether it stays as it is. What depends on such an object is created after it.

    created: the objects so far. late: those that are created later, or left out.
    """

    def __init__(
        self,
        answers: Answers,
        steps: Steps,
        kept: Collection[ObjectId],
        moving: Moving,
    ) -> None:
        """kept: objects that stay as they are, whatever the plan says of them. moving: the apps that move to another source, and
        what can stay as it is.
        """
        self.created: dict[ObjectId, Object] = {}
        self.late: dict[ObjectId, asyncio.Future[Answer]] = {}
        self.moving = moving
        self._answers = answers
        self._steps = steps
        self._kept = kept
        self._parents: dict[tuple[str, str], pulumi.ComponentResource] = {}

    def create(self, planned: Iterable[KubeObject], parent: pulumi.ComponentResource) -> list[asyncio.Future[Answer]]:
        """Create objects below a component. Dependencies go from object to object: one on a component would mean everything below
        it, and would grow with the fleet.

        Returns: those that are created later.
        """
        kind = parent.pulumi_resource_type
        self._parents[kind, "" if kind == FLEET else parent.pulumi_resource_name] = parent
        late: list[asyncio.Future[Answer]] = []
        for one in planned:
            if self._is_late(one):
                self.late[one.id] = found = asyncio.ensure_future(self._in_time(one, parent))
                found.add_done_callback(lambda done: done.cancelled() or done.exception())
                late.append(found)
            else:
                needed = [*(self.created[id] for id in one.depends_on), *self._steps.before(one.id)]
                self._create(one, parent, self._answers.after(needed) if needed else None)
        return late

    def answer(self, id: ObjectId) -> asyncio.Future[Answer]:
        """What the engine says of an object that was given to `create`."""
        return self.late[id] if id in self.late else self._answers.of(self.created[id])

    def keep(self, gone: KubeObject, urn: str, why: str) -> Object:
        """Register what the plan no longer has as it is, below the component of its owner, and after what it depends on.

        Args:   urn: of the state. why: what needs the object.
        Raises: RunError: nothing has the place of the URN.
        """
        id = gone.id
        if id in self.created:
            return self.created[id]
        kind, (tenant, cluster) = parent_type(urn), gone.owner
        name = {TENANT: tenant, CLUSTER: cluster, PLACEMENT: f"{tenant}/{cluster}"}.get(kind, "")
        above = {CLUSTER: (FLEET, ""), PLACEMENT: (TENANT, tenant)}.get(kind)
        if (kind, name) not in self._parents and above in self._parents:
            # It has no other objects any more.
            own = pulumi.ResourceOptions(parent=self._parents[above])
            self._parents[kind, name] = pulumi.ComponentResource(kind, name, None, own)
        if not (parent := self._parents.get((kind, name))):
            raise pulumi.RunError(f"{why} stays on {id}, which this run would delete, so the run ends here")
        after = [self.created[each] for each in gone.depends_on if each in self.created]
        return self._create(gone, parent, self._answers.after(after), EVERYTHING)

    def close(self) -> None:
        """Make the gates that nothing has waited for, because it went early: the next run has them too."""
        for id in self._answers.gates.early:
            self._steps.before(id)

    def _is_late(self, planned: KubeObject) -> bool:
        gates = self._answers.gates
        return (
            gates.holds(planned.id)
            or self.moving.of(planned.id) is not None
            or any(id in self.late for id in planned.depends_on)
        )

    async def _in_time(self, planned: KubeObject, parent: pulumi.ComponentResource) -> Answer:
        """Create an object when its time has come; or leave it out, if it has to stay as it is and does not exist."""
        gates = self._answers.gates
        await gates.wait(planned.id)
        answers = [await self.answer(id) for id in planned.depends_on]
        needed = [each.resource for each in answers if each.resource]
        is_lacking = len(needed) < len(answers)
        if planned.id not in gates.early:
            needed += await self._answers.answered(self._steps.before(planned.id))
        ignored: Sequence[str] = ()
        if is_lacking or gates.stays(planned.id):
            if not self.moving.staying.exists(planned.id):
                return Answer(None, ok=True)
            ignored, kept = EVERYTHING, self.moving.staying.keep(planned, self.keep)
            needed += kept
        elif move := self.moving.of(planned.id):
            ignored, kept = await self.moving.settle(move, self.keep)
            needed += kept
        gates.check()
        made = self._create(planned, parent, needed, ignored)
        return await self._answers.of(made)

    def _create(
        self,
        planned: KubeObject,
        parent: pulumi.ComponentResource,
        depends_on: pulumi.Output[list[pulumi.Resource]] | Sequence[pulumi.Resource] | None,
        ignored: Sequence[str] = (),
    ) -> Object:
        """ignored: the changes that the engine ignores besides."""
        opts = _options(planned, parent, EVERYTHING if planned.id in self._kept else ignored)
        if depends_on is not None:
            opts.depends_on = depends_on
        with without_positions():
            made = self.created[planned.id] = Object(planned, opts)
        self._answers.expect(made, parent, made.kind)
        self._steps.took(planned.id, made)
        return made


def _options(planned: KubeObject, parent: pulumi.ComponentResource, ignored: Sequence[str]) -> pulumi.ResourceOptions:
    # Deletion keeps the provider's own timeout, which an annotation would shorten too.
    patience = f"{planned.ready_within}s" if planned.ready_within else None
    opts = pulumi.ResourceOptions(
        parent=parent,
        protect=planned.protect or None,
        retain_on_delete=planned.retained or None,
        ignore_changes=[*ignored, *(() if ignored is EVERYTHING else map(_property, planned.rewritten))] or None,
        custom_timeouts=pulumi.CustomTimeouts(create=patience, update=patience) if patience else None,
    )
    return pulumi.ResourceOptions.merge(opts, _SECRETS) if planned.secret else opts


def _property(path: Iterable[str]) -> str:
    """A path as Pulumi writes it: `["metadata"]["annotations"]["example.com/owner"]`."""
    return "".join(f"[{json.dumps(key)}]" for key in path)


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
