"""Takes a tenant off a cluster: no selector of the tenant or its apps takes the cluster any more."""

from __future__ import annotations

from typing import Any

from tenantry.edit.editor import Editor
from tenantry.edit.subjects.adding import Edit
from tenantry.edit.subjects.names import Kind
from tenantry.edit.subjects.references import existing
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import apps_on, matches
from tenantry.load import load_fleet
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import counted, format_path
from tenantry.model import Selector


def remove_placement(editor: Editor, tenant: str, cluster: str) -> Edit:
    """Change each selector that puts something of a tenant on a cluster, and drop the overrides for that cluster.

    Raises: InvalidFleet: the file is invalid, so nobody knows what its selectors take; Refused: one of the names is unknown, the
    tenant is not on the cluster, or something of it is nowhere else.
    """
    at, _ = existing(editor, Kind.TENANT, tenant).path, existing(editor, Kind.CLUSTER, cluster)
    fleet = load_fleet(editor.main, editor.read)
    if not _is_placed(fleet, tenant, cluster):
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


def _is_placed(fleet: Fleet, tenant: str, cluster: str) -> bool:
    return any(apps_on(fleet, each, tenant, cluster) for each in fleet.clusters[cluster].environments)


def _leave_out(editor: Editor, fleet: Fleet, holder: Path, cluster: str) -> None:
    """Make the selector of a tenant or an app leave out a cluster."""
    tenant = fleet.document.tenants[str(holder[1])]
    declared = tenant.apps[str(holder[3])] if len(holder) > 2 else tenant
    selector = declared.clusters
    if selector is None and declared is tenant and any(app.clusters is None for app in tenant.apps.values()):
        inherited = fleet.document.defaults.clusters
        if inherited and matches(inherited, cluster, fleet.clusters[cluster]):
            editor.set((*holder, "clusters"), _without(inherited, cluster, holder))
    elif selector and matches(selector, cluster, fleet.clusters[cluster]):
        editor.set((*holder, "clusters"), _without(selector, cluster, holder))


def _without(selector: Selector, cluster: str, holder: Path) -> dict[str, Any]:
    """The selector as written, without a cluster. holder: the tenant or the app. Raises: Refused: it would take no cluster."""
    written = selector.model_dump(exclude_unset=True)
    if selector.names is None:
        return {**written, "exclude": [*selector.exclude, cluster]}
    if left := [name for name in selector.names if name != cluster]:
        return {**written, "names": left}
    app = f"/{holder[3]}" if len(holder) > 2 else ""
    kind, at = "app" if app else "tenant", format_path((*holder, "clusters", "names"))
    raise Refused(
        f"{kind} {holder[1]}{app} is on no other cluster than '{cluster}'",
        f"tenantry remove {kind} {holder[1]}{app}; or name another cluster: tenantry set {at} '[NAME]'",
    )
