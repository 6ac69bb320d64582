"""Runs Pulumi code without an engine, and records its requests to the engine.

Pulumi's own mocks see neither parents nor dependencies, and accept two resources of the same name. So the monitor is
recorded, one level below. Read a recording only after `record` has returned: only then is everything registered.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pulumi
from pulumi.runtime import mocks, rpc
from pulumi.runtime.settings import SETTINGS, get_root_resource, set_root_resource
from pulumi.runtime.stack import Stack

PROVIDER = "pulumi:providers:kubernetes"


class Key(NamedTuple):
    """What a resource is called in a stack."""

    type: str
    name: str


@dataclass(frozen=True, slots=True)
class Registration:
    """One request to register a resource.

    environment: what a provider's process finds under another name. replaced_for: inputs whose change makes it anew.
    patience: how long to wait for its creation, its update and its deletion.
    """

    key: Key
    parent: Key | None
    inputs: Mapping[str, Any]
    provider: Key | None
    depends_on: frozenset[Key]
    environment: Mapping[str, str]
    replaced_for: tuple[str, ...]
    patience: tuple[str, str, str]

    @property
    def is_object(self) -> bool:
        return self.key.type.startswith("kubernetes:")

    @property
    def is_component(self) -> bool:
        return self.key.type.startswith("tenantry:")


@dataclass(slots=True)
class Recording:
    """registered: in the order of arrival; requests: as they arrived; completed: components that called register_outputs, once
    for each call; outputs: of the stack, as the engine gets them.
    """

    requests: list[Any] = field(default_factory=list)
    registered: list[Registration] = field(default_factory=list)
    completed: list[Key] = field(default_factory=list)
    exports: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)

    @property
    def objects(self) -> list[Registration]:
        return [each for each in self.registered if each.is_object]

    @property
    def components(self) -> list[Registration]:
        return [each for each in self.registered if each.is_component]

    @property
    def provider(self) -> Registration:
        (provider,) = (each for each in self.registered if each.key.type == PROVIDER)
        return provider


def record(
    build: Callable[[], object],
    *,
    stack: str = "dev",
    config: Mapping[str, str] | None = None,
    state: Sequence[str] = (),
) -> Recording:
    """Run `build` as the program of a stack. Raises: what `build` raises, also while resources are being registered.

    state: the URNs of the stack's resources.
    """
    recording = Recording()
    # Pulumi keeps its settings and the stack in context variables, so a context of its own keeps runs apart.
    contextvars.copy_context().run(_run, build, stack, dict(config or {}), recording, _Echo(state))
    return recording


def _run(build: Callable[[], object], stack: str, config: dict[str, str], recording: Recording, echo: _Echo) -> None:
    pulumi.runtime.set_mocks(echo, project="tenantry", stack=stack, monitor=Monitor(recording, echo))
    pulumi.runtime.set_all_config(config)

    # The mocks come with a stack whose program has ended.
    set_root_resource(None)
    SETTINGS.rpc_manager.clear()
    SETTINGS.outputs.clear()

    def program() -> None:
        build()

    within = contextvars.copy_context()
    loop = asyncio.get_event_loop()  # as the mocks have made it
    loop.run_until_complete(loop.create_task(pulumi.runtime.run_in_stack(program), context=within))
    root = within.run(get_root_resource)
    assert isinstance(root, Stack)
    recording.exports.update(root.outputs)


class _Echo(pulumi.runtime.Mocks):
    def __init__(self, state: Sequence[str]) -> None:
        self._state = state

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        return f"{args.name}-id", args.inputs

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        if args.token == "pulumi:pulumi:readStackResourceOutputs":
            return {"outputs": {urn: {"outputs": {}} for urn in self._state}}, []
        raise AssertionError(f"the program called {args.token}; all it needs should be in the plan")


class Monitor(mocks.MockMonitor):
    """Called from several threads at once."""

    def __init__(self, recording: Recording, echo: _Echo) -> None:
        super().__init__(echo)
        self._recording = recording
        self._lock = threading.Lock()

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """A URN of one project and stack, also in a thread, where the mocks of some versions of the SDK know neither."""
        _, _, types, name = super().make_urn(parent, type_, name).split("::")
        return f"urn:pulumi:dev::tenantry::{types}::{name}"

    def RegisterResource(self, request: Any) -> Any:
        response = super().RegisterResource(request)  # type: ignore[no-untyped-call]
        if request.type != "pulumi:pulumi:Stack":
            with self._lock:
                self._recording.requests.append(request)
                self._recording.registered.append(_registration(request))
        return response

    def RegisterResourceOutputs(self, request: Any) -> Any:
        key = _key(request.urn)
        with self._lock:
            if key.type == "pulumi:pulumi:Stack":
                self._recording.outputs = rpc.deserialize_properties(request.outputs)
            else:
                self._recording.completed.append(key)
        return super().RegisterResourceOutputs(request)  # type: ignore[no-untyped-call]


def _registration(request: Any) -> Registration:
    return Registration(
        key=Key(request.type, request.name),
        parent=_key(request.parent) if request.parent else None,
        inputs=rpc.deserialize_properties(request.object),
        # A reference to a provider is its URN and its id.
        provider=_key(request.provider.rpartition("::")[0]) if request.provider else None,
        depends_on=frozenset(_key(urn) for urn in request.dependencies),
        environment=dict(request.envVarMappings),
        replaced_for=tuple(request.replaceOnChanges) if request.deleteBeforeReplace else (),
        patience=(request.customTimeouts.create, request.customTimeouts.update, request.customTimeouts.delete),
    )


def _key(urn: str) -> Key:
    _, _, types, name = urn.split("::")
    return Key(types.rpartition("$")[2], name)
