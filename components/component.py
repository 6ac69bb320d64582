"""A component below the fleet."""

from __future__ import annotations

from typing import Protocol

from .registering import Registrar, Registration
from .steps import Steps


class Parent(Protocol):
    """What can hold objects and components. registration: None for the fleet itself."""

    registrar: Registrar
    steps: Steps
    registration: Registration | None


class Component:
    """A resource that only groups others, and that the SDK does not know."""

    registration: Registration | None

    def __init__(self, kind: str, name: str, parent: Parent) -> None:
        self.registrar = parent.registrar
        self.steps = parent.steps
        self.registration = parent.registrar.component(kind, name, parent.registration)
