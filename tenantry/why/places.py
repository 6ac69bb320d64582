"""Where the file says something about an app."""

from __future__ import annotations

from dataclasses import dataclass

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placed import placed_app
from tenantry.fleet.settings import setting_origin
from tenantry.messages.errors import Path, TenantryError
from tenantry.plan.planned_apps import PlannedApp
from tenantry.source.parsed_file import override_of


@dataclass(frozen=True, slots=True)
class Places:
    """The lines of a fleet's file. It is asked for an app on a cluster of one environment."""

    fleet: Fleet
    environment: str

    def __call__(self, app: PlannedApp, key: tuple[str, ...]) -> str:
        """`tenants.yaml:85`, of a value of the app, or of a setting of its tenant there; "" if the file does not set it."""
        try:
            values = placed_app(self.fleet, self.environment, app.at, app.cluster).values
            near = [each for each in values if each.path[: len(key)] == key and each.origin]
            if near:
                origin = near[0].origin
                assert origin is not None
                return f"{origin.location.file}:{origin.location.line}"
            return self._setting(app, key) if app.tenant else ""
        except (TenantryError, KeyError):
            return ""

    def setting(self, app: PlannedApp, key: tuple[str, ...]) -> str:
        """`tenants.movy.quota.pods`: the path of a setting of the app's tenant, for `tenantry set`; "" if nothing sets it."""
        try:
            path = self._origin(app, key) if app.tenant else ()
        except (TenantryError, KeyError):
            return ""
        if path == ("tenants", app.tenant):
            path = (*path, *key)
        named = path[-len(key) :] == key and path[:2] == ("tenants", app.tenant)
        return ".".join(map(str, path)) if named and not any("." in str(part) for part in path) else ""

    def _setting(self, app: PlannedApp, key: tuple[str, ...]) -> str:
        path = self._origin(app, key)
        if not path:
            return ""
        location = self.fleet.source.locate(path, key=True)
        return f"{location.file}:{location.line}"

    def _origin(self, app: PlannedApp, key: tuple[str, ...]) -> Path:
        """Where the file sets a setting of the app's tenant; () if it does not.

        What all tenants have is changed for this one in its own entry.
        """
        path = setting_origin(self.fleet, app.tenant, self.environment, app.cluster, *key)
        if key[0] not in path:
            return ()
        own = path[:2] == ("tenants", app.tenant) or override_of(path)
        return path if own else ("tenants", app.tenant)
