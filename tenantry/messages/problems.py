"""Findings about a value that does not fit, from the model or from one of Flux's schemas.

Builds findings from a place and the facts; knows nothing of pydantic or JSON Schema.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any

from tenantry.messages.errors import Path, Problem, Severity
from tenantry.messages.redact import shorten
from tenantry.messages.text import closest, declared

_PASSWORD = re.compile(r"[a-z0-9+]+://[^/@\s]*:[^/@\s]*@.*", re.IGNORECASE)


def doubtful(
    path: Path, code: str, message: str, notes: tuple[str, ...] = (), *, fix: str, at_key: bool = False
) -> Problem:
    """A problem with severity WARNING."""
    return Problem(path, code, message, notes, fix, at_key, Severity.WARNING)


def unknown_key(path: Path, known: Iterable[str], fix: str = "") -> Problem:
    """The last key of a path is unknown. Args: fix: where the key belongs."""
    key, names = str(path[-1]), sorted(known)
    near = None if fix else closest(key, names)
    # A fix that says what to write needs no list of everything that could stand there.
    notes = () if fix or near or not names else (f"known: {', '.join(names)}",)
    return Problem(
        path,
        "unknown-key",
        f"key '{shorten(key)}' is not known here",
        notes,
        fix=fix or (f"write '{near}'" if near else "remove it"),
        at_key=True,
        meant=(*path[:-1], near) if near else (),
    )


def owned_key(path: Path, reason: str, fix: str = "") -> Problem:
    """The last key of a path is a key of Flux that authors cannot set. Args: fix: what they can set instead."""
    return Problem(path, "owned-key", f"key '{path[-1]}' cannot be set: {reason}", fix=fix or "remove it", at_key=True)


def missing_key(path: Path, key: str, example: str = "") -> Problem:
    """Args: example: the key with a value."""
    fix = f"add '{example or f'{key}:'}'"
    return Problem(path, "missing-key", f"key '{key}' is missing", fix=fix, meant=(*path, key))


def name_too_long(what: str, name: str, limit: int, at: Path, fix: str) -> Problem:
    """A name made of several keys is too long; at: the entry that contains the keys."""
    message = f"{what} name '{name}' has {len(name)} characters, at most {limit} are allowed"
    return Problem(at, "name-too-long", message, fix=fix)


def wrong_type(path: Path, expected: str, value: Any, keys: Collection[str] = (), fix: str = "") -> Problem:
    """Args: expected: with its article, such as "a string"; keys: of an expected mapping; fix: if the caller knows it."""
    message = f"expected {expected}, found {type_name(value)}"
    return Problem(path, "wrong-type", message, fix=fix or _fix_for_type(expected, value, keys))


def out_of_range(path: Path, code: str, value: Any, bound: int) -> Problem:
    """Args: code: `greater-than-equal` if the bound is the least value, otherwise it is the greatest."""
    least = code == "greater-than-equal"
    message = f"{shorten(str(value))} is too {'small' if least else 'large'}"
    return Problem(path, code, message, fix=f"write {bound} or a {'greater' if least else 'smaller'} number")


_ENTRIES = {
    "apps": "app",
    "addons": "add-on",
    "sources": "source",
    "configs": "config",
    "alerts": "alert",
    "receivers": "receiver",
}


def entry_name(path: Path) -> str:
    """The value at a path in words: app 'web', 'clusters:', entry 2 of 'owners:'."""
    *_, parent, last = ("", "", *path)
    if isinstance(last, int):
        return f"entry {last + 1} of '{parent}:'"
    if parent in _ENTRIES:
        return f"{_ENTRIES[parent]} '{shorten(last)}'"
    return f"'{shorten(last)}:'"


def not_allowed(path: Path, value: Any, allowed: Iterable[str]) -> Problem:
    words = [word for words_of_type in allowed for word in words_of_type.split(", ")]
    given = value.lower() if isinstance(value, str) else ""
    near = next((word for word in words if word.lower() == given), closest(given, words))
    meant = words[0] if len(words) == 1 else near
    if value is False and words == ["true"]:
        meant = "true, or remove the key"
    return Problem(
        path,
        "bad-value",
        f"{shown(value)} is not allowed here",
        (f"allowed: {', '.join(words)}",),
        fix=(f"write '{meant}'" if isinstance(value, str) else f"write {meant}") if meant else "write one of these",
    )


def no_match(path: Path, value: Any, pattern: str) -> Problem:
    return Problem(path, "bad-value", f"{shown(value)} does not match {pattern}")


def not_of_form(path: Path, value: Any, what: str, fix: str, code: str = "bad-value") -> Problem:
    """Args: what: with its article, such as "a valid URL"."""
    return Problem(path, code, f"{shown(value)} is not {what}", fix=fix)


def holds_password(url: str) -> bool:
    """Whether a URL contains a password before its host."""
    return _PASSWORD.match(url) is not None


def password_in_url(path: Path, url: str) -> Problem | None:
    """The finding for a URL with a password, which it does not quote; None if there is no password."""
    if not holds_password(url):
        return None
    message = "the URL contains a password, which anyone who reads the file or the plan could see"
    fix = "remove it from the URL, and revoke it; name 'credentials' instead"
    return Problem(path, "secret-in-url", message, fix=fix)


def empty_list(path: Path) -> Problem:
    return Problem(
        path, "empty", "at least one entry is needed", fix="add an entry, or remove the key if it is optional"
    )


def empty_string(path: Path) -> Problem:
    return Problem(path, "empty", "an empty string is not allowed here")


def type_name(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case int() | float():
            # PINs and passwords of digits are longer than usual numbers.
            return f"the number {value}" if len(str(value)) <= 6 else "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "a mapping"


def shown(value: Any) -> str:
    """A value for a quote in a message: complete or not at all, and never a value that may contain a password, such as a URL."""
    quotable = isinstance(value, str) and len(value) <= 80 and value == shorten(value)
    return f"'{value}'" if quotable and "@" not in value and "://" not in value else type_name(value)


def _fix_for_type(expected: str, value: Any, keys: Collection[str]) -> str:
    if value is None:
        return "remove the key, or give it a value"
    if expected == "a mapping":
        return (
            f"write a mapping, with keys such as {', '.join(keys)}" if keys else "write a mapping, such as {NAME: ...}"
        )
    if expected == "a string" and isinstance(value, int | float):
        return "put it in quotes" + (": without them 1.10 is read as 1.1" if isinstance(value, float) else "")
    if expected == "a string" and isinstance(value, dict) and list(value.values()) == [None]:
        return f'put a placeholder in quotes: "{{{shorten(*value)}}}"'
    if expected == "true or false" and isinstance(value, str | int | float):
        word = value.lower() if isinstance(value, str) and value.lower() in ("true", "false") else "true or false"
        return f"write {word}" + (", without quotes" if isinstance(value, str) else "")
    fixes = {
        "a whole number": "write a number without quotes or a unit, such as 3",
        "a list": "put it in brackets, as in [a, b]",
        "a string": "write one text, such as a name",
    }
    return fixes.get(expected, "")


def undeclared(
    at: Path,
    kind: str,
    name: str,
    message: str,
    known: Collection[str],
    where: str,
    *,
    fix: str = "",
    at_key: bool = False,
) -> Problem:
    """A name that nothing declares.

    Args: kind: of what it names; message: who names it; known: the names that are declared; where: the key under which they are;
    fix: if the caller knows it.
    """
    near, declare = closest(name, sorted(known)), f"declare it under '{where}:'"
    if not fix:
        # What is close to a secret may be one.
        fix = f"write '{near}', or {declare}" if near and near == shorten(near) else f"{declare}, or correct the name"
    notes = (declared("declared", name, known),)
    is_not = "are not" if kind == "credentials" else "is not"
    return Problem(at, f"unknown-{kind}", f"{message}, which {is_not} declared", notes, fix, at_key=at_key)
