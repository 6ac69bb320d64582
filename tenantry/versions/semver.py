"""Chooses a version by a range, as Flux does: the ranges of github.com/Masterminds/semver v3."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import NamedTuple

# Numbers are bounded: Python converts no text of some thousand digits, and a source may offer one.
_VERSION = re.compile(
    r"v?([0-9]{1,18})(?:\.([0-9]{1,18}))?(?:\.([0-9]{1,18}))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?"
)
_BOUND = re.compile(
    r"(=>|>=|=<|<=|~>|!=|[=<>~^]?)\s*v?(\d{1,18}|[xX*])(?:\.(\d{1,18}|[xX*]))?(?:\.(\d{1,18}|[xX*]))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?"
)
_HYPHEN = re.compile(r"\s*(\S+)\s+-\s+(\S+)\s*")


class Version(NamedTuple):
    """pre: the parts of the pre-release, each comparable; a release is higher than its pre-releases."""

    major: int
    minor: int
    patch: int
    release: bool = True
    pre: tuple[tuple[int, int, str], ...] = ()


def parse(text: str) -> Version | None:
    """The version, or None. `1.2` is `1.2.0`, as Masterminds' NewVersion reads it."""
    found = _VERSION.fullmatch(text)
    if not found:
        return None
    major, minor, patch = (int(group or 0) for group in found.groups()[:3])
    return Version(major, minor, patch, found[4] is None, _pre(found[4] or ""))


def highest(texts: Iterable[str], range: str) -> str | None:
    """The text of the highest version in the range; None: there is none, or the range cannot be read."""
    fits = matcher(range)
    if fits is None:
        return None
    known = [(version, text) for text in texts if (version := parse(text)) and fits(version)]
    return max(known, key=lambda pair: pair[0])[1] if known else None


def is_exact(text: str) -> bool:
    """Whether a range is a single version with all three parts."""
    return bool(re.fullmatch(r"=?\s*v?\d+\.\d+\.\d+(?:[-+].*)?", text))


def _pre(text: str) -> tuple[tuple[int, int, str], ...]:
    # Numbers are lower than words (semver.org, section 11).
    return tuple(
        (0, int(part), "") if part.isdigit() and len(part) <= 18 else (1, 0, part) for part in text.split(".") if part
    )


_Test = Callable[[Version], bool]


def matcher(text: str) -> _Test | None:
    """Whether a version is in a range; None: the range cannot be read."""
    alternatives = [_all_of(each) for each in text.split("||")]
    tests = [alternative for alternative in alternatives if alternative]
    return (lambda version: any(test(version) for test in tests)) if len(tests) == len(alternatives) else None


def _all_of(text: str) -> _Test | None:
    if found := _HYPHEN.fullmatch(text):
        text = f">={found[1]} <={found[2]}"
    bounds = list(_BOUND.finditer(text))
    if not bounds or _BOUND.sub("", text).strip(" \t,"):
        return None
    tests = [_bound(bound) for bound in bounds]
    # A range matches pre-releases only if it names one itself.
    named = any(each[5] for each in bounds)
    return lambda version: (version.release or named) and all(test(version) for test in tests)


def _bound(found: re.Match[str]) -> _Test:
    operator, *parts = found.groups()[:4]
    written = takewhile(lambda part: part and part not in "xX*", parts)
    numbers = [int(part) for part in written]
    major, minor, patch = [*numbers, 0, 0, 0][:3]
    low = Version(major, minor, patch, found[5] is None, _pre(found[5] or ""))
    return _compared(operator or "", numbers, low)


def _compared(operator: str, numbers: list[int], low: Version) -> _Test:
    exact = len(numbers) == 3
    end = _next(numbers, len(numbers))
    match operator:
        case ">":
            return (lambda version: version > low) if exact else (lambda version: version >= end)
        case ">=" | "=>":
            return lambda version: version >= low
        case "<":
            return lambda version: version < low
        case "<=" | "=<":
            return (lambda version: version <= low) if exact else (lambda version: version < end)
        case "!=":
            return (lambda version: version != low) if exact else (lambda version: not low <= version < end)
        case "^":
            return _between(low, _next(numbers, _caret(numbers)))
        case "~" | "~>":
            return _between(low, _next(numbers, min(2, len(numbers))))
        case _:
            return (lambda version: version == low) if exact else _between(low, end)


def _between(low: Version, end: Version) -> _Test:
    return lambda version: low <= version < end


def _caret(numbers: list[int]) -> int:
    """How many parts stay: up to the first that is not zero."""
    return next((index for index, number in enumerate(numbers, 1) if number), len(numbers))


def _next(numbers: list[int], parts: int) -> Version:
    """The first version, with pre-releases, behind all that begin with these parts."""
    if not parts:
        return Version(10**9, 0, 0)
    raised = [*numbers[: parts - 1], numbers[parts - 1] + 1, 0, 0]
    return Version(raised[0], raised[1], raised[2], release=False)
