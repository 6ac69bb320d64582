"""What a rule is: a function whose name says what holds, and whose docstring tells whoever broke it why."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import cleandoc
from typing import TypeAlias

from policy.resource import Resource
from policy.stack import Stack


@dataclass(frozen=True, slots=True)
class Violation:
    """what: names the object and what is wrong with it. fix: what to do, in the imperative. No value of a Secret in either."""

    resource: Resource
    what: str
    fix: str

    def __str__(self) -> str:
        return f"{self.what}\nfix: {self.fix}"


ObjectRule: TypeAlias = Callable[[Resource], Iterator[Violation]]
"""About one object alone. The engine asks before it creates the object."""
StackRule: TypeAlias = Callable[[Stack], Iterator[Violation]]
"""About several objects. The engine asks when all are registered: at the end of a preview, and at the end of an `up`."""


def check_object(rule: ObjectRule, resource: Resource) -> Iterator[Violation]:
    """What the rule says of one resource of a stack, of which not all are objects."""
    if resource.is_object:
        yield from rule(resource)


def name_of(rule: ObjectRule | StackRule) -> str:
    """What the rule is called in messages and in the configuration."""
    return rule.__name__.replace("_", "-")


def reason_of(rule: ObjectRule | StackRule) -> str:
    """Why the rule is there, on one line."""
    return " ".join(cleandoc(rule.__doc__ or "").split())
