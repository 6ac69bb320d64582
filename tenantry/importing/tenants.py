"""One tenant in all environments to its entry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tenantry.importing.apps import awaited_addons, source_key
from tenantry.importing.blocks import included, included_key, source_entry
from tenantry.importing.entries import OwnerEntry
from tenantry.importing.overlay import DIFFER, Overlaid, in_order, overlaid, same, unified
from tenantry.importing.owners import Territory, extra_name, without_environment
from tenantry.importing.resources import Place, Resource
from tenantry.importing.settings import (
    OPEN,
    Space,
    account_settings,
    cluster_roles,
    difference,
    is_own_account,
    manifest_of,
    settings_of,
)
from tenantry.kube.names import slug
from tenantry.model import App as AppModel
from tenantry.model import Tenant


class TenantEntry(OwnerEntry):
    """Builds the entry of a tenant."""

    def entry(self, templates: Mapping[str, str]) -> dict[str, Any]:
        """templates: of the names of namespaces, by environment."""
        entry: dict[str, Any] = {**self._namespaces(templates), **self._account()}
        settings = overlaid(self._settings(), same)
        # The apps take the names that sources get, and both name Secrets.
        self._add_sources(settings)
        for place in settings.conflicts:
            if space := self._space(place)[0].made:
                text = "its settings differ by environment and by cluster at once, which overrides cannot say"
                space.leave(text, "declare them by hand", "metadata")
        entry |= settings.base
        if entry.get("role") == "cluster-admin":
            entry["clusterAdmin"] = True
        entry |= self._rights()
        notifications = self.notifications()
        entry |= self.names()
        if self.apps:
            entry["apps"] = {key: in_order(self.app(apps), AppModel) for key, apps in self.apps.items()}
        if self.path in self.gathered.paused:
            entry["state"] = "paused"
        if settings.overrides:
            entry["overrides"] = settings.overrides
        return in_order({**entry, **notifications, "adopt": True}, Tenant)

    # --- namespaces and the account -------------------------------------------------------------------------------

    def _homes(self) -> dict[str, Territory]:
        homes = {name: survey.territories.get(self.tenant) for name, survey in self.surveys.items()}
        return {name: home for name, home in homes.items() if home}

    def _namespaces(self, templates: Mapping[str, str]) -> dict[str, Any]:
        """Where they do not have the names that the environment gives."""
        entry: dict[str, Any] = {}
        homes = self._homes()
        mains = {Place(name, "-"): home.main for name, home in homes.items()}
        if mains != {Place(name, "-"): filled(templates[name], name, self.tenant) for name in homes}:
            entry["namespace"] = self._namespace(mains)
        extra = {key: extra_name(home.main, key, name) for home in homes.values() for key, name in home.extra.items()}
        if extra:
            entry["namespaces"] = {key: self._extra(key, name) for key, name in extra.items()}
        return entry

    def _namespace(self, mains: Mapping[Place, str]) -> str:
        """The template of the main namespace. Overrides hold no names, so what differs is a variable of the environments."""
        if (template := unified(mains)) is not DIFFER:
            return str(template)
        variable = f"{self.tenant.replace('-', '_')}_namespace"
        for place, name in mains.items():
            self.gathered.variables[place.environment][variable] = name
        return f"{{{variable}}}"

    def _extra(self, key: str, template: str) -> dict[str, Any]:
        """The entry of an extra namespace: what differs in it from the main one."""
        entry: dict[str, Any] = {} if template == "{namespace}-{key}" else {"name": template}
        settings: dict[Place, dict[str, Any]] = {}
        for place in self._places():
            name = self.surveys[place.environment].territories[self.tenant].extra.get(key)
            main, extra = self._space(place)[0], self._space(place, name)[0]
            if name and extra.made:
                settings[place] = difference(settings_of(main), settings_of(extra))
                if any(is_own_account(extra, resource) for resource in extra.objects):
                    entry["serviceAccount"] = True
        if settings:
            entry |= {part: value for part, value in self.agreed(settings, "namespaces", key).items() if part != "name"}
        return entry

    def _account(self) -> dict[str, Any]:
        """`serviceAccount`, where it is not the default."""
        for name, home in self._homes().items():
            survey = self.surveys[name]
            account = survey.account(self.tenant)
            main = survey.world.get("ServiceAccount", home.main, account)
            for namespace in home.namespaces:
                if own := survey.world.get("ServiceAccount", namespace, account):
                    own.take(*self.path)
            if entry := {**({"name": account} if account != self.tenant else {}), **account_settings(main)}:
                return {"serviceAccount": entry}
        return {}

    # --- settings -------------------------------------------------------------------------------------------------

    def _places(self) -> list[Place]:
        """Where the tenant has apps; without any, the management clusters of its namespaces."""
        places = dict.fromkeys(place for apps in self.apps.values() for place in apps)
        return list(places) or [Place(name, self.surveys[name].world.management) for name in self._homes()]

    def _settings(self) -> dict[Place, dict[str, Any]]:
        seen: dict[Place, dict[str, Any]] = {}
        unseen: dict[Place, dict[str, Any]] = {}
        for place in self._places():
            survey = self.surveys[place.environment]
            apps = [places[place] for places in self.apps.values() if place in places]
            times = apps[0].times if apps else {}
            own: dict[str, Any] = {
                key: value for key, value in times.items() if self.gathered.defaults.get(key) != value
            }
            addons = [*survey.awaited_by_baseline(self.tenant, place), *awaited_addons(survey, apps)]
            if addons:
                own["dependsOn"] = list(dict.fromkeys(addons))
            space = self._space(place)[0]
            if space.made or space.objects:
                seen[place] = {**own, **settings_of(space)}
            else:
                unseen[place] = {**own, **OPEN}
        if unseen and not seen:
            text = "decide: its namespaces were not read, so nothing is restricted in them"
            self.gathered.decisions[(*self.path, "network")].append(text)
        return seen or unseen

    def _space(self, place: Place, name: str | None = None) -> tuple[Space, list[Resource]]:
        """The tenant's main namespace in a place, or another, and everything that was read of that cluster."""
        survey = self.surveys[place.environment]
        home = survey.territories[self.tenant]
        name = name or home.main
        account = local_account = survey.account(self.tenant)
        if place.cluster == survey.world.management:
            present, made = survey.world.within(name), survey.world.get("Namespace", "", name)
        else:
            present, account = survey.baselines[place], home.main
            made = next(
                (resource for resource in present if (resource.kind, resource.name) == ("Namespace", name)), None
            )
        objects = tuple(resource for resource in present if resource.namespace == name)
        keys = {namespace: key for key, namespace in home.extra.items()}
        return Space(self.tenant, account, local_account, name, made, objects, self.path, keys), present

    def _rights(self) -> dict[str, Any]:
        roles: dict[str, Any] = {}
        objects: dict[str, dict[Place, Any]] = defaultdict(dict)
        for place in self._places():
            space, present = self._space(place)
            for key, role in cluster_roles(space, present).items():
                roles.setdefault(key, role)
            for resource in present:
                if resource.tenant == self.tenant and resource.is_declared and not resource.namespace:
                    key = slug(without_environment(resource.name, place.environment))
                    objects[key][place] = manifest_of(resource, key)
                    resource.take(*self.path, "clusterObjects", key)
        entry: dict[str, Any] = {"clusterRoles": roles} if roles else {}
        if any(role.get("role") == "cluster-admin" for role in roles.values()):
            entry["clusterAdmin"] = True
        agreed = {key: self.agreed(values, "clusterObjects", key) for key, values in objects.items()}
        return {**entry, **({"clusterObjects": agreed} if agreed else {})}

    # --- sources --------------------------------------------------------------------------------------------------

    def _add_sources(self, entry: Overlaid) -> None:
        """Add `sources`, with overrides for what differs in one of the same kind."""
        sources: dict[str, dict[Place, Any]] = defaultdict(dict)
        for app in (app for places in self.apps.values() for app in places.values()):
            assert app.source is not None
            survey = self.surveys[app.place.environment]
            for source in (app.source, *included(survey.world, app.source)):
                key = source_key(app) if source is app.source else included_key(source, app.prefix)
                own = source_entry(survey.world, source, survey.names_of(app), app.prefix)
                sources[key].setdefault(app.place, own)
                source.take(*self.path, "sources", key)
        for key, places in sources.items():
            if len({next(iter(own)) for own in places.values()}) > 1:
                entry.add("sources", key, Overlaid(self.agreed(places, "sources", key)))
            else:
                entry.add("sources", key, overlaid(places, unified))


def filled(template: str, environment: str, tenant: str) -> str:
    """The name that an environment gives a tenant's namespace."""
    return template.replace("{env}", environment).replace("{tenant}", tenant)
