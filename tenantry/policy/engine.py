"""The rules as Pulumi policies. The only module that imports Pulumi's policy SDK.

Rules about frames need the platform's main file. Without it they say nothing, and the others run.

A value that is known only in `up` is not a violation in a preview: the SDK reports which policy it could not run, and the
engine runs it in `up`.
"""

from __future__ import annotations

import io
import json
import os
import sys
from functools import cache
from pathlib import Path

try:
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
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"the policy pack needs the Python package '{missing.name}': run `pip install 'tenantry[policy]'`,"
        " or `make setup` in a checkout",
        name=missing.name,
    ) from None

from tenantry.policy.main_file import MainFile, read
from tenantry.policy.resource import Provider, Resource
from tenantry.policy.rule import FrameRule, ObjectRule, StackRule, check_object, name_of, reason_of
from tenantry.policy.rules import FIELD_RULES, FRAME_RULES, OBJECT_RULES, STACK_RULES
from tenantry.policy.stack import Stack
from tenantry.policy.tenants import Tenants

PACK = "tenantry"
FILE = "TENANTRY_FILE"
"""The environment variable with the path of the main file."""
_FILE_OF_THE_STACK = "tenantry:file"


def policies() -> list[Policy]:
    """All rules, each under its own name, so that a configuration can enable or disable each."""
    of_frames = (_field_policy(each) if each in FIELD_RULES else _frame_policy(each) for each in FRAME_RULES)
    return [*map(_object_policy, OBJECT_RULES), *map(_stack_policy, STACK_RULES), *of_frames]


def serve(served: list[Policy]) -> None:
    """Serve the engine until it ends this process."""
    # pulumi-policy writes its port without flushing it, and the engine waits for the port.
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "wb", closefd=False), write_through=True)
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


def _frame_policy(rule: FrameRule) -> StackValidationPolicy:
    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        if main := main_file():
            for violation in rule(Tenants(Stack(map(_resource, args.resources)), main)):
                report(str(violation), violation.resource.urn)

    return StackValidationPolicy(name_of(rule), reason_of(rule), validate)


def _field_policy(rule: FrameRule) -> ResourceValidationPolicy:
    """Of what is registered: at the end of a run the engine shows objects as they are on the cluster, with more fields."""

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        if main := main_file():
            for violation in rule(Tenants(Stack([_resource(args)]), main)):
                report(str(violation), None)

    return ResourceValidationPolicy(name_of(rule), reason_of(rule), validate)


@cache
def main_file() -> MainFile | None:
    """The main file of the fleet: that of the environment variable, else the project's; None: there is none.

    The engine starts the pack in its own directory and does not say where the project is. It hands on the project's name, the
    stack's configuration, and the directory of the shell that started it.
    """
    if (named := os.environ.get(FILE)) is not None:
        return read(Path(named)) if named else None
    name = json.loads(os.environ.get("PULUMI_CONFIG") or "{}").get(_FILE_OF_THE_STACK) or "tenants.yaml"
    for directory in (Path(os.environ.get("PWD", ".")), Path.cwd().parent):
        if _is_project(directory) and (directory / name).exists():
            return read(directory / name)
    return None


def _is_project(directory: Path) -> bool:
    """Whether the running project is there."""
    file, running = directory / "Pulumi.yaml", os.environ.get("PULUMI_PROJECT")
    return bool(running) and file.exists() and f"name: {running}" in file.read_text().splitlines()


def _resource(given: ResourceValidationArgs | PolicyResource) -> Resource:
    return Resource(given.urn, given.resource_type, given.props, _provider(given.provider))


def _provider(given: PolicyProviderResource | None) -> Provider | None:
    return Provider(given.name, bool(given.props.get("renderYamlToDirectory"))) if given else None
