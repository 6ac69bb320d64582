"""Hides secrets in plain data, such as Helm values, before any format shows the data.

Called by: `facts.fields.changed_fields`, so every changed field is masked already; code that shows whole manifests.
Never: is sure. A value is hidden if its key or its form says that it may be a secret; see `secret_keys` and `redact`.

What is shown instead tells changed secrets apart: "(hidden)" before, "(hidden, changed)" after. The data of Secrets is always
hidden. Keys are never hidden, nor are true, false and null.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Any

from tenantry.messages.data import ABSENT
from tenantry.messages.secret_keys import holds_secret, holds_secrets_below, is_structure, masked_text

HIDDEN_VALUE = "(hidden)"
HIDDEN_CHANGED = "(hidden, changed)"
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


class Secrecy(IntEnum):
    """How much of some data is secret, as its surroundings show. VALUES: all but structure, such as names; ALL: all of it."""

    UNKNOWN = 0
    VALUES = 1
    ALL = 2


def masked(data: Any) -> Any:
    """A copy of plain data with every secret replaced by "(hidden)"."""
    return _Mask().of(data, Secrecy.UNKNOWN)


def masked_pair(before: Any, after: Any, secrecy: Secrecy = Secrecy.UNKNOWN) -> tuple[Any, Any]:
    """Copies of two states of the same data, or ABSENT for one of them.

    A secret of `after` that `before` does not have in the same place becomes "(hidden, changed)". The copies of different
    data are always different.
    """
    if isinstance(before, dict) and isinstance(after, dict):
        return _masked_mappings(before, after, secrecy)
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = [
            masked_pair(old, new, max(secrecy_below(before, index, secrecy), secrecy_below(after, index, secrecy)))
            for index, (old, new) in enumerate(zip(before, after, strict=True))
        ]
        return [old for old, _ in pairs], [new for _, new in pairs]
    first = _Mask()
    shown_before = first.of(before, secrecy)
    second = _Mask(None if before is ABSENT else first.hidden)
    shown_after = second.of(after, secrecy)
    looks_alike = second.hidden and shown_before == shown_after and before != after
    return shown_before, HIDDEN_CHANGED if looks_alike else shown_after


def secrecy_below(parent: Any, key: str | int, secrecy: Secrecy = Secrecy.UNKNOWN) -> Secrecy:
    """The secrecy of what is at a key of a mapping or at an index of a list. Args: secrecy: of the mapping or list itself."""
    if isinstance(parent, dict):
        return _secrecy_at(parent, str(key), secrecy)
    follows = isinstance(parent, list) and isinstance(key, int) and _follows_flag(parent, key)
    return Secrecy.ALL if follows else secrecy


def _masked_mappings(before: dict[str, Any], after: dict[str, Any], secrecy: Secrecy) -> tuple[Any, Any]:
    old_shown: dict[str, Any] = {}
    new_shown: dict[str, Any] = {}
    for key in dict.fromkeys((*before, *after)):
        below = max(_secrecy_at(side, key, secrecy) for side in (before, after) if key in side)
        old, new = masked_pair(before.get(key, ABSENT), after.get(key, ABSENT), below)
        old_shown |= {key: old} if key in before else {}
        new_shown |= {key: new} if key in after else {}
    return old_shown, {key: new_shown[key] for key in after}


class _Mask:
    """known: the secrets of the state before; None: there is no such state. hidden: those that were hidden."""

    def __init__(self, known: set[str] | None = None) -> None:
        self.known = known
        self.hidden: set[str] = set()

    def of(self, data: Any, secrecy: Secrecy) -> Any:
        match data:
            case dict():
                return {key: self.of(value, _secrecy_at(data, key, secrecy)) for key, value in data.items()}
            case list():
                return [self.of(value, secrecy_below(data, index, secrecy)) for index, value in enumerate(data)]
            case bool() | None | "":
                return data
            case str() | int() | float() if secrecy:
                return self._hide(str(data))
            case str():
                return masked_text(data, _values_in, self._hide)
            case _:
                return data

    def _hide(self, secret: str) -> str:
        self.hidden.add(secret)
        return HIDDEN_VALUE if self.known is None or secret in self.known else HIDDEN_CHANGED


def _values_in(data: Any) -> Iterator[str]:
    """The secrets of data that was written as a text, such as a patch."""
    mask = _Mask()
    mask.of(data, Secrecy.UNKNOWN)
    return iter(mask.hidden)


def _secrecy_at(parent: Mapping[str, Any], key: str, secrecy: Secrecy) -> Secrecy:
    # The annotation repeats the whole object, also if that is a Secret.
    is_data = key == _LAST_APPLIED or (key in ("data", "stringData") and parent.get("kind") == "Secret")
    if secrecy is Secrecy.ALL or is_data:
        return Secrecy.ALL
    if secrecy:
        return Secrecy.UNKNOWN if is_structure(key) else Secrecy.VALUES
    return Secrecy.VALUES if _is_secret(parent, key) else Secrecy.UNKNOWN


def _is_secret(parent: Mapping[str, Any], key: str) -> bool:
    if key == "value":
        names = (parent.get(name) for name in ("name", "key", "path"))
        # The last part, if it is a path as in a JSON patch.
        return any(holds_secret(name.rpartition("/")[2]) for name in names if isinstance(name, str))
    return holds_secrets_below(key) if isinstance(parent.get(key), dict | list) else holds_secret(key)


_FLAG = re.compile(r"--?[\w.-]+")


def _follows_flag(entries: list[Any], index: int) -> bool:
    """Whether an argument of a command belongs to the one before it, as in `--password x`."""
    flag = entries[index - 1] if 0 < index <= len(entries) else None
    return isinstance(flag, str) and bool(_FLAG.fullmatch(flag)) and holds_secret(flag.lstrip("-"))
