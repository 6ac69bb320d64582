"""Label selectors, quantities, rules of roles and tokens: between their text and what they mean.

Source for tokens: RFC 7519, sections 4.1.4 and 4.1.6.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

_PART = re.compile(
    r"\s*(?:(?P<not>!)\s*)?(?P<key>[-A-Za-z0-9_./]+)\s*"
    r"(?:(?P<sign>==|=|!=)\s*(?P<value>[-A-Za-z0-9_.]*)|(?P<word>in|notin)\s*\((?P<values>[-A-Za-z0-9_.,\s]*)\))?\s*(?:,|$)"
)


def selects(selector: str, labels: Mapping[str, str]) -> bool | None:
    """Whether a selector matches labels; None if it cannot be read. An empty one matches everything."""
    position, matches = 0, True
    while position < len(selector):
        part = _PART.match(selector, position)
        if part is None:
            return None
        position = part.end()
        matches = matches and _matches(part, labels)
    return matches


def _matches(part: re.Match[str], labels: Mapping[str, str]) -> bool:
    value = labels.get(part["key"])
    if part["sign"] or part["word"]:
        wanted = {part["value"]} if part["sign"] else {value.strip() for value in part["values"].split(",")}
        negative = part["sign"] == "!=" or part["word"] == "notin"
        return (value in wanted) != negative
    return (value is not None) != bool(part["not"])


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


def end_of_token(token: str) -> datetime | None:
    """When a token expires; None: it does not say, or is of another form."""
    return _moment(token, "exp")


def lifetime_of_token(token: str) -> timedelta | None:
    """For how long a token is valid in all; None as for `end_of_token`."""
    begin, end = _moment(token, "iat"), _moment(token, "exp")
    return end - begin if begin and end else None


def _moment(token: str, claim: str) -> datetime | None:
    _, _, claims = token.rpartition(".")[0].rpartition(".")
    try:
        content = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
        return datetime.fromtimestamp(content[claim], UTC)
    except (ValueError, LookupError, TypeError, OSError, OverflowError, RecursionError):
        return None
