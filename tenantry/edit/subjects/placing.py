"""Takes a tenant off a cluster: no selector of the tenant or its apps takes it any more. And widens no list that is not there."""

from __future__ import annotations

from typing import Any

from tenantry.edit.editor import Editor
from tenantry.edit.subjects.adding import Edit
from tenantry.edit.subjects.names import Kind
from tenantry.edit.subjects.references import existing
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import is_placed, matches, selector_of
from tenantry.load import load_fleet
from tenantry.messages.data import ABSENT
from tenantry.messages.errors import InvalidFleet, Path, Refused
from tenantry.messages.text import counted, format_path
from tenantry.model import Selector


def remove_placement(editor: Editor, tenant: str, cluster: str) -> Edit:
    """Change each selector that puts something of a tenant on a cluster, and drop the overrides for that cluster.

    Raises: InvalidFleet: the file is invalid, so nobody knows what its selectors take; Refused: one of the names is unknown, the
    tenant is not on the cluster, or something of it is nowhere else.
    """
    at, _ = existing(editor, Kind.TENANT, tenant).path, existing(editor, Kind.CLUSTER, cluster)
    fleet = load_fleet(editor.main, editor.read)
    if not any(is_placed(fleet, each, tenant, cluster) for each in fleet.clusters[cluster].environments):
        raise Refused(
            f"tenant '{tenant}' is not on cluster '{cluster}'", "`tenantry list placements` lists where tenants are"
        )
    dropped = 0
    for holder in [at, *((*at, "apps", app) for app in editor.names(*at, "apps"))]:
        _leave_out(editor, fleet, holder, cluster)
        overrides = (*holder, "overrides", "clusters", cluster)
        if editor.files_with(overrides):
            dropped += 1
            editor.unset(overrides)
    notes = [f"{counted(dropped, 'override')} for '{cluster}' removed with it"] if dropped else []
    return Edit(f"removed tenant '{tenant}' from cluster '{cluster}'", notes)


def _leave_out(editor: Editor, fleet: Fleet, holder: Path, cluster: str) -> None:
    """Make the selector of a tenant or an app leave out a cluster."""
    tenant = fleet.document.tenants[str(holder[1])]
    declared = tenant.apps[str(holder[3])] if len(holder) > 2 else tenant
    selector = declared.clusters
    inherits = not tenant.apps or any(app.clusters is None for app in tenant.apps.values())
    if selector is None and declared is tenant and inherits:
        inherited = fleet.document.defaults.clusters
        if inherited and matches(inherited, cluster, fleet.clusters[cluster]):
            editor.set((*holder, "clusters"), _without(inherited, cluster, holder))
    elif selector and matches(selector, cluster, fleet.clusters[cluster]):
        editor.set((*holder, "clusters"), _without(selector, cluster, holder))


def _without(selector: Selector, cluster: str, holder: Path) -> dict[str, Any]:
    """The selector as written, without a cluster. holder: the tenant or the app. Raises: Refused: it would take no cluster."""
    written = selector.model_dump(exclude_unset=True)
    if selector.names is None:
        if isinstance(selector.exclude, list):
            return {**written, "exclude": [*selector.exclude, cluster]}
        return {**written, "exclude": {**written["exclude"], "names": [*selector.exclude.names, cluster]}}
    if left := [name for name in selector.names if name != cluster]:
        return {**written, "names": left}
    app = f"/{holder[3]}" if len(holder) > 2 else ""
    kind, at = "app" if app else "tenant", format_path((*holder, "clusters", "names"))
    raise Refused(
        f"{kind} {holder[1]}{app} is on no other cluster than '{cluster}'",
        f"tenantry remove {kind} {holder[1]}{app}; or name another cluster: tenantry set {at} '[NAME]'",
    )


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
            selector = fleet.document.tenants[name].clusters or fleet.document.defaults.clusters
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
