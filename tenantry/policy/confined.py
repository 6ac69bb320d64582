"""Whether a plan is confined: nothing of a tenant reaches anything that the main file does not give it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenantry.policy.main_file import MainFile
from tenantry.policy.resource import Resource
from tenantry.policy.rule import Violation, name_of
from tenantry.policy.rules import FRAME_RULES, STACK_RULES
from tenantry.policy.stack import Stack
from tenantry.policy.tenants import Tenants


def escapes(objects: Iterable[Resource], file: MainFile) -> Iterator[tuple[str, Violation]]:
    """Everything by which a tenant leaves its frame, with the rule that says so; nothing if the stack is confined."""
    stack = Stack(objects)
    tenants = Tenants(stack, file)
    for frame_rule in FRAME_RULES:
        yield from ((name_of(frame_rule), each) for each in frame_rule(tenants))
    for rule in STACK_RULES:
        yield from ((name_of(rule), each) for each in rule(stack))
