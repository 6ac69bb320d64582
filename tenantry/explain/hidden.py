"""The secrets in what `explain` tells, hidden by the same rules as in a difference.

`parity` compares what is explained, and hides secrets itself, so that two different ones look different. So this comes last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from tenantry.fleet.merge import Origin, Value
from tenantry.messages.data import value_at
from tenantry.messages.masking import HIDDEN_VALUE, masked

_T = TypeVar("_T")


def without_secrets(found: _T) -> _T:
    """A result of `explain`, or a part of it, with each secret in its values replaced by "(hidden)"."""
    shown: Any = found
    if isinstance(found, tuple):
        if found and all(isinstance(each, Value) for each in found):
            shown = tuple(_hidden(found))
        elif not hasattr(found, "_fields"):
            shown = tuple(map(without_secrets, found))
    elif isinstance(found, Mapping):
        shown = {key: without_secrets(each) for key, each in found.items()}
    elif isinstance(found, Value):
        (shown,) = _hidden((found,))
    elif is_dataclass(found) and not isinstance(found, type | Origin):
        shown = replace(found, **{each.name: without_secrets(getattr(found, each.name)) for each in fields(found)})
    return shown  # type: ignore[no-any-return]


def _hidden(values: Iterable[Value]) -> Iterable[Value]:
    """Values that stand beside each other. What a key means is told by those around it."""
    values = tuple(values)
    tree: dict[str, Any] = {}
    for each in values:
        below = tree
        for part in each.path[:-1]:
            below = below.setdefault(str(part), {})
        below[str(each.path[-1])] = each.value
    shown = masked(tree)
    for each in values:
        names_credentials = each.path[-1] == "credentials" and "values" not in each.path
        value = each.value if names_credentials else value_at(shown, tuple(map(str, each.path)))
        changed = each.written is not None and value != each.value
        yield replace(each, value=value, written=HIDDEN_VALUE if changed else each.written)
