"""Registers planned objects with the engine in Pulumi's own protocol, past the SDK's machinery for a single resource.

The SDK serializes, resolves and reports every resource for itself, which takes it and the engine several milliseconds each. A
plan is plain data, so one message for each resource is enough. The messages are the ones that the SDK would send, without its
stack traces; tests hold them side by side.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import grpc
import pulumi
from google.protobuf.json_format import MessageToDict
from pulumi.runtime import rpc, settings
from pulumi.runtime.proto import resource_pb2

from tenantry.kube.objects import ObjectId
from tenantry.rollout.turns import Turn

from .gates import Gates

Request: TypeAlias = resource_pb2.RegisterResourceRequest


@dataclass(frozen=True, slots=True, eq=False)
class Registration:
    """A resource as the engine is asked for it. What only the engine's answers tell is added before it is sent.

    inputs: None for a component, which has none. parent: None for the component that holds all others.
    turn: when it may be sent; None: as soon as what it needs has been answered.
    """

    request: Request
    inputs: Mapping[str, Any] | None
    parent: Registration | None
    depends_on: Sequence[Registration] = ()
    turn: Turn | None = None


Answers: TypeAlias = dict[Registration, "asyncio.Task[str]"]
"""The URNs of what has been sent; those of a parent and of dependencies come before."""


class Last(Protocol):
    """Makes the object that is sent after all others have been answered."""

    async def registration(self, registrar: Registrar, *, complete: bool) -> Registration | None:
        """complete: whether the engine could change everything. None: there is no such object."""

    def answered(self, outputs: Mapping[str, Any]) -> None:
        """What the engine has of the object; empty if there is none."""

    def failed(self, error: Exception) -> None:
        """The object is not sent, because the run has failed."""


class Check(Protocol):
    """Looks at some objects when all have been registered. ids: which ones."""

    @property
    def ids(self) -> frozenset[ObjectId]: ...

    async def check(self, answers: Mapping[ObjectId, Mapping[str, Any]]) -> None:
        """answers: what the engine says that each object is. Raises: RunError: something is wrong."""


class Registrar:
    """Collects what belongs below one component, then sends each request when those before it have been answered."""

    def __init__(
        self,
        root: pulumi.ComponentResource,
        provider: pulumi.ProviderResource,
        gates: Gates,
        *,
        protect: bool | None = None,
        kept: Collection[ObjectId] = (),
    ) -> None:
        """protect: that of the component, which all below it take over. gates: decide when objects of a wave are sent.
        kept: objects that stay as they are.

        Raises: RunError: the program has transformations for what the SDK registers, and this would pass by them.
        """
        if getattr(root, "_transformations", None):
            raise pulumi.RunError(
                "transformations in the program do not see the fleet's objects\n"
                "  fix: use pulumi.runtime.register_resource_transform, which has the engine call them"
            )
        self._root = root
        self._provider = provider
        self._gates = gates
        self._protect = protect
        self.kept = kept
        self._collected: list[Registration] = []
        self._last: Last | None = None
        self._check: Check | None = None
        self._checked: Mapping[Registration, ObjectId] = {}
        self._answers: dict[ObjectId, Mapping[str, Any]] = {}
        self._complete = True

    def component(
        self,
        kind: str,
        name: str,
        parent: Registration | None,
        depends_on: Sequence[Registration] = (),
        *,
        protect: bool | None = None,
    ) -> Registration:
        """depends_on: may grow until `start`. protect: None: as the component above all."""
        request = self._request(kind, name)
        if protect is not None:
            request.protect = protect
        return self._add(Registration(request, None, parent, depends_on))

    def object(
        self,
        kind: str,
        name: str,
        inputs: Mapping[str, Any],
        parent: Registration | None,
        depends_on: tuple[Registration, ...],
        turn: Turn | None,
        **options: Any,
    ) -> Registration:
        """An object of a kind of Kubernetes. options: further fields of the request."""
        request = self._request(kind, name, custom=True, **options)
        return self._add(Registration(request, inputs, parent, depends_on, turn))

    def start(
        self,
        last: Last | None = None,
        check: Check | None = None,
        registered: Mapping[ObjectId, Registration] | None = None,
    ) -> None:
        """Send everything. The program ends after the last answer, or with the first error.

        registered: the registrations of all objects, some of which are checked in the end.
        """
        self._last, self._check = last, check
        self._checked = {registered[id]: id for id in check.ids if id in registered} if check and registered else {}
        # The SDK waits at the end of the program for all calls that its manager knows.
        manager = settings.SETTINGS.rpc_manager
        self._sending = asyncio.ensure_future(manager.do_rpc("register objects", self._send)())

    def _add(self, registration: Registration) -> Registration:
        self._collected.append(registration)
        return registration

    def _request(self, kind: str, name: str, *, protect: bool | None = None, **options: Any) -> Request:
        return Request(
            type=kind,
            name=name,
            protect=protect or self._protect,
            acceptSecrets=True,
            acceptResources=os.getenv("PULUMI_DISABLE_RESOURCE_REFERENCES", "").upper() not in {"TRUE", "1"},
            supportsPartialValues=True,
            supportsResultReporting=True,
            hooks=Request.ResourceHooksBinding(),
            **options,
        )

    async def _send(self) -> None:
        root = await self._root.urn.future() or ""
        provider = f"{await self._provider.urn.future()}::{await self._provider.id.future() or rpc.UNKNOWN}"
        answers: Answers = {}
        completed = []
        for each in self._collected:
            answers[each] = asyncio.create_task(self._register(each, root, provider, answers))
            if each.inputs is None:
                completed.append(asyncio.create_task(_complete(answers[each])))
        leading = asyncio.create_task(self._gates.lead((each.turn, task) for each, task in answers.items()))
        tasks = [*answers.values(), *completed, leading]
        try:
            await asyncio.gather(*tasks)
            if self._check and self._complete:
                await self._check.check(self._answers)
            if self._last:
                await self._end(self._last, root, provider, answers)
        except Exception as error:
            if self._last:
                self._last.failed(error)
            raise
        finally:
            # After a failure nothing more is sent, while the program ends.
            for task in tasks:
                task.cancel()

    async def _end(self, last: Last, root: str, provider: str, answers: Answers) -> None:
        registration = await last.registration(self, complete=self._complete)
        answer = await self._sent(registration, root, provider, answers) if registration else None
        last.answered(rpc.deserialize_properties(answer.object) if answer else {})

    async def _register(self, registration: Registration, root: str, provider: str, answers: Answers) -> str:
        await self._gates.wait(registration.turn)
        answer = await self._sent(registration, root, provider, answers)
        if answer.result != resource_pb2.SUCCESS:
            self._complete = False
            self._gates.failed(registration.turn)
        if registration in self._checked:
            self._answers[self._checked[registration]] = _plain(MessageToDict(answer.object))
        return str(answer.urn)

    async def _sent(self, registration: Registration, root: str, provider: str, answers: Answers) -> Any:
        request = registration.request
        request.parent = await answers[registration.parent] if registration.parent else root
        request.dependencies.extend([await answers[each] for each in registration.depends_on])
        if registration.inputs is None:
            request.object.SetInParent()
            request.providers[self._provider.package] = provider
        else:
            request.provider = provider
            await _put(registration.inputs, request)
        return await _call("RegisterResource", request)


async def _put(inputs: Mapping[str, Any], request: Request) -> None:
    """Add the inputs. Each says that it depends on no resource; without that, all would depend on what the object depends on."""
    if any(isinstance(each, pulumi.Output) for each in inputs.values()):
        request.object.CopyFrom(await rpc.serialize_properties(inputs, {}))
    else:
        request.object.update({name: value for name, value in inputs.items() if value is not None})
    for name in request.object:
        request.propertyDependencies[name].SetInParent()


_SECRET, _SIGNATURE = "4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270"
"""How Pulumi's protocol marks a secret value."""


def _plain(value: Any) -> Any:
    """An answer with its secret values. Never print it."""
    if isinstance(value, dict):
        return (
            _plain(value.get("value")) if value.get(_SECRET) == _SIGNATURE else {k: _plain(v) for k, v in value.items()}
        )
    return [_plain(each) for each in value] if isinstance(value, list) else value


async def _complete(urn: asyncio.Task[str]) -> None:
    """Say that a component has no outputs, which completes it in what Pulumi shows."""
    await _call("RegisterResourceOutputs", resource_pb2.RegisterResourceOutputsRequest(urn=await urn, outputs={}))


async def _call(method: str, request: Any) -> Any:
    """The engine's answer, which comes when the resource is as it should be.

    It is awaited in one of the threads that the language host starts for this, four for each operation that may run at a time.
    """
    send = getattr(settings.get_monitor(), method)

    def answer() -> Any:
        try:
            return send(request)
        except grpc.RpcError as error:
            return settings.handle_grpc_error(error)

    return await asyncio.to_thread(answer)
