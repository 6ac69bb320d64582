"""Selectors: which clusters a tenant, an app or an add-on takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any

from tenantry.edit.subjects.draft import Draft, Edit
from tenantry.edit.subjects.names import Kind
from tenantry.edit.subjects.references import Target
from tenantry.edit.subjects.subjects import existing, in_words, path_of, require
from tenantry.kube.names import ADDON_PREFIX
from tenantry.messages.data import value_at
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import listed

DEFAULTS = "defaults"


def owner_of(draft: Draft, text: str) -> tuple[Path, str]:
    """What an argument such as `rocky`, `rocky/web`, `platform/dns` or `defaults` names: its path, and itself in words."""
    if text == DEFAULTS:
        return (DEFAULTS,), "the defaults"
    if text.startswith(ADDON_PREFIX):
        target = existing(draft, Kind.ADDON, text)
    else:
        target = existing(draft, Kind.APP if "/" in text else Kind.TENANT, text)
    return path_of(target), in_words(target)


def selector_of(text: str, exclude: Sequence[str] = ()) -> dict[str, Any]:
    """`all`, `hub-dev,edge-1` or `tier=edge,region=eu` as a selector. Raises: Refused: names and labels are mixed."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if parts == ["all"]:
        chosen: dict[str, Any] = {"all": True}
    elif parts and all("=" in part for part in parts):
        chosen = {"labels": dict(_pair(part) for part in parts)}
    elif parts and not any("=" in part for part in parts):
        chosen = {"names": parts}
    else:
        raise Refused(
            f"'{text}' does not select clusters", "write 'all', names ('hub-dev,edge-1') or labels ('tier=edge')"
        )
    return chosen | ({"exclude": list(exclude)} if exclude else {})


def chosen(clusters: str | None, exclude: Sequence[str]) -> dict[str, Any]:
    """The options of a command as a selector, or as a part of one. Raises: Refused: there is neither."""
    if clusters is None and not exclude:
        raise Refused("no clusters are named", "add --clusters NAMES or --exclude NAMES")
    return selector_of(clusters, exclude) if clusters else {"exclude": list(exclude)}


def _pair(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    return key, value


def select(draft: Draft, text: str, selector: dict[str, Any]) -> Edit:
    """Add clusters to a selector, or set one where none is. Raises: Refused: the selector in the file is of another form."""
    path, who = owner_of(draft, text)
    for name in (*selector.get("names", ()), *selector.get("exclude", ())):
        require(draft, Target(Kind.CLUSTER, name))
    at = (*path, "clusters")
    file = draft.holder(at)
    if file is None:
        draft.put(at, selector)
        return draft.edit(f"{who} selects {_words(selector)}", _was_default(draft, path))
    there = value_at(draft.data(file), at)
    changed = _add_to(draft, file, at, there, selector)
    if not changed:
        raise Refused(f"{who} selects {_words(selector)} already", "nothing has to change")
    return draft.edit(f"{who} selects {_words(value_at(draft.data(file), at))}")


def _add_to(draft: Draft, file: FilePath, at: Path, there: dict[str, Any], selector: dict[str, Any]) -> bool:
    changed = False
    for key, value in selector.items():
        if key not in there and key != "exclude":
            form = next(each for each in ("names", "labels", "all") if each in there)
            raise Refused(
                f"the selector is {_words(there)}, which cannot be combined with {_words({key: value})}",
                f"remove it first, or set it: tenantry set {'.'.join(map(str, at))} ..." if form else "",
            )
        if key in ("names", "exclude"):
            changed |= _extend(draft, file, (*at, key), value)
        elif key == "labels":
            changed |= _narrow(draft, file, (*at, key), value)
    return changed


def _narrow(draft: Draft, file: FilePath, at: Path, labels: dict[str, str]) -> bool:
    """Require more labels. Raises: Refused: one is required with another value."""
    there = value_at(draft.data(file), at)
    missing = [key for key in labels if key not in there]
    for key, value in labels.items():
        if there.get(key, value) != value:
            fix = f"tenantry set {'.'.join(map(str, at))}.{key} {value}"
            raise Refused(f"the selector requires {key}={there[key]}, and no cluster has two values of a label", fix)
    for key in missing:
        draft.put((*at, key), labels[key], file)
    return bool(missing)


def _extend(draft: Draft, file: FilePath, at: Path, names: list[str]) -> bool:
    there = value_at(draft.data(file), at)
    if there is None:
        draft.put(at, names, file)
        return True
    missing = [name for name in names if name not in there]
    for name in missing:
        draft.append(at, name, file)
    return bool(missing)


def deselect(draft: Draft, text: str, selector: dict[str, Any] | None) -> Edit:
    """Take clusters off a selector, or remove it as a whole. Raises: Refused: they are not in it, or nothing would be left."""
    path, who = owner_of(draft, text)
    at = (*path, "clusters")
    file = draft.holder(at)
    if file is None:
        raise Refused(f"{who} has no selector", "nothing has to change")
    if selector is None:
        draft.unset(at, file, keep=len(path))
        return draft.edit(f"removed the selector of {who}", _falls_back(draft, path))
    for key, value in selector.items():
        _take_off(draft, file, at, key, value, who)
    return draft.edit(f"{who} selects {_words(value_at(draft.data(file), at))}")


def _take_off(draft: Draft, file: FilePath, at: Path, key: str, value: Any, who: str) -> None:
    there = value_at(draft.data(file), (*at, key))
    gone = list(value) if isinstance(value, list | dict) else [value]
    if there is None or any(each not in there for each in gone if key != "all"):
        raise Refused(
            f"{who} does not select {_words({key: value})} by that form", f"it selects {_words(draft.value(at))}"
        )
    if key == "all" or (len(gone) == len(there) and key != "exclude"):
        raise Refused(f"{who} would select no cluster", "select others first, or remove the whole selector")
    if key == "exclude" and len(gone) == len(there):
        draft.unset((*at, key), file, keep=len(at))
        return
    for each in gone:
        index = there.index(each) if isinstance(there, list) else each
        draft.unset((*at, key, index), file, keep=len(at) + 1)


def _words(selector: dict[str, Any]) -> str:
    """The clusters of a selector, for messages."""
    form = (
        "all clusters"
        if "all" in selector
        else f"clusters with {listed([f'{key}={value}' for key, value in selector['labels'].items()])}"
        if "labels" in selector
        else f"{listed(selector['names'])}"
        if "names" in selector
        else ""
    )
    without = f"without {listed(selector['exclude'])}" if selector.get("exclude") else ""
    return " ".join(filter(None, (form, without)))


def _was_default(draft: Draft, path: Path) -> list[str]:
    """Another selector, less near, that applied until now."""
    above = _above(draft, path)
    return [f"until now the selector of {above} applied"] if above else []


def _falls_back(draft: Draft, path: Path) -> list[str]:
    above = _above(draft, path)
    return [f"the selector of {above} applies now"] if above else []


def _above(draft: Draft, path: Path) -> str:
    if len(path) == 4 and path[0] == "tenants" and draft.value((*path[:2], "clusters")) is not None:
        return f"tenant '{path[1]}'"
    if path[0] == "tenants" and draft.value((DEFAULTS, "clusters")) is not None:
        return "the defaults"
    return ""
