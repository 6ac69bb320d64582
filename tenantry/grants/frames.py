"""What included files say of tenants, put into the frames that the main file gives them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
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
    if not main.fills:
        return main
    tenants, written, problems = dict(mapping_at(main.data, "tenants")), dict[Path, Written](), list[Problem]()
    for name, fill in main.fills.items():
        filling = _Filling(main, name, fill, written, problems)
        if (joined := filling.run(tenants.get(name, {}), is_declared=name in tenants)) is not None:
            tenants[name] = joined
    joined_file = main.joined({**main.data, "tenants": tenants}, written, problems)
    joined_file.frame = main
    return joined_file


class _Filling:
    """Joins what an included file says of a tenant into its frame. Settings that the file may not make are problems.

    written: is given where each part of all tenants is written that is not in the main file.
    """

    def __init__(
        self, main: ParsedFile, name: str, fill: Fill, written: dict[Path, Written], problems: list[Problem]
    ) -> None:
        self.main, self.name, self.fill, self.written, self.problems = main, name, fill, written, problems
        self.at: Path = ("tenants", name)
        self.own: Any = fill.file.data["tenants"][name]

    def run(self, frame: Any, *, is_declared: bool) -> dict[str, Any] | None:
        """The tenant as a whole; None: one of the two is no mapping, or nobody declares the tenant."""
        if not is_declared:
            self.written[self.at] = (self.fill.file, self.at)
            message = f"tenant '{self.name}' is not declared in {self.main.file}"
            fix = f"declare it there under 'tenants:' with what the platform decides, or with '{self.name}: {{}}' if nothing"
            self._problem(self.at, "no-frame", message, fix)
        frame = {} if frame is None else frame
        if not isinstance(self.own, dict):
            problem = wrong_type(self.at, "a mapping", self.own)
            self._problem(self.at, problem.code, problem.message, problem.fix)
            return None
        if not isinstance(frame, dict):
            return None  # the check of shapes reports it
        joined = self._joined(frame)
        # Of one that is not declared nobody knows what the file may say, beside what no file may.
        return joined if is_declared else None

    def _joined(self, frame: dict[str, Any]) -> dict[str, Any]:
        joined, granted = dict(frame), _granted(frame)
        if isinstance(frame.get("grants"), dict | None) and SELECTOR in self.own and SELECTOR in frame:
            self._keep_selector(joined)
        for key, value in self.own.items():
            if key in PARTS and not isinstance(frame.get(key, {}), dict):
                continue  # the check of shapes reports what the main file says
            if key in PARTS and isinstance(value, dict):
                self._add_entries(key, joined)
            elif key == OVERRIDES and isinstance(value, list) and isinstance(frame.get(key), list | None):
                self._add_overrides(frame, joined)
            elif self._is_platforms_block(key, frame):
                self._platforms((key,), "or write it in the apps")
            elif key in (SELECTOR, OVERRIDES, *PARTS, *BLOCKS):
                if value is not None:  # else what the platform says stays
                    self._put(joined, key, value)
            else:
                self._set(key, joined, granted)
        # `null` removes what lower levels say, and the platform's word stands on one of them: `role: null` gave `admin`.
        refused = {problem.path for problem in self.problems}
        for path in (path for path, value in leaves(self.own, self.at) if value is None):
            in_values = ("helm", "values") in pairwise(path[:-1])  # these are the author's own
            if not in_values and not any(path[:length] in refused for length in range(len(self.at) + 1, len(path) + 1)):
                what = "has no value, and a team's file removes nothing outside of the 'values' of a chart"
                self._problem(path, NO_VALUE, f"'{path[-1]}' {what}", "write a value, or remove the line")
        return joined

    def _is_platforms_block(self, key: str, frame: dict[str, Any]) -> bool:
        return key in BLOCKS and key in frame and self.main.origin((*self.at, key))[:1] != (DEFAULTS,)

    def _put(self, joined: dict[str, Any], key: str, value: Any) -> None:
        """Take a value of the file over, in place of what the tenant's entry and its templates say, and over `defaults`."""
        at = (*self.at, key)
        self.written[at] = (self.fill.file, at)
        below = mapping_at(self.main.data, DEFAULTS, key)
        if below and isinstance(value, dict) and key != SELECTOR:
            self.written |= {(*at, *path): (self.main, (DEFAULTS, key, *path)) for path, _ in leaves(below)}
            self.written |= {(*at, *path): (self.fill.file, (*at, *path)) for path, _ in leaves(value)}
            value = overlay(below, value, [])
        joined[key] = value

    def _keep_selector(self, joined: dict[str, Any]) -> None:
        """The main file's selector is what the included file selects from, unless a grant says otherwise."""
        grants, own, granted = joined.get("grants") or {}, (*self.at, SELECTOR), (*self.at, "grants", SELECTOR)
        if SELECTOR not in grants or is_nearer(self.main, own, granted):
            joined["grants"] = {**grants, SELECTOR: joined[SELECTOR]}
            self.written[granted] = self.main.written_at(own)

    def _add_entries(self, key: str, joined: dict[str, Any]) -> None:
        entries = mapping_at(joined, key)
        for entry in self.own[key]:
            at = (*self.at, key, entry)
            if entry in entries:
                written = self.main.origin(at)
                owner = f"'{format_path(written[:-2])}'" if is_shared(written) else self.main.file
                message = f"'{entry}' under '{key}' of tenant '{self.name}' is in {owner} already"
                self._problem(
                    at, "duplicate-entry", message, "rename or remove it", (f"first: {self.main.line_of(at)}",)
                )
            else:
                self.written[at] = (self.fill.file, at)
        if key not in joined:
            self.written[*self.at, key] = (self.fill.file, (*self.at, key))
        joined[key] = {**self.own[key], **entries}

    def _add_overrides(self, frame: dict[str, Any], joined: dict[str, Any]) -> None:
        """Append the file's overrides to those of the frame. They change what the file declares, and settings that are granted."""
        at, taken = (*self.at, OVERRIDES), list(frame.get(OVERRIDES) or [])
        if OVERRIDES not in joined:
            self.written[at] = (self.fill.file, at)
        for index, entry in enumerate(self.own[OVERRIDES]):
            self.written[*at, len(taken)] = (self.fill.file, (*at, index))
            refused = tuple(self._refused_in_override(entry, frame)) if isinstance(entry, dict) else ()
            for path, fix in refused:
                self._platforms((OVERRIDES, index, *path), fix)
            taken.append(without(entry, (path for path, _ in refused)) if refused else entry)
        joined[OVERRIDES] = taken

    def _refused_in_override(self, entry: dict[str, Any], frame: dict[str, Any]) -> Iterator[tuple[Path, str]]:
        """The paths of what an override of the file may not say, each with what else to do."""
        granted, known = _granted(frame), fields_of(TenantOverride)
        for key, value in entry.items():
            if key in ("apps", "sources"):
                yield from (((key, inner), "") for inner in mapping_at(entry, key) if inner in mapping_at(frame, key))
            elif key in BLOCKS:
                yield from [((key,), "or write it in the apps")] if self._is_platforms_block(key, frame) else ()
            elif key != "when" and key in known:  # the check of shapes reports a key that is misspelt
                yield from (((key, *path), fix) for path, fix in _refused(granted, key, value))

    def _set(self, key: str, joined: dict[str, Any], granted: set[str]) -> None:
        """Take a setting over if it is granted, else report it."""
        at, value = (*self.at, key), self.own[key]
        refused = list(_refused(granted, key, value))
        if refused and key not in fields_of(Tenant):
            unknown = unknown_key_of(at, Tenant)
            self.problems += [] if self._is_full else [unknown.at(self.fill.file.locate(at, key=True))]
            return
        for path, fix in refused:
            self._platforms((key, *path), fix)
        if refused and refused[0][0] == ():
            return
        if key == "namespaces" and isinstance(value, dict) and isinstance(joined.get(key, {}), dict):
            # What the main file says of one, such as its pod security, holds.
            self._add_entries(key, joined)
        elif not refused and value is not None:
            self._put(joined, key, value)

    def _platforms(self, below: Path, fix: str) -> None:
        """Report a setting that belongs to the platform's file. Args: below: its path below the tenant."""
        if self._is_full:
            return
        path = (*self.at, *below)
        where = self.main.file if self.main.filled_by(self.at) else self.main.line_of(self.at)
        asked = f"remove it, or ask the platform team to move it to 'tenants.{self.name}' in {where}"
        message = f"'{path[-1]}' of tenant '{self.name}' belongs to the platform's file"
        self._problem(path, "platforms-setting", message, f"{asked}, {fix}" if fix else asked)

    @property
    def _is_full(self) -> bool:
        """Whether more problems are known than one run reports, so that further ones need not be put into words."""
        return len(self.problems) > MAX_PROBLEMS

    def _problem(self, path: Path, code: str, message: str, fix: str, notes: tuple[str, ...] = ()) -> None:
        if not self._is_full:
            self.problems.append(Problem(path, code, message, notes, fix).at(self.fill.file.locate(path, key=True)))


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
