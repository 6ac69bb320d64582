"""What included files say of tenants, put into the frames that the main file gives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from tenantry.fleet.merge import overlay
from tenantry.fleet.shape import unknown_key_of
from tenantry.fleet.templates import DEFAULTS, is_nearer, is_shared, with_templates
from tenantry.grants.model import GRANTABLE
from tenantry.messages.data import leaves, mapping_at, without
from tenantry.messages.errors import MAX_PROBLEMS, Path, Problem
from tenantry.messages.problems import wrong_type
from tenantry.messages.text import format_path
from tenantry.model import Tenant, TenantOverride
from tenantry.model.walk import fields_of
from tenantry.source.parsed_file import Fill, ParsedFile, Written

PARTS = ("sources", "credentials", "configs", "apps", "alerts", "receivers")
"""Keys of a tenant whose entries an included file can always declare; those of the main file stay beside them."""
SELECTOR = "clusters"
"""An included file can set it, but it selects from granted clusters only."""
BLOCKS = ("kustomize", "helm")
"""Keys that an included file can set for its own apps, if the main file does not set them for all apps of the tenant."""
OVERRIDES = "overrides"
"""A list to which an included file adds entries, of what it can set itself."""
NO_VALUE = "no-value"
"""The code of the finding about a key that a team's file leaves without a value."""
OF_NAMESPACES = ("name", "quota", "limits", "network")
"""Keys of an extra namespace that come with the grant of `namespaces`."""


def filled(main: ParsedFile) -> ParsedFile:
    """The file with its tenants' frames filled in. Problems of included files are added to it."""
    main = with_templates(main)
    return _Filling(main).run() if main.fills else main


