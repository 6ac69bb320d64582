"""What an object says in the words of the file, and what is left without a word; and how two of these differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from tenantry.compare.fields import Entry, FieldChange, changed_fields, is_same
from tenantry.compare.review.model import Setting
from tenantry.messages.data import ABSENT
from tenantry.messages.text import counted
from tenantry.plan.plan import Plan

Path: TypeAlias = tuple[str, ...]
"""Keys of the file, from the part that is described: ("helm", "version")."""


class Words(NamedTuple):
    """settings: values by their paths in the file; rest: by object, what no key of the file says by itself."""

    settings: dict[Path, Any]
    rest: dict[str, Any]


def nothing() -> Words:
    return Words({}, {})


def changed_settings(before: Mapping[Path, Any], after: Mapping[Path, Any]) -> Iterator[Setting]:
    """The innermost values that differ, in the order of the second; secrets are masked."""
    for path in dict.fromkeys((*after, *before)):
        one, other = before.get(path, ABSENT), after.get(path, ABSENT)
        if is_same(one, other):
            continue
        if path[-1] == "credentials":  # their name, which is no secret
            yield Setting(key_of(path), one, other)
            continue
        plain = type(one) is type(other) is str and all(type(part) is str for part in path)
        # The same text often changes in thousands of apps.
        yield from _of_texts(path, one, other) if plain else _of_values(path, one, other)


def _of_values(path: Path, before: Any, after: Any) -> Iterator[Setting]:
    # With the keys above it, which tell whether a value is a secret.
    for change in changed_fields(_below(path, before), _below(path, after)):
        yield Setting(key_of(change.path), change.before, change.after)


@lru_cache(maxsize=256)
def _of_texts(path: Path, before: str, after: str) -> tuple[Setting, ...]:
    return tuple(_of_values(path, before, after))


def _below(path: Path, value: Any) -> dict[str, Any]:
    *way, last = path
    data = {} if value is ABSENT else {last: value}
    for key in reversed(way):
        data = {key: data}
    return data


def changed_rest(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[FieldChange]:
    """The fields that differ of objects that are on both sides."""
    for name in before:
        if name in after and before[name] != after[name]:
            for change in changed_fields(before[name], after[name]):
                yield replace(change, path=(Entry(name), *change.path))


def key_of(path: Iterable[str | int]) -> str:
    """("helm", "values", "env", 0) -> helm.values.env[0]; keys with dots are quoted."""
    text = ""
    for part in path:
        if isinstance(part, int | Entry):
            text += f"[{part}]"
        elif "." in part or "/" in part or not part:
            text += f'["{part}"]'
        else:
            text += f".{part}"
    return text.removeprefix(".")


def content_in_words(plan: Plan) -> str:
    """Such as "3 tenants, 5 apps, 2 add-ons". An app counts once, on however many clusters it is."""
    parts = {(app.tenant, app.name) for app in plan.apps}
    numbers = (
        (len({each.tenant for each in plan.placements}), "tenant"),
        (sum(bool(tenant) for tenant, _ in parts), "app"),
        (sum(not tenant for tenant, _ in parts), "add-on"),
    )
    return ", ".join(counted(number, noun) for number, noun in numbers if number) or "empty"
