"""Chooses what a pinned version or tag can be raised to: by a range, or by how far it may go.

The texts come from a source, so whoever writes there writes them. Only those that can be a version or a tag are taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from tenantry.versions.semver import Version, matcher, parse

Level: TypeAlias = Literal["patch", "minor", "major"]
"""The highest part of a version that may change."""

_TEXT = re.compile(r"[0-9A-Za-z._/+@-]{1,128}")
_PARTS = re.compile(
    r"(?P<prefix>(?:.*?[^0-9.])??)(?P<version>[0-9]+\.[0-9]+\.[0-9]+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)"
)
"""A version with three parts, behind what is before it in tags such as `v1.2.3` and `web/v1.2.3`."""
_OF_CHARTS = ("", "v")


class Parts(NamedTuple):
    """What a text consists of. A tag is raised to one with the same prefix."""

    prefix: str
    version: Version


class Newer(NamedTuple):
    """within: those that a text may be raised to; beyond: the newest one that the range or the level excludes, or ""."""

    within: frozenset[str]
    beyond: str


def parts(text: str, *, is_tag: bool) -> Parts | None:
    """A whole version, or a tag that ends with one; None: it is something else, such as `1.x`, `latest` or `1.2`."""
    found = _PARTS.fullmatch(text) if _TEXT.fullmatch(text) else None
    version = parse(found["version"]) if found else None
    if found is None or version is None or not (is_tag or found["prefix"] in _OF_CHARTS):
        return None
    return Parts(found["prefix"], version)


def newer(pinned: str, texts: Iterable[str], *, range: str, level: Level | None, is_tag: bool) -> Newer:
    """The newer ones of some texts.

    Args: pinned: for which `parts` finds something. range: that is written for it, or "". level: how far it may go; None:
    as far as the range says, and without a range, to versions that are compatible by their number.
    """
    current = parts(pinned, is_tag=is_tag)
    assert current, "only whole versions are raised"
    fits = matcher(range) if range else None
    reach = level or ("major" if range else "minor" if current.version.major else "patch")
    later = dict(_later(current, texts, is_tag=is_tag))
    within = {
        text: version
        for text, version in later.items()
        if _reaches(reach, current.version, version)
        and (fits(version) if fits else not range and _is_wanted(version, current.version))
    }
    newest = max(within.values(), default=current.version)
    beyond = {
        text: version for text, version in later.items() if version > newest and _is_wanted(version, current.version)
    }
    return Newer(frozenset(within), newest_of(beyond, is_tag=is_tag, like=pinned))


def newest_of(texts: Iterable[str], *, is_tag: bool, like: str = "") -> str:
    """The newest of some texts, "" if there is none. like: of two forms of one version, such as `v1.2.0` and `1.2.0`, that of
    this text is taken.
    """
    model = parts(like, is_tag=is_tag)
    known = ((found, text) for text in texts if (found := parts(text, is_tag=is_tag)))
    best = max(
        known, key=lambda each: (each[0].version, model is not None and each[0].prefix == model.prefix), default=None
    )
    return best[1] if best else ""


def in_range(range: str, texts: Iterable[str]) -> frozenset[str]:
    """The texts that Flux could take for a range; none if it cannot be read."""
    fits = matcher(range)
    found = ((text, version) for text in texts if _TEXT.fullmatch(text) and (version := parse(text)))
    return frozenset(text for text, version in found if fits and fits(version))


def _later(current: Parts, texts: Iterable[str], *, is_tag: bool) -> Iterator[tuple[str, Version]]:
    for text in texts:
        found = parts(text, is_tag=is_tag)
        if found and found.version > current.version and (not is_tag or found.prefix == current.prefix):
            yield text, found.version


def _reaches(level: Level, current: Version, version: Version) -> bool:
    kept = {"patch": 2, "minor": 1, "major": 0}[level]
    return version[:kept] == current[:kept]


def _is_wanted(version: Version, current: Version) -> bool:
    """A pre-release is wanted by those who run one."""
    return version.release or not current.release
