"""A rule is a function: its name says what must be true, and its docstring explains why to the author of a violation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import cleandoc
from typing import TypeAlias

from tenantry.policy.resource import Resource
from tenantry.policy.stack import Stack
from tenantry.policy.tenants import Tenants


@dataclass(frozen=True, slots=True)
class Violation:
    """what: names the object and what is wrong with it. fix: what to do, in the imperative. Neither repeats a Secret's value."""

    resource: Resource
    what: str
    fix: str

    def __str__(self) -> str:
        return f"{self.what}\nfix: {self.fix}"


ObjectRule: TypeAlias = Callable[[Resource], Iterator[Violation]]
"""About one object alone. The engine asks before it creates the object."""
StackRule: TypeAlias = Callable[[Stack], Iterator[Violation]]
"""About several objects. The engine asks when all are registered: at the end of a preview, and at the end of an `up`."""

FrameRule: TypeAlias = Callable[[Tenants], Iterator[Violation]]
"""About several objects and the main file."""


def check_object(rule: ObjectRule, resource: Resource) -> Iterator[Violation]:
    """The rule's violations by one resource of a stack; not every resource is an object."""
    if resource.is_object:
        yield from rule(resource)


def name_of(rule: ObjectRule | StackRule | FrameRule) -> str:
    """The rule's name in messages and in the configuration."""
    return rule.__name__.replace("_", "-")


def reason_of(rule: ObjectRule | StackRule | FrameRule) -> str:
    """Why the rule exists, on one line."""
    return " ".join(cleandoc(rule.__doc__ or "").split())
