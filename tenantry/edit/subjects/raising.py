"""Raises what apps are pinned to, and pins what they take by range: chooses a version, and writes it where the file has it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from tenantry.edit.editor import Editor
from tenantry.edit.subjects.pins import Content, Pin, Use
from tenantry.messages.data import ABSENT
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import format_path, listed
from tenantry.versions.newer import Level, in_range, newer, newest_of

Known = Mapping[Content, Collection[str]]
"""The versions of each source that could be asked."""


class Choice(NamedTuple):
    """new: what a text is raised to; beyond: a newer version that its range or the level excludes; "" if there is none."""

    new: str
    beyond: str


class Raised(NamedTuple):
    """An edit of a version. place: `file:line:column` before it."""

    pin: Pin
    place: str
    old: str
    new: str


@dataclass(slots=True)
class Raising:
    """done: a sentence for each edit; notes: what is not edited although there is a newer version."""

    raised: list[Raised] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    beyond: list[tuple[Pin, str]] = field(default_factory=list)


def raise_all(
    editor: Editor, pins: Collection[Pin], known: Known, *, level: Level | None, environment: str | None
) -> Raising:
    """Raise pins as far as their range and the level allow.

    Pins with a source that could not be asked stay. Args: environment: only what it takes is raised; if other environments
    take it too, the chart's version is written into an override.
    """
    made = Raising()
    narrowed = [(pin, in_environment(pin, environment)) for pin in pins]
    several = len({each for _, own in narrowed for each in own.environments}) > 1
    for pin, own in narrowed:
        choice = _choice(own, known, level)
        if choice.beyond:
            made.beyond.append((own, choice.beyond))
        if choice.new:
            only = environment if own.environments != pin.environments else None
            _write(editor, made, own, choice.new, only, where=own.environments if several or only else ())
    return made


def pin_all(editor: Editor, ranges: Collection[Pin], known: Known, *, environment: str | None) -> Raising:
    """Write the version that each range selects, and keep the range as `updates`."""
    made = Raising()
    for each in ranges:
        new = _selected(each, known)
        if new and set(in_environment(each, environment).environments) != set(each.environments):
            made.notes.append(f"{_named(each)} is followed in {listed(each.environments)}: leave --environment out")
        elif new:
            with _noting(made, each):
                place = _place(editor, each)
                _pin(editor, each, new)
                made.raised.append(Raised(each, place, each.text, new))
                made.done.append(f"pin {_named(each)} to {new}, which {each.text} selects, for {_apps(each)}")
    return made


def in_environment(pin: Pin, environment: str | None) -> Pin:
    """The pin with its uses in an environment."""
    return replace(pin, uses=[each for each in pin.uses if environment in (None, each.environment)])


def _choice(pin: Pin, known: Known, level: Level | None) -> Choice:
    first, *more = dict.fromkeys(use._replace(app=pin.uses[0].app, environment="") for use in pin.uses)
    if any(each.content not in known for each in (first, *more)):
        return Choice("", "")
    found = newer(
        pin.version_of(first), known[first.content], range=first.range, level=level, is_tag=first.content.is_tag
    )
    texts = _inner(found.within, first)
    for use in more:
        others = newer(pin.version_of(use), known[use.content], range=use.range, level=level, is_tag=use.content.is_tag)
        texts &= _inner(others.within, use)
    whole = {f"{first.head}{each}{first.tail}": each for each in texts}
    best = newest_of(whole, is_tag=first.content.is_tag, like=pin.version_of(first))
    return Choice(whole.get(best, ""), found.beyond)


def _inner(texts: Collection[str], use: Use) -> set[str]:
    """What stands between the head and the tail of a use in each text that has both."""
    size = len(use.head) + len(use.tail)
    return {
        each[len(use.head) : len(each) - len(use.tail)]
        for each in texts
        if len(each) > size and each.startswith(use.head) and each.endswith(use.tail)
    }


def _selected(pin: Pin, known: Known) -> str:
    """The newest version in a range that all sources have which are read with it."""
    if any(each not in known for each in pin.contents):
        return ""
    texts = frozenset.intersection(*(in_range(pin.text, known[each]) for each in pin.contents))
    return newest_of(texts, is_tag=pin.contents[0].is_tag)


def _write(
    editor: Editor, made: Raising, pin: Pin, new: str, environment: str | None, *, where: Collection[str]
) -> None:
    """environment: the only one that gets the version; None: all that take it. where: the environments that are named."""
    at = _override(pin, environment) if environment else pin.at
    if at is None:
        made.notes.append(
            f"{_named(pin)} stays at {pin.text}, although there is {new}: other environments than {environment} take it from"
            f" {format_path(pin.at)}"
        )
        return
    with _noting(made, pin):
        place = _place(editor, pin)
        editor.set(at, new)
        made.raised.append(Raised(pin, place, pin.text, new))
        among = f" in {listed(where)}" if where and not pin.variable else ""
        made.done.append(f"raise {_named(pin)} from {pin.text} to {new}{among} for {_apps(pin)}")


def _place(editor: Editor, pin: Pin) -> str:
    """Raises: Refused: the files do not have the text there, so an edit would add a second one."""
    if editor.value(pin.at) != pin.text:
        raise Refused(f"no file has it as {format_path(pin.at)}")
    return editor.place(pin.at)


def _override(pin: Pin, environment: str) -> Path | None:
    """Where a version goes that one of several environments gets; None: an override cannot hold it, or has too little weight."""
    if pin.variable or len(pin.apps) != 1 or any(each.is_tag for each in pin.contents):
        return None
    app = pin.apps[0].at
    overridden = (*app, "overrides", "environments")
    if pin.at != (*app, "helm", "version") and pin.at[: len(overridden)] != overridden:
        return None
    return (*overridden, environment, "helm", "version")


def _pin(editor: Editor, pin: Pin, new: str) -> None:
    block, after = pin.at[:-1], "version"
    editor.set(pin.at, new)
    if pin.at[-1] == "semver":
        editor.rename(pin.at, "tag")
        block, after = block[:-1], "ref"
    if editor.value((*block, "updates")) is ABSENT:
        editor.add(block, "updates", pin.text, after=after)


class _noting:
    """Notes an edit that the file's form does not allow, so that the others are made."""

    def __init__(self, made: Raising, pin: Pin) -> None:
        self.made, self.pin = made, pin

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, failed: BaseException | None, __: object) -> bool:
        if isinstance(failed, Refused):
            self.made.notes.append(f"{_named(self.pin)} of {_apps(self.pin)} stays: {failed.message}")
            return True
        return False


def _named(pin: Pin) -> str:
    contents = listed(pin.contents)
    if not pin.variable:
        return contents
    return f"variable {pin.variable} of {pin.at[1]} ({contents})"


def _apps(pin: Pin) -> str:
    return listed(pin.apps)