class _Filling:
    """Joins data and remembers where each part is written; problems are settings that included files may not make."""

    def __init__(self, main: ParsedFile) -> None:
        self.main = main
        self.tenants: dict[str, Any] = dict(mapping_at(main.data, "tenants"))
        self.written: dict[Path, Written] = {}
        self.problems: list[Problem] = []

    def run(self) -> ParsedFile:
        for name, fill in self.main.fills.items():
            self._fill(name, fill)
        joined = self.main.joined({**self.main.data, "tenants": self.tenants}, self.written, self.problems)
        joined.frame = self.main
        return joined

    def _fill(self, name: str, fill: Fill) -> None:
        at, own, frame = ("tenants", name), fill.file.data["tenants"][name], self.tenants.get(name)
        frame, is_declared = {} if frame is None else frame, name in self.tenants
        if not is_declared:
            self.written[at] = (fill.file, at)
            message = f"tenant '{name}' is not declared in {self.main.file}"
            fix = f"declare it there under 'tenants:' with what the platform decides, or with '{name}: {{}}' if nothing"
            self._problem(fill, at, "no-frame", message, fix)
        if not isinstance(own, dict):
            problem = wrong_type(at, "a mapping", own)
            self._problem(fill, at, problem.code, problem.message, problem.fix)
        elif isinstance(frame, dict):  # else the check of shapes reports it
            joined = self._joined(name, fill, own, frame)
            if is_declared:  # else nobody knows what the file may say, beside what no file may
                self.tenants[name] = joined

    def _joined(self, name: str, fill: Fill, own: dict[str, Any], frame: dict[str, Any]) -> dict[str, Any]:
        at = ("tenants", name)
        joined = dict(frame)
        if isinstance(frame.get("grants"), dict | None) and SELECTOR in own and SELECTOR in frame:
            self._keep_selector(at, joined)
        granted = _granted(frame)
        for key, value in own.items():
            if key in PARTS and not isinstance(frame.get(key, {}), dict):
                continue  # the check of shapes reports what the main file says
            if key in PARTS and isinstance(value, dict):
                self._add_entries(name, fill, key, joined)
            elif key == OVERRIDES and isinstance(value, list) and isinstance(frame.get(key), list | None):
                self._add_overrides(name, fill, frame, joined)
            elif key in BLOCKS and key in frame and self.main.origin((*at, key))[:1] != (DEFAULTS,):
                self._platforms(name, fill, (*at, key), "or write it in the apps")
            elif key in (SELECTOR, OVERRIDES) or key in PARTS or key in BLOCKS:
                if value is not None:  # else what the platform says stays
                    self._put(joined, fill, (*at, key), value)
            else:
                self._set(name, fill, key, joined, granted)
        self._refuse_nulls(fill, at, own)
        return joined

    def _put(self, joined: dict[str, Any], fill: Fill, at: Path, value: Any) -> None:
        """Take a value of the file over, in place of what the tenant's entry and its templates say, and over `defaults`."""
        key = at[-1]
        self.written[at] = (fill.file, at)
        below = mapping_at(self.main.data, DEFAULTS, key)
        if below and isinstance(value, dict) and key != SELECTOR:
            for path, _ in leaves(below):
                self.written[*at, *path] = (self.main, (DEFAULTS, key, *path))
            for path, _ in leaves(value):
                self.written[*at, *path] = (fill.file, (*at, *path))
            value = overlay(below, value, [])
        joined[str(key)] = value

    def _refuse_nulls(self, fill: Fill, at: Path, own: dict[str, Any]) -> None:
        """`null` removes what lower levels say, and the platform's word stands on one of them: `role: null` gave `admin`."""
        refused = {problem.path for problem in self.problems}
        for path in _nulls(own, at):
            if not any(path[:length] in refused for length in range(len(at) + 1, len(path) + 1)):
                message = (
                    f"'{path[-1]}' has no value, and a team's file removes nothing outside of the 'values' of a chart"
                )
                self._problem(fill, path, NO_VALUE, message, "write a value, or remove the line")

    def _keep_selector(self, at: Path, joined: dict[str, Any]) -> None:
        """The main file's selector is what the included file selects from, unless a grant says otherwise."""
        grants = joined.get("grants") or {}
        if SELECTOR not in grants or is_nearer(self.main, (*at, SELECTOR), (*at, "grants", SELECTOR)):
            joined["grants"] = {**grants, SELECTOR: joined[SELECTOR]}
            self.written[*at, "grants", SELECTOR] = self.main.written_at((*at, SELECTOR))

    def _add_entries(self, name: str, fill: Fill, key: str, joined: dict[str, Any]) -> None:
        entries = mapping_at(joined, key)
        own = fill.file.data["tenants"][name][key]
        for entry in own:
            at = ("tenants", name, key, entry)
            if entry in entries:
                first = self.main.line_of(at)
                written = self.main.origin(at)
                owner = f"'{format_path(written[:-2])}'" if is_shared(written) else self.main.file
                message = f"'{entry}' under '{key}' of tenant '{name}' is in {owner} already"
                self._problem(fill, at, "duplicate-entry", message, "rename or remove it", (f"first: {first}",))
            else:
                self.written[at] = (fill.file, at)
        if key not in joined:
            self.written["tenants", name, key] = (fill.file, ("tenants", name, key))
        joined[key] = {**own, **entries}

    def _add_overrides(self, name: str, fill: Fill, frame: dict[str, Any], joined: dict[str, Any]) -> None:
        """Append the file's overrides to those of the frame. They change what the file declares, and settings that are granted."""
        at: Path = ("tenants", name, OVERRIDES)
        taken = list(frame.get(OVERRIDES) or [])
        if OVERRIDES not in joined:
            self.written[at] = (fill.file, at)
        for index, entry in enumerate(fill.file.data["tenants"][name][OVERRIDES]):
            self.written[*at, len(taken)] = (fill.file, (*at, index))
            refused = tuple(self._refused_in_override(name, entry, frame)) if isinstance(entry, dict) else ()
            for path, fix in refused:
                self._platforms(name, fill, (*at, index, *path), fix)
            taken.append(without(entry, (path for path, _ in refused)) if refused else entry)
        joined[OVERRIDES] = taken

    def _refused_in_override(
        self, name: str, entry: dict[str, Any], frame: dict[str, Any]
    ) -> Iterator[tuple[Path, str]]:
        """The paths of what an override of the file may not say, each with what else to do."""
        granted, known = _granted(frame), fields_of(TenantOverride)
        for key, value in entry.items():
            if key in ("apps", "sources"):
                yield from (((key, inner), "") for inner in mapping_at(entry, key) if inner in mapping_at(frame, key))
            elif key in BLOCKS:
                if key in frame and self.main.origin(("tenants", name, key))[:1] != (DEFAULTS,):
                    yield (key,), "or write it in the apps"
            elif key != "when" and key in known:  # the check of shapes reports a key that is misspelt
                yield from (((key, *path), fix) for path, fix in _refused(granted, key, value))

    def _set(self, name: str, fill: Fill, key: str, joined: dict[str, Any], granted: set[str]) -> None:
        """Take a setting over if it is granted, else report it."""
        at = ("tenants", name, key)
        value = fill.file.data["tenants"][name][key]
        refused = list(_refused(granted, key, value))
        if refused and key not in fields_of(Tenant):
            unknown = unknown_key_of(at, Tenant)
            self.problems += [] if self._is_full else [unknown.at(fill.file.locate(at, key=True))]
            return
        for path, fix in refused:
            self._platforms(name, fill, (*at, *path), fix)
        if refused and refused[0][0] == ():
            return
        if key == "namespaces" and isinstance(value, dict) and isinstance(joined.get(key, {}), dict):
            # What the main file says of one, such as its pod security, holds.
            self._add_entries(name, fill, key, joined)
        elif not refused and value is not None:
            self._put(joined, fill, at, value)

    def _platforms(self, name: str, fill: Fill, path: Path, fix: str) -> None:
        if self._is_full:
            return
        first, last = fill.file.extent(path)
        lines = f"line {first}" if first == last else f"lines {first} to {last}"
        message = f"'{path[-1]}' of tenant '{name}' belongs to the platform's file"
        at = ("tenants", name)
        where = self.main.file if self.main.filled_by(at) else self.main.line_of(at)
        it = "it" if first == last else "them"
        asked = f"remove {lines}, or ask the platform team to move {it} to 'tenants.{name}' in {where}"
        self._problem(fill, path, "platforms-setting", message, f"{asked}, {fix}" if fix else asked)

    @property
    def _is_full(self) -> bool:
        """Whether more problems are known than one run reports, so that further ones need not be put into words."""
        return len(self.problems) > MAX_PROBLEMS

    def _problem(self, fill: Fill, path: Path, code: str, message: str, fix: str, notes: tuple[str, ...] = ()) -> None:
        if not self._is_full:
            self.problems.append(Problem(path, code, message, notes, fix).at(fill.file.locate(path, key=True)))


def _granted(frame: dict[str, Any]) -> set[str]:
    """The settings that the main file leaves to a tenant."""
    settings = mapping_at(frame, "grants").get("settings")
    return {text for text in settings if isinstance(text, str)} if isinstance(settings, list) else set()


def _refused(granted: set[str], key: str, value: Any) -> Iterator[tuple[Path, str]]:
    """The paths below a setting that the included file may not write, each with the grant that would allow it."""
    if key not in granted:
        yield (), f"or allow it there: 'grants: {{settings: [{key}]}}'" if key in get_args(GRANTABLE) else ""
    elif key == "namespaces" and isinstance(value, dict):
        for name, entry in value.items():
            for inner in entry if isinstance(entry, dict) else ():
                if inner not in OF_NAMESPACES or (inner != "name" and inner not in granted):
                    yield (name, inner), ""


def _nulls(value: Any, at: Path) -> Iterator[Path]:
    """The paths of keys without a value below one of a team's file. The values of a chart are the author's own."""
    if isinstance(value, dict):
        for key, inner in value.items():
            path = (*at, key)
            if inner is None:
                yield path
            elif path[-2:] != ("helm", "values"):
                yield from _nulls(inner, path)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _nulls(inner, (*at, index))
