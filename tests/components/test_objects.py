"""What the engine is sent for each object, when, and what Pulumi's own options do to it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import grpc
import pulumi
import pytest
from pulumi.runtime import rpc

from components.fleet import Fleet
from components.secrets import SecretConfig, with_secrets
from tenantry.kube.objects import ObjectId, SecretValues
from tenantry.plan.plan import Plan
from tests.components.plans import CREDENTIAL, PLAN, REMOTE_APP, unchecked
from tests.components.recording import Monitor, Recording, record
from tests.table import table

FILLED = SecretValues(("credentials", "rocky", "git"), ("password",))
UNUSUAL: dict[str, Any] = {"null": None, "deep": {"null": None, "list": [1, 2.5, True, None, [{}]], "": "\u00e9\n"}}
CHANGED: dict[ObjectId, dict[str, Any]] = {
    REMOTE_APP.id: {"protect": True, "manifest": {**REMOTE_APP.manifest, **UNUSUAL}},
    CREDENTIAL.id: {"secret": FILLED},
}
EVERYTHING = replace(PLAN, objects=tuple(replace(each, **CHANGED.get(each.id, {})) for each in PLAN.objects))
"""A plan with all that a registration can have."""

KEPT = pulumi.ResourceOptions(protect=True)


def filled(plan: Plan) -> Plan:
    """The plan with made-up values in all of its Secrets."""
    values: dict[str, Any] = {}
    for planned in plan.objects:
        at = values
        for part in planned.secret.path if planned.secret else ():
            at = at.setdefault(part, {})
        at.update(dict.fromkeys(planned.secret.keys if planned.secret else (), "geheim"))
    return with_secrets(plan, SecretConfig(values))


def fleet(opts: pulumi.ResourceOptions | None = None, plan: Plan | None = None) -> Fleet:
    """Secrets get their values in the program, because these are Pulumi's."""
    plan = plan or EVERYTHING
    return Fleet("fleet", opts=opts, run=unchecked(filled(plan)))


def sent(plan: Plan) -> Recording:
    """What the engine is sent."""
    return record(lambda: fleet(plan=plan))


def test_a_value_of_a_secret_is_marked_for_the_engine() -> None:
    (secret,) = (each for each in sent(EVERYTHING).requests if each.type == "kubernetes:core/v1:Secret")
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


def test_a_fleet_makes_its_provider_itself() -> None:
    def build() -> None:
        fleet(pulumi.ResourceOptions(provider=pulumi.ProviderResource("kubernetes", "other", {})))

    with pytest.raises(pulumi.RunError, match=r"^a fleet makes the provider of its management cluster itself: "):
        record(build)


def test_no_object_says_where_in_this_package_it_was_made_and_errors_keep_their_lines() -> None:
    requests = {each.name: each for each in sent(EVERYTHING).requests}
    assert not any(len(requests[each.logical_name].stackTrace.frames) for each in EVERYTHING.objects)
    assert len(requests["fleet"].stackTrace.frames)
    assert not hasattr(sys, "tracebacklimit")


def test_transforms_of_the_program_see_every_object() -> None:
    seen: list[str] = []

    def build() -> None:
        def protected(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult:
            seen.append(args.name)
            return pulumi.ResourceTransformationResult(args.props, pulumi.ResourceOptions.merge(args.opts, KEPT))

        fleet(pulumi.ResourceOptions(transformations=[protected]))

    objects = record(build).requests
    names = {each.name for each in objects if each.type.startswith("kubernetes:")}
    assert names == {each.logical_name for each in EVERYTHING.objects} <= set(seen)
    assert all(each.protect for each in objects if each.name in names)


@table("of", [lambda made: made, lambda made: made.tenants["rocky"]], ids=["fleet", "tenant"])
def test_what_depends_on_a_component_waits_for_all_objects_below(of: Callable[[Fleet], pulumi.Resource]) -> None:
    def build() -> None:
        made = fleet()
        opts = pulumi.ResourceOptions(depends_on=[of(made)])
        pulumi.CustomResource("kubernetes:core/v1:ConfigMap", "after", {}, opts)

    (after,) = (each for each in record(build).objects if each.key.name == "after")
    own = [each for each in EVERYTHING.objects if each.owner.tenant]
    assert {each.name for each in after.depends_on} >= {each.logical_name for each in own}


def test_what_protects_the_fleet_protects_every_object() -> None:
    requests = record(lambda: fleet(KEPT)).requests
    assert {each.protect for each in requests if each.type.startswith("kubernetes:")} == {True}


def test_fields_that_the_api_server_writes_otherwise_are_ignored() -> None:
    path = ("metadata", "annotations", "example.com/owner")
    changed = replace(EVERYTHING, objects=tuple(replace(each, rewritten=(path,)) for each in EVERYTHING.objects))
    ignored = {tuple(each.ignoreChanges) for each in sent(changed).requests if each.type.startswith("kubernetes:")}
    assert ignored == {('["metadata"]["annotations"]["example.com/owner"]',)}


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
        sent(EVERYTHING)
