"""The rules as Pulumi policies. The only module that imports Pulumi's policy SDK.

A value that is known only in `up` is not a violation in a preview: the SDK reports which policy it could not run, and the
engine runs it in `up`.
"""

from __future__ import annotations

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyPack,
    PolicyProviderResource,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)

from policy.resource import Provider, Resource
from policy.rule import ObjectRule, StackRule, check_object, name_of, reason_of
from policy.rules import OBJECT_RULES, STACK_RULES
from policy.stack import Stack

PACK = "tenantry"


def policies() -> list[Policy]:
    """All rules, each under its own name, so that a configuration can enable or disable each."""
    return [*map(_object_policy, OBJECT_RULES), *map(_stack_policy, STACK_RULES)]


def serve(served: list[Policy]) -> None:
    """Serve the engine until it ends this process."""
    PolicyPack(PACK, served, enforcement_level=EnforcementLevel.MANDATORY)


def _object_policy(rule: ObjectRule) -> ResourceValidationPolicy:
    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        for violation in check_object(rule, _resource(args)):
            report(str(violation), None)

    return ResourceValidationPolicy(name_of(rule), reason_of(rule), validate)


def _stack_policy(rule: StackRule) -> StackValidationPolicy:
    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        for violation in rule(Stack(map(_resource, args.resources))):
            report(str(violation), violation.resource.urn)

    return StackValidationPolicy(name_of(rule), reason_of(rule), validate)


def _resource(given: ResourceValidationArgs | PolicyResource) -> Resource:
    return Resource(given.urn, given.resource_type, given.props, _provider(given.provider))


def _provider(given: PolicyProviderResource | None) -> Provider | None:
    return Provider(given.name, bool(given.props.get("renderYamlToDirectory"))) if given else None
