"""What files of `include: [{environment: prod, files: ...}]` say: overlays, which hold all lines about one environment.

An overlay has the form of the main file, and its trust. What it says of something that takes overrides becomes the override for
its environment, and what it says under `environments` becomes the environment's own entry. With an overlay, no other file may
override anything there. Every value keeps its place.

Called by: `load`, on the joined data of all files. So nothing here may rely on the type of a value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.messages.data import ABSENT, mapping_at, value_at
from tenantry.messages.errors import Path, Problem, first_of
from tenantry.messages.problems import wrong_type
from tenantry.messages.redact import shorten
from tenantry.messages.text import closest, declared, format_path
from tenantry.source.parsed_file import ParsedFile, Written

ENVIRONMENTS = "environments"
_CLASSES = "tenantClasses"
_OVERRIDES = ("overrides", ENVIRONMENTS)
_OF_TENANTS = tuple(
    (group, None, *part) for group in ("tenants", _CLASSES) for part in ((), ("apps", None), ("sources", None))
)
OWNERS: tuple[tuple[str | None, ...], ...] = (
    ("defaults",),
    *_OF_TENANTS,
    ("platform", "addons", None),
    ("platform", "addons", None, "source"),
    ("platform", "sources", None),
)
"""What takes overrides, by its path; None stands for any name."""
RELATIONS = ("management", "extends", "after")
"""Keys of an environment that the main file may still have: they say where it is, and how it relates to others."""
_WORDS = {"tenants": "tenant", _CLASSES: "class", "apps": "app", "sources": "source", "addons": "add-on"}


def overlaid(source: ParsedFile, *, classes: bool = False) -> ParsedFile:
    """The file with what its overlays say. Problems of overlays are added to it.

    Args: classes: only what is said of classes, before these are merged into tenants; else everything else.
    """
    return _Laying(source).run(classes=classes) if source.overlays or source.unread else source


def is_follow_up(source: ParsedFile, finding: Problem) -> bool:
    """Whether a finding about an environment only repeats that one of its overlays cannot be read."""
    return finding.code == "missing-key" and finding.path[:1] == (ENVIRONMENTS,) and finding.path[1] in source.unread


def in_overlay(path: Path) -> tuple[str, Path] | None:
    """The environment whose overlay can hold a path of the document, and the path there; None: it stands in other files."""
    if path[:1] == (ENVIRONMENTS,) and len(path) > 2:
        return str(path[1]), path
    for length in range(1, len(path) - 2):
        if path[length : length + 2] == _OVERRIDES and _is_owner(path[:length]):
            return str(path[length + 2]), (*path[:length], *path[length + 3 :])
    return None


def frames_overrides(path: Path) -> bool:
    """Whether a path in an overlay only leads to what takes overrides, or is it: a tenant, its `apps`, one of them."""
    return any(_fits(path, owner[: len(path)]) for owner in (*OWNERS, (ENVIRONMENTS, None)))


def _fits(path: Path, pattern: tuple[str | None, ...]) -> bool:
    return len(path) == len(pattern) and all(each in (None, part) for part, each in zip(path, pattern, strict=True))


def _is_owner(path: Path) -> bool:
    return any(_fits(path, owner) for owner in OWNERS)


class _Laying:
    """Lays overlays over data of which each changed mapping is copied once."""

    def __init__(self, source: ParsedFile) -> None:
        self.source = source
        self.data = dict(source.data)
        self.written: dict[Path, Written] = {}
        self.problems: list[Problem] = []
        self._copied: dict[Path, dict[str, Any]] = {(): self.data}

    def run(self, *, classes: bool) -> ParsedFile:
        known = mapping_at(self.source.data, ENVIRONMENTS)
        for environment, files in self.source.overlays.items():
            if environment in known:
                if classes:
                    self._check_elsewhere(environment, files[0].file)
                for file in files:
                    for at, said in self._parts(file, environment, (), file.data, classes=classes):
                        self._lay(environment, at, said, file)
            elif classes and isinstance(self.source.data.get(ENVIRONMENTS), dict):
                self._undeclared(environment, known)
        return self.source.joined(self.data, self.written, first_of(self.problems))

    def _undeclared(self, environment: str, known: Mapping[str, Any]) -> None:
        included = self.source.data["include"]
        index = next(place for place, each in enumerate(included) if mapping_at(each).get("environment") == environment)
        message = f"there is no environment '{shorten(environment)}'"
        near = closest(environment, known)
        meant = f"write '{shorten(near)}'" if near else "correct the name"
        fix = f"{meant}, or declare it under 'environments:'"
        note = declared("declared", environment, known)
        self._problem(self.source, ("include", index, "environment"), "unknown-environment", message, fix, note)

    # --- what an overlay says -------------------------------------------------------------------------------------

    def _parts(
        self, file: ParsedFile, environment: str, at: Path, said: Any, *, classes: bool
    ) -> Iterator[tuple[Path, dict[str, Any]]]:
        """What a file says of each thing that takes overrides, and of the environment, by its path."""
        if not isinstance(said, dict):
            if said is not None:
                found = wrong_type(at, "a mapping", said)
                self._problem(file, at, found.code, found.message, found.fix)
            return
        own = {}
        for key, value in said.items():
            path = (*at, key)
            if not at and (key == _CLASSES) != classes:
                continue
            if path[:1] == (ENVIRONMENTS,) and len(path) > 1:
                if key == environment:
                    yield path, value if isinstance(value, dict) else {}
                    if not isinstance(value, dict | None):
                        found = wrong_type(path, "a mapping", value)
                        self._problem(file, path, found.code, found.message, found.fix)
                else:
                    fix = f"move it to {self.source.file}, or to a file that is included for it"
                    self._problem(
                        file, path, "foreign-environment", f"this file speaks of environment '{environment}' alone", fix
                    )
            elif frames_overrides(path):
                if self._is_declared(file, path):
                    yield from self._parts(file, environment, path, value, classes=classes)
            elif not _is_owner(at):
                self._not_here(file, environment, path)
            elif self._may_differ(file, environment, path):
                own[key] = value
        if own:
            yield at, own

    def _is_declared(self, file: ParsedFile, path: Path) -> bool:
        word = _WORDS.get(str(path[-2])) if len(path) > 1 else None
        if word is None or self.source.has(path):
            return True
        names = mapping_at(self.source.data, *path[:-1])
        whose = f" of {_WORDS[str(path[0])]} '{path[1]}'" if len(path) == 4 else ""
        message = f"there is no {word} '{shorten(str(path[-1]))}'{whose}"
        near = closest(str(path[-1]), names)
        meant = f"write '{shorten(near)}'" if near else "correct the name"
        fix = f"{meant}, or remove it: this file says what differs, and declares nothing"
        self._problem(file, path, f"unknown-{word}", message, fix, declared("declared", str(path[-1]), names))
        return False

    def _not_here(self, file: ParsedFile, environment: str, path: Path) -> None:
        message = f"'{shorten(format_path(path))}' cannot stand in a file for environment '{environment}'"
        note = (
            "it takes 'environments', 'defaults', 'tenantClasses', 'tenants', and 'addons' and 'sources' of 'platform'"
        )
        fix = "remove it" if path == ("apiVersion",) else f"move it to {self.source.file}, or remove it"
        self._problem(file, path, "not-for-overlay", message, fix, note)

    def _may_differ(self, file: ParsedFile, environment: str, path: Path) -> bool:
        """Whether a key of something can be overridden; of a key that nothing knows, the check of shapes tells."""
        # Only fleets with overlays need the model here, which takes long to import.
        from tenantry.fleet.model_paths import fields_of, model_at
        from tenantry.model import Document

        *owner, key = path
        whole, patch = model_at(Document, tuple(owner)), model_at(Document, (*owner, *_OVERRIDES, environment))
        if whole is None or patch is None or key in fields_of(patch) or key not in fields_of(whole):
            return True
        message = f"'{key}' of '{shorten(format_path(tuple(owner)))}' is the same in all environments"
        fix = f"move it to {self.source.file}, or remove it"
        if key == "overrides":
            message = f"what stands in this file is an override for environment '{environment}' already"
            fix = f"write its keys without 'overrides'; those for clusters belong into {self.source.file}"
        self._problem(file, path, "not-for-overlay", message, fix, f"it can have {', '.join(fields_of(patch))}")
        return False

    # --- laid over the data ---------------------------------------------------------------------------------------

    def _lay(self, environment: str, at: Path, said: Mapping[str, Any], file: ParsedFile) -> None:
        target = at if at[0] == ENVIRONMENTS else (*at, *_OVERRIDES, environment)
        holder = self._mapping(target)
        if holder is not None:
            if not holder:
                self.written[target] = (file, at)
            self._merge(holder, said, target, at, file)

    def _mapping(self, path: Path) -> dict[str, Any] | None:
        """A mapping of the data that may be changed; None: there is something else, which the check of shapes reports."""
        if path in self._copied:
            return self._copied[path]
        above = self._mapping(path[:-1])
        there = above.get(str(path[-1])) if above is not None else None
        if above is None or not isinstance(there, dict | None):
            return None
        copy = above[str(path[-1])] = self._copied[path] = dict(there or {})
        return copy

    def _merge(self, into: dict[str, Any], said: Mapping[str, Any], target: Path, at: Path, file: ParsedFile) -> None:
        for key, value in said.items():
            path, there = (*target, key), into.get(key, ABSENT)
            if isinstance(value, dict) and isinstance(there, dict):
                copy = into[key] = dict(there)
                self._merge(copy, value, path, (*at, key), file)
            elif there is not ABSENT and (first := self._first(path)):
                message, fix = f"'{key}' is set in two files", "remove one of them"
                self._problem(file, (*at, key), "set-twice", message, fix, f"first: {first}")
            else:
                into[key], self.written[path] = value, (file, (*at, key))

    def _first(self, path: Path) -> str:
        """Where a value stands that nothing may replace: in another overlay, or in the environment's own entry; "": it may."""
        heads = (path[:length] for length in range(len(path), 1, -1))
        head = next((each for each in heads if each in self.written), None)
        if head is None and path[0] != ENVIRONMENTS:
            head = next((each for each in self.written if each[: len(path)] == path), None)
            path = head or path
        if head is None:
            return self.source.line_of(path) if path[0] == ENVIRONMENTS else ""
        file, at = self.written[head]
        return file.line_of((*at, *path[len(head) :]))

    # --- what other files may not say -----------------------------------------------------------------------------

    def _check_elsewhere(self, environment: str, overlay: str) -> None:
        data = self.source.data
        for at in self._owners(data):
            self._overridden(self.source, data, at, environment, overlay)
        for name, fill in self.source.fills.items():
            own = {"tenants": {name: mapping_at(fill.file.data, "tenants", name)}}
            for at in self._owners(own):
                self._overridden(fill.file, own, at, environment, overlay)
        for key in mapping_at(data, ENVIRONMENTS, environment):
            if key not in RELATIONS:
                at = (ENVIRONMENTS, environment, key)
                message = f"environment '{environment}' has a file of its own, and '{key}' stands elsewhere"
                self._problem(
                    self.source, at, "not-in-overlay", message, f"move it to '{format_path(at[:2])}' in {overlay}"
                )

    def _owners(self, data: Mapping[str, Any]) -> Iterator[Path]:
        for owner in OWNERS:
            places: list[Path] = [()]
            for part in owner:
                names = (((*at, name) for name in mapping_at(data, *at)) for at in places)
                places = [each for group in names for each in group if part in (None, each[-1])]
            yield from places

    def _overridden(self, file: ParsedFile, data: Any, at: Path, environment: str, overlay: str) -> None:
        over = (*at, *_OVERRIDES, environment)
        if value_at(data, over, ABSENT) is not ABSENT:
            message = f"environment '{environment}' has a file of its own, and this override for it stands elsewhere"
            there = f"'{format_path(at)}' in {overlay}"
            fix = f"move what it says to {there}"
            if file is not self.source:
                fix = f"remove it, and ask the owners of {overlay} to write what it says to {there}"
            self._problem(file, over, "not-in-overlay", message, fix)

    def _problem(self, file: ParsedFile, at: Path, code: str, message: str, fix: str, *notes: str) -> None:
        found = Problem(at, code, message, notes, fix).at(file.locate(at, key=True))
        # One text of the main file can give the same override to all rows of a CSV file.
        if all((each.code, each.location) != (found.code, found.location) for each in self.problems):
            self.problems.append(found)
