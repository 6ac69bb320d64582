"""Whether a plan is confined: nothing of a tenant reaches anything that the main file does not give it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tenantry.policy.frame import frame_of
from tenantry.policy.main_file import MainFile
from tenantry.policy.resource import Resource, mapping
from tenantry.policy.rule import Violation, name_of
from tenantry.policy.rules import FRAME_RULES, STACK_RULES
from tenantry.policy.stack import Stack
from tenantry.policy.tenants import Tenants


@dataclass(frozen=True, slots=True)
class Permitted:
    """What a run lets tenants do without an object that shows it, so that the engine never sees it.

    adopting: tenants that may take over existing objects. own_waves: apps, as `tenant/app`, that keep out of the environment's
    waves.
    """

    adopting: frozenset[str] = frozenset()
    own_waves: frozenset[str] = frozenset()


def escapes(objects: Iterable[Resource], file: MainFile) -> Iterator[tuple[str, Violation]]:
    """Everything by which a tenant leaves its frame, with the rule that says so; nothing if the stack is confined."""
    stack = Stack(objects)
    tenants = Tenants(stack, file)
    for frame_rule in FRAME_RULES:
        yield from ((name_of(frame_rule), each) for each in frame_rule(tenants))
    for rule in STACK_RULES:
        yield from ((name_of(rule), each) for each in rule(stack))


def not_given(permitted: Permitted, file: MainFile) -> Iterator[tuple[str, str]]:
    """What tenants may do in a run although the main file does not say so: a name of the rule, and what it is in words."""
    for tenant in sorted(permitted.adopting):
        frame = frame_of(file, tenant)
        if frame is None or frame.own.get("adopt") is not True:
            yield "adoption", f"tenant '{tenant}' takes over objects that exist already"
    for app in sorted(permitted.own_waves):
        tenant, _, name = app.partition("/")
        frame = frame_of(file, tenant)
        written = mapping(mapping(frame.own.get("apps")).get(name)) if frame else {}
        if frame is None or not (frame.leaves("rollout") or "rollout" in written):
            yield "waves", f"app '{app}' does not keep to the waves of its environment"
