"""What a table of fields is, how an object is compared with one, and what single values may be."""

from __future__ import annotations

import re
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


OWN_NAME = JudgedBy("tenants_name_only_what_is_theirs")
KUBECONFIG = JudgedBy("tenants_use_the_kubeconfigs_of_their_clusters")
ADDRESS = JudgedBy("tenants_reach_granted_addresses")
INTERVAL = JudgedBy("tenants_intervals_are_long_enough")
IDENTITY = JudgedBy("tenants_use_no_shared_identity")
SUBMODULES = JudgedBy("tenants_submodules_are_granted")
TOLD = JudgedBy("tenants_alerts_say_whose_they_are")
BINDING = JudgedBy("tenants_bindings_keep_to_the_frame")
_DURATION = re.compile(r"([0-9]+(\.[0-9]+)?(ms|s|m|h))+")
_REMOTE = re.compile(r":|//|\?|@|\.git(/|$)|(^|/)_git/|^github\.com(/|$)")
"""What kustomize takes for the address of a repository."""


def anything(_: Any, __: Filled) -> str:
    """The author's own content, which Flux hands on to what runs with the tenant's rights."""
    return ""


def text(value: Any, _: Filled) -> str:
    return "" if isinstance(value, str) else "holds no text"


def switch(value: Any, _: Filled) -> str:
    return "" if isinstance(value, bool) else "holds neither true nor false"


def number(value: Any, _: Filled) -> str:
    """A number; how large retries and histories may be is judged by `tenants-timeouts-and-retries-have-an-end`."""
    return "" if is_number(value) else "holds no number"


def quantity(value: Any, _: Filled) -> str:
    return "" if isinstance(value, str) or is_number(value) else "holds no quantity"


def word(*words: str) -> Check:
    """One of some words."""
    return lambda value, _: "" if value in words else f"holds none of {', '.join(words)}"


def in_source(value: Any, _: Filled) -> str:
    """A path inside the source."""
    if not isinstance(value, str):
        return "holds no path"
    if value.startswith("/") or ".." in value.split("/"):
        return "leaves its source"
    return ""


def component(value: Any, of: Filled) -> str:
    """A path relative to the `path` of a Kustomization, inside the source: `../shared` often is."""
    if not isinstance(value, str):
        return "holds no path"
    if _REMOTE.search(value):
        return "names a repository of its own"
    below = str(of.resource.spec.get("path") or ".")
    depth = 0
    for part in () if value.startswith("/") else (*below.split("/"), *value.split("/")):
        depth += {"": 0, ".": 0, "..": -1}.get(part, 1)
        if depth < 0:
            return "leaves its source"
    return "leaves its source" if value.startswith("/") else ""


def duration(value: Any, _: Filled) -> str:
    """A duration; how long it may be is judged by `tenants-timeouts-and-retries-have-an-end`."""
    return "" if isinstance(value, str) and _DURATION.fullmatch(value) else "holds no duration"


def is_number(value: Any) -> bool:
    """Whether the engine would pass the value as a number, which is a float there."""
    return isinstance(value, int | float) and not isinstance(value, bool)
