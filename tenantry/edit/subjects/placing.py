"""A list of clusters or environments that is not there yet is not begun by its first entry."""

from __future__ import annotations

from typing import Any

from tenantry.edit.editor import Editor
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import matches, selector_of
from tenantry.load import load_fleet
from tenantry.messages.data import ABSENT
from tenantry.messages.errors import InvalidFleet, Path, Refused
from tenantry.messages.text import counted, format_path

_MOST = 20
"""How many clusters a fix lists."""


def require_list(editor: Editor, path: Path, new: Any) -> None:
    """Refuse a first entry of `clusters.names` or `environments` if it would replace what holds without the list.

    path: of the list. Raises: Refused: the fix has the whole list to type.
    """
    if editor.value(path) is not ABSENT or path[0] not in ("tenants", "platform", "clusters"):
        return
    try:
        fleet = load_fleet(editor.main, editor.read)
    except InvalidFleet:
        return  # nobody knows what its selectors take
    holder = path[:-2] if path[-2:] == ("clusters", "names") else path[:-1]
    here = _clusters_at(fleet, holder) if holder != path[:-1] else _environments_at(fleet, path)
    if not here:
        return
    at, what = format_path(holder), "clusters" if holder != path[:-1] else "environments"
    shown = [*here, *([new] if new not in here else [])]
    entries = ", ".join(shown) if len(shown) <= _MOST else f"{', '.join(here[: _MOST - 2])}, ..., {new}"
    message = (
        f"{at} has no list of {what} of its own, so that '{new}' alone would replace {counted(len(here), what[:-1])}"
    )
    if new in here:
        raise Refused(
            f"{message}; it is among them already", f"nothing to do; to name them: {_typed(holder, what, entries)}"
        )
    raise Refused(message, _typed(holder, what, entries))


def _typed(holder: Path, what: str, entries: str) -> str:
    value = f"{{names: [{entries}]}}" if what == "clusters" else f"[{entries}]"
    return f"tenantry set {format_path((*holder, what))} '{value}'"


def _clusters_at(fleet: Fleet, holder: Path) -> list[str]:
    """The clusters that a tenant, an app or an add-on takes."""
    match holder:
        case ("tenants", str(name)) if name in fleet.document.tenants:
            selector = fleet.document.tenants[name].clusters
        case ("tenants", str(name), "apps", str(app)) if app in fleet.document.tenants[name].apps:
            selector = selector_of(fleet, name, app)
        case ("platform", "addons", str(addon)) if addon in fleet.document.platform.addons:
            selector = fleet.document.platform.addons[addon].clusters
        case _:
            return []
    return [name for name, cluster in fleet.clusters.items() if selector and matches(selector, name, cluster)]


def _environments_at(fleet: Fleet, path: Path) -> list[str]:
    """The environments of what has no list of its own: of a cluster its group's, of anything else all."""
    if path[0] == "clusters":
        cluster = fleet.clusters.get(str(path[1]))
        return list(cluster.environments) if cluster else []
    return list(fleet.environments)
