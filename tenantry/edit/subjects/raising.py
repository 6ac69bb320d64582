"""Raises what apps are pinned to, and pins what they take by range: chooses a version, and writes it where the file has it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from tenantry.edit.editor import Editor
from tenantry.edit.subjects.pins import Content, Pin, Use
from tenantry.messages.data import ABSENT
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import format_path, listed
from tenantry.versions.newer import Level, in_range, newer, newest_of

Known = Mapping[Content, Collection[str]]
"""The versions of each source that could be asked."""


class Raised(NamedTuple):
    """An edit of a version. place: `file:line:column` before it."""

    pin: Pin
    place: str
    old: str
    new: str


@dataclass(slots=True)
class Raising:
    """What is edited. done: a sentence for each edit; notes: what is not edited although there is a newer version.

    beyond: versions that are newer than a range or the level allows.
    """

    editor: Editor
    raised: list[Raised] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    beyond: list[tuple[Pin, str]] = field(default_factory=list)

    def edit(self, pin: Pin, new: str, write: Callable[[], None], said: str) -> None:
        """Make an edit, or note that the file's form does not allow it, so that the others are made."""
        try:
            if self.editor.value(pin.at) != pin.text:  # an edit would add a second one
                raise Refused(f"no file has it as {format_path(pin.at)}")
            place = self.editor.place(pin.at)
            write()
        except Refused as refused:
            self.notes.append(f"{_named(pin)} of {listed(pin.apps)} stays: {refused.message}")
            return
        self.raised.append(Raised(pin, place, pin.text, new))
        self.done.append(f"{said} for {listed(pin.apps)}")


def in_environment(pin: Pin, environment: str | None) -> Pin:
    """The pin with its uses in an environment."""
    return replace(pin, uses=[use for use in pin.uses if environment in (None, use.environment)])


def _named(pin: Pin) -> str:
    contents = listed(pin.contents)
    return f"variable {pin.variable} of {pin.at[1]} ({contents})" if pin.variable else contents


# --- pins are raised ----------------------------------------------------------------------------------------------------


def raise_all(
    editor: Editor, pins: Collection[Pin], known: Known, *, level: Level | None, environment: str | None
) -> Raising:
    """Raise pins as far as their range and the level allow.

    Pins with a source that could not be asked stay. Args: environment: only what it takes is raised; if other environments
    take it too, the chart's version is written into an override.
    """
    made = Raising(editor)
    narrowed = [(pin, in_environment(pin, environment)) for pin in pins]
    several = len({name for _, own in narrowed for name in own.environments}) > 1
    for pin, own in narrowed:
        new, beyond = _choice(own, known, level)
        if beyond:
            made.beyond.append((own, beyond))
        if new:
            only = environment if own.environments != pin.environments else None
            _raise(made, own, new, only, own.environments if several or only else ())
    return made


def _choice(pin: Pin, known: Known, level: Level | None) -> tuple[str, str]:
    """What a text is raised to, and a newer version that its range or the level excludes; "" if there is none."""
    uses = list(dict.fromkeys(use._replace(app=pin.uses[0].app, environment="") for use in pin.uses))
    if any(use.content not in known for use in uses):
        return "", ""
    found = [
        newer(pin.version_of(use), known[use.content], range=use.range, level=level, is_tag=use.content.is_tag)
        for use in uses
    ]
    texts = set.intersection(*(_inner(each.within, use) for each, use in zip(found, uses, strict=True)))
    first = uses[0]
    whole = {f"{first.head}{text}{first.tail}": text for text in texts}
    best = newest_of(whole, is_tag=first.content.is_tag, like=pin.version_of(first))
    return whole.get(best, ""), found[0].beyond


def _inner(versions: Collection[str], use: Use) -> set[str]:
    """What stands between the head and the tail of a use in each version that has both."""
    size = len(use.head) + len(use.tail)
    return {
        version[len(use.head) : len(version) - len(use.tail)]
        for version in versions
        if len(version) > size and version.startswith(use.head) and version.endswith(use.tail)
    }


def _raise(made: Raising, pin: Pin, new: str, only: str | None, named: Collection[str]) -> None:
    """only: the environment that alone gets the version; None: all that take it. named: the environments in the sentence."""
    at = _override(pin, only) if only else pin.at
    if at is None:
        stays = f"{_named(pin)} stays at {pin.text}, although there is {new}"
        made.notes.append(f"{stays}: other environments than {only} take it from {format_path(pin.at)}")
        return
    among = f" in {listed(named)}" if named and not pin.variable else ""
    said = f"raise {_named(pin)} from {pin.text} to {new}{among}"
    made.edit(pin, new, partial(made.editor.set, at, new), said)


def _override(pin: Pin, environment: str) -> Path | None:
    """Where a version goes that one of several environments gets; None: an override cannot hold it, or has too little weight."""
    if pin.variable or len(pin.apps) != 1 or any(content.is_tag for content in pin.contents):
        return None
    app = pin.apps[0].at
    overridden = (*app, "overrides", "environments")
    if pin.at != (*app, "helm", "version") and pin.at[: len(overridden)] != overridden:
        return None
    return (*overridden, environment, "helm", "version")


# --- ranges are pinned --------------------------------------------------------------------------------------------------


def pin_all(editor: Editor, ranges: Collection[Pin], known: Known, *, environment: str | None) -> Raising:
    """Write the version that each range selects, and keep the range as `updates`."""
    made = Raising(editor)
    for pin in ranges:
        new = _selected(pin, known)
        if new and set(in_environment(pin, environment).environments) != set(pin.environments):
            made.notes.append(f"{_named(pin)} is followed in {listed(pin.environments)}: leave --environment out")
        elif new:
            said = f"pin {_named(pin)} to {new}, which {pin.text} selects,"
            made.edit(pin, new, partial(_pin, editor, pin, new), said)
    return made


def _selected(pin: Pin, known: Known) -> str:
    """The newest version in a range that all sources have which are read with it."""
    if any(content not in known for content in pin.contents):
        return ""
    versions = frozenset.intersection(*(in_range(pin.text, known[content]) for content in pin.contents))
    return newest_of(versions, is_tag=pin.contents[0].is_tag)


def _pin(editor: Editor, pin: Pin, new: str) -> None:
    block, after = pin.at[:-1], "version"
    editor.set(pin.at, new)
    if pin.at[-1] == "semver":
        editor.rename(pin.at, "tag")
        block, after = block[:-1], "ref"
    if editor.value((*block, "updates")) is ABSENT:
        editor.add(block, "updates", pin.text, after=after)
