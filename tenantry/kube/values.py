"""Quantities and rules of roles: between their text and what they mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

_FORM = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?[0-9]{1,2}))?")
_BINARY = {f"{letter}i": Decimal(1024**power) for power, letter in enumerate("KMGTPE", 1)}
_DECIMAL = {
    letter: Decimal(1000) ** power for power, letter in zip((-3, -2, -1, 1, 2, 3, 4, 5, 6), "numkMGTPE", strict=True)
}


def number_of(quantity: Any) -> Decimal | None:
    """The number that a quantity stands for; None: it is not one."""
    match = _FORM.fullmatch(str(quantity)) if isinstance(quantity, str | int | float) else None
    if match is None or isinstance(quantity, bool):
        return None
    digits, binary, decimal, exponent = match.groups()
    factor = _BINARY.get(binary) or _DECIMAL.get(decimal) or Decimal(10) ** int(exponent or 0)
    return Decimal(digits) * factor


class Right(NamedTuple):
    """One verb for one resource. resource: `ingressclasses.networking.k8s.io`, with the names of objects if only they are meant."""

    verb: str
    resource: str


def rights_of_rules(rules: Iterable[Mapping[str, Any]]) -> Iterator[Right]:
    """Every right that the rules give, in their order."""
    for rule in rules:
        only = f" {', '.join(named)}" if (named := _list(rule, "resourceNames")) else ""
        for group in _list(rule, "apiGroups") or ("",):
            for resource in _list(rule, "resources"):
                what = resource + (f".{group}" if group else "") + only
                yield from (Right(verb, what) for verb in _list(rule, "verbs"))


_ON_RIGHTS = frozenset({"*", "clusterrolebindings", "clusterroles", "rolebindings", "roles"})
_TO_MORE = frozenset({"*", "bind", "escalate"})


def gives_all(rules: Iterable[Mapping[str, Any]]) -> bool:
    """Whether rules in a namespace give every right there, or the way to it.

    The verb `impersonate` is no such way: there it reaches the service accounts of that namespace alone, and `edit` has it, too.
    """
    return any(
        any(verb in _TO_MORE for verb in _list(rule, "verbs"))
        and any(resource in _ON_RIGHTS for resource in _list(rule, "resources"))
        for rule in rules
    )


def _list(rule: Mapping[str, Any], key: str) -> list[str]:
    """The texts of a list that anybody may have written."""
    value = rule.get(key)
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def format_rights(rights: Iterable[Right]) -> str:
    """`get, list persistentvolumes; get nodes`"""
    by_resource: dict[str, dict[str, None]] = {}
    for right in rights:
        by_resource.setdefault(right.resource, {})[right.verb] = None
    by_verbs: dict[str, list[str]] = {}
    for resource, verbs in by_resource.items():
        by_verbs.setdefault(", ".join(verbs), []).append(resource)
    return "; ".join(f"{verbs} {', '.join(resources)}" for verbs, resources in by_verbs.items())
