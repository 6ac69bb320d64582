"""What the engine is sent is what Pulumi's SDK would send it, field by field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pulumi
import pytest
from google.protobuf.json_format import MessageToDict
from pulumi.runtime import rpc
from pulumi.runtime.proto import resource_pb2

from components.config import ClusterTarget
from components.fleet import Fleet
from components.provider import management_provider
from components.secrets import SecretConfig, with_secrets
from tenantry.kube.objects import ObjectId, SecretValues
from tenantry.load import load_fleet, plan_all
from tenantry.plan.plan import Plan
from tests.components import by_sdk
from tests.components.plans import BASELINE, CREDENTIAL, PLAN, REMOTE_APP
from tests.components.recording import Monitor, Recording, record
from tests.table import table

REPOSITORY = Path(__file__).parents[2]
FILES = sorted(
    [
        REPOSITORY / "tenants.yaml",
        *REPOSITORY.glob("examples/*/tenants.yaml"),
        *REPOSITORY.glob("tests/golden/*/tenants.yaml"),
        *REPOSITORY.glob("tests/e2e/fleets/*/tenants.yaml"),
    ]
)
FILLED = SecretValues(("credentials", "rocky", "git"), ("password",))
UNUSUAL: dict[str, Any] = {"null": None, "deep": {"null": None, "list": [1, 2.5, True, None, [{}]], "": "\u00e9\n"}}
CHANGED: dict[ObjectId, dict[str, Any]] = {
    BASELINE.id: {"ready_within": 390},
    REMOTE_APP.id: {"protect": True, "manifest": {**REMOTE_APP.manifest, **UNUSUAL}},
    CREDENTIAL.id: {"secret": FILLED},
}
EVERYTHING = replace(PLAN, objects=tuple(replace(each, **CHANGED.get(each.id, {})) for each in PLAN.objects))
"""A plan with all that a registration can have."""

Build = Callable[[str, Plan, pulumi.ProviderResource, pulumi.ResourceOptions | None], object]


def filled(plan: Plan) -> Plan:
    """The plan with made-up values in all of its Secrets."""
    values: dict[str, Any] = {}
    for planned in plan.objects:
        at = values
        for part in planned.secret.path if planned.secret else ():
            at = at.setdefault(part, {})
        at.update(dict.fromkeys(planned.secret.keys if planned.secret else (), "geheim"))
    return with_secrets(plan, SecretConfig(values))


def sent(build: Build, plan: Plan, opts: pulumi.ResourceOptions | None = None) -> Recording:
    """What the engine is sent; Secrets get their values in the program, because these are Pulumi's."""
    return record(lambda: build("fleet", filled(plan), management_provider(ClusterTarget(), plan.management), opts))


def comparable(recording: Recording) -> dict[tuple[str, str], dict[str, Any]]:
    """All requests, without where they come from; dependencies are a set."""
    found = {}
    for request in recording.requests:
        request.ClearField("sourcePosition")
        request.ClearField("stackTrace")
        request.dependencies.sort()
        found[request.type, request.name] = MessageToDict(request)
    assert len(found) == len(recording.requests)
    return found


def check_equal(plan: Plan, opts: pulumi.ResourceOptions | None = None) -> None:
    direct, by_classes = sent(Fleet, plan, opts), sent(by_sdk.fleet, plan, opts)
    assert comparable(direct) == comparable(by_classes)
    assert sorted(direct.completed) == sorted(by_classes.completed)


@table("file", FILES, ids=lambda file: file.parent.name)
def test_each_fleet_is_registered_as_the_sdk_would_register_it(file: Path) -> None:
    for plan in plan_all(load_fleet(file)).values():
        check_equal(plan)


@pytest.mark.parametrize("opts", [None, pulumi.ResourceOptions(protect=True)], ids=["plain", "protected"])
def test_a_plan_with_all_that_an_object_can_have_is_registered_as_the_sdk_would_register_it(
    opts: pulumi.ResourceOptions | None,
) -> None:
    check_equal(EVERYTHING, opts)


def test_a_value_of_a_secret_is_marked_for_the_engine() -> None:
    (secret,) = (each for each in sent(Fleet, EVERYTHING).requests if each.type == "kubernetes:core/v1:Secret")
    assert secret.object["data"][rpc._special_sig_key] == rpc._special_secret_sig


def test_a_request_is_sent_after_the_answers_that_it_needs() -> None:
    def check(request: Any, answered: list[str]) -> None:
        assert {request.parent, *request.dependencies} <= set(answered)

    observed(check)


def test_an_engine_that_has_ended_ends_the_program_without_a_traceback() -> None:
    def end(request: Any, _: list[str]) -> None:
        if request.name == "edge/rocky-baseline":
            raise Failure(grpc.StatusCode.UNAVAILABLE)

    with pytest.raises(pulumi.RunError, match=r"^Resource monitor has terminated, shutting down$"):
        observed(end)


def test_what_depends_on_a_refused_resource_is_not_sent() -> None:
    def refuse(request: Any, _: list[str]) -> None:
        if request.name == "edge/rocky-baseline":
            raise Failure(grpc.StatusCode.INTERNAL)

    names: list[str] = []
    with pytest.raises(Exception, match=r"^refused$"):
        observed(refuse, names)
    assert "edge/rocky-web" not in names


def test_with_continue_on_error_the_engine_itself_skips_what_depends_on_a_resource_that_failed() -> None:
    names: list[str] = []
    observed(lambda request, _: resource_pb2.FAIL if request.name == "edge/rocky-baseline" else None, names)
    assert "edge/rocky-web" in names


def test_transformations_in_the_program_are_refused_because_they_would_see_nothing() -> None:
    def build(name: str, plan: Plan, provider: pulumi.ProviderResource, opts: pulumi.ResourceOptions | None) -> None:
        pulumi.runtime.register_stack_transformation(lambda _: None)
        Fleet(name, plan, provider, opts)

    with pytest.raises(pulumi.RunError, match=r"use pulumi\.runtime\.register_resource_transform"):
        sent(build, EVERYTHING)


class Failure(grpc.RpcError):  # type: ignore[misc]
    """What gRPC raises when a call fails."""

    def __init__(self, code: grpc.StatusCode) -> None:
        self._code = code

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return "refused"


def observed(observe: Callable[[Any, list[str]], Any], names: list[str] | None = None) -> None:
    """Register a plan; `observe` sees each request below the stack before its answer, and may decide its result."""
    answered: list[str] = []

    def register(monitor: Monitor, request: Any) -> Any:
        result = observe(request, answered) if request.parent else None
        answer = original(monitor, request)
        if result is not None:
            answer.result = result
        answered.append(answer.urn)
        if names is not None:
            names.append(request.name)
        return answer

    original = Monitor.RegisterResource
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Monitor, "RegisterResource", register)
        sent(Fleet, EVERYTHING)
