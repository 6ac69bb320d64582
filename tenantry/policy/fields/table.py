"""What a table of fields is, and how an object is compared with one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tenantry.policy.resource import Resource
from tenantry.policy.tenants import Place


@dataclass(frozen=True, slots=True)
class Filled:
    """An object of a tenant, and where it belongs: what a check may ask about beside the value."""

    resource: Resource
    place: Place

    @property
    def is_on_target(self) -> bool:
        """Whether the object is on the cluster where the tenant's pods are, and not beside its kubeconfig."""
        return self.place.kubeconfig is None or self.resource.by is not None


Check: TypeAlias = Callable[[Any, Filled], str]
"""What is wrong with a value, as the words between the object and the path of the field; "" if nothing is."""


@dataclass(frozen=True, slots=True)
class Each:
    """A list, whose entries are all of one form."""

    form: Field


@dataclass(frozen=True, slots=True)
class Keys:
    """A mapping whose keys are the author's own, with values of one form."""

    form: Field


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """A check: nothing here, because a rule of its own looks at this field. rule: its function's name."""

    rule: str

    def __call__(self, _: Any, __: Filled) -> str:
        return ""


Table: TypeAlias = Mapping[str, "Field"]
"""The fields of a mapping that may be there."""
Field: TypeAlias = Check | Table | Each | Keys


def problems(form: Field, value: Any, of: Filled, path: str) -> Iterator[tuple[str, str]]:
    """Everything below a path that is not as its table says, each with its path."""
    if value is None:
        return
    if isinstance(form, Each):
        yield from _of_list(form.form, value, of, path)
    elif isinstance(form, Mapping | Keys):
        if not isinstance(value, Mapping):
            yield path, "holds no mapping"
            return
        for key, inner in value.items():
            below = f"{path}.{key}" if path else key
            if isinstance(form, Keys):
                yield from problems(form.form, inner, of, below)
            elif key in form:
                yield from problems(form[key], inner, of, below)
            else:
                yield below, "fills a field that no tenant may fill"
    elif problem := form(value, of):
        yield path, problem


def _of_list(form: Field, value: Any, of: Filled, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        yield path, "holds no list"
        return
    for index, each in enumerate(value):
        yield from problems(form, each, of, f"{path}[{index}]")
