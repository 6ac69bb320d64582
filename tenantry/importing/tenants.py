"""One tenant in all environments to its entry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tenantry.importing.apps import source_key
from tenantry.importing.attached import cluster_roles
from tenantry.importing.blocks import included, source_entry
from tenantry.importing.entries import OwnerEntry, with_overrides
from tenantry.importing.overlay import DIFFER, Place, in_order, overlaid, same, unified
from tenantry.importing.owners import extra_name, without_environment
from tenantry.importing.settings import OPEN, Space, account_of, difference, is_own_account, manifest_of, settings_of
from tenantry.importing.survey import Survey
from tenantry.importing.world import FoundApp, Thing
from tenantry.kube.names import slug
from tenantry.model import App, Tenant


class TenantEntry(OwnerEntry):
    """Builds the entry of a tenant."""

    def entry(self, templates: Mapping[str, str]) -> dict[str, Any]:
        """templates: of the names of namespaces, by environment."""
        entry: dict[str, Any] = {**self._namespaces(templates), **self._account()}
        settings = overlaid(self._settings(), same)
        entry |= with_overrides(settings)
        self._tell(settings.conflicts)
        if entry.get("role") == "cluster-admin":
            entry["clusterAdmin"] = True
        entry |= self._rights()
        sources = self._sources()
        beside = self.beside()
        entry |= self.named()
        if sources:
            entry["sources"] = sources
        if self.apps:
            entry["apps"] = {key: in_order(self.app(found), App) for key, found in self.apps.items()}
        if self.path in self.gathered.paused:
            entry["state"] = "paused"
        return in_order({**entry, **beside, "adopt": True}, Tenant)

    # --- namespaces and the account -----------------------------------------------------------------------------------

    def _namespaces(self, templates: Mapping[str, str]) -> dict[str, Any]:
        """Where they do not have the names that the environment gives."""
        entry: dict[str, Any] = {}
        homes = {each: survey.territories[self.tenant] for each, survey in self._here().items()}
        filled = (templates[each].replace("{env}", each).replace("{tenant}", self.tenant) for each in homes)
        if list(filled) != [home.main for home in homes.values()]:
            mains = {Place(each, "-"): home.main for each, home in homes.items()}
            one = unified(mains, self.variables.named(self.tenant, "namespace"))
            entry["namespace"] = next(iter(mains.values())) if one is DIFFER else one
        extra = {key: extra_name(home.main, key, name) for home in homes.values() for key, name in home.extra.items()}
        if extra:
            entry["namespaces"] = {key: self._extra(key, name) for key, name in extra.items()}
        return entry

    def _extra(self, key: str, template: str) -> dict[str, Any]:
        """The entry of an extra namespace: what differs in it from the main one."""
        entry: dict[str, Any] = {} if template == "{namespace}-{key}" else {"name": template}
        found: dict[Place, dict[str, Any]] = {}
        for place in self._places():
            name = self.surveys[place.environment].territories[self.tenant].extra.get(key)
            main, extra = self._space(place)[0], self._space(place, name)[0]
            if name and extra.made:
                found[place] = difference(settings_of(main, self.notes), settings_of(extra, self.notes))
                if any(is_own_account(extra, each) for each in extra.objects):
                    entry["serviceAccount"] = True
        first, *others = found.values() or [{}]
        if any(other != first for other in others):
            text = f"decide: what differs in namespace '{key}' by environment or cluster is not said"
            self.notes.decide((*self.path, "namespaces", key), text)
        return {**first, **entry}

    def _account(self) -> dict[str, Any]:
        for survey in self._here().values():
            home = survey.territories[self.tenant]
            name = survey.account(self.tenant)
            there = survey.world.get("ServiceAccount", home.main, name)
            for namespace in home.namespaces:
                if each := survey.world.get("ServiceAccount", namespace, name):
                    self.notes.take(each.read, *self.path)
            if made := {**({"name": name} if name != self.tenant else {}), **account_of(there)}:
                return {"serviceAccount": made}
        return {}

    def _here(self) -> dict[str, Survey]:
        return {each: survey for each, survey in self.surveys.items() if self.tenant in survey.territories}

    # --- settings -----------------------------------------------------------------------------------------------------

    def _places(self) -> list[Place]:
        """Where the tenant has apps; without any, the management clusters of its namespaces."""
        places = dict.fromkeys(place for found in self.apps.values() for place in found)
        return list(places) or [Place(each, survey.world.management) for each, survey in self._here().items()]

    def _settings(self) -> dict[Place, dict[str, Any]]:
        found: dict[Place, dict[str, Any]] = {}
        unseen: dict[Place, dict[str, Any]] = {}
        for place in self._places():
            times = next((app[place].times for app in self.apps.values() if place in app), {})
            own: dict[str, Any] = {
                key: value for key, value in times.items() if self.gathered.defaults.get(key) != value
            }
            space = self._space(place)[0]
            if order := self.surveys[place.environment].order_of(self.tenant, place):
                own["dependsOn"] = order
            if space.made or space.objects:
                found[place] = {**own, **settings_of(space, self.notes)}
            else:
                unseen[place] = {**own, **OPEN}
        if unseen and not found:
            text = "decide: its namespaces were not read, so nothing is restricted in them"
            self.notes.decide((*self.path, "network"), text)
        return found or unseen

    def _tell(self, conflicts: list[Place]) -> None:
        for place in conflicts:
            if made := self._space(place)[0].made:
                text = "its settings differ by environment and by cluster at once, which overrides cannot say"
                self.notes.leave(made.read, text, "declare them by hand", "metadata")

    def _space(self, place: Place, name: str | None = None) -> tuple[Space, list[Thing]]:
        """The tenant's main namespace in a place, or another, and everything that was read of that cluster."""
        survey = self.surveys[place.environment]
        home = survey.territories[self.tenant]
        local = place.cluster == survey.world.management
        name = name or home.main
        things = survey.world.within(name) if local else survey.baselines.get(place, [])
        made = survey.world.get("Namespace", "", name) if local else _namespace(things, name)
        inside = tuple(thing for thing in things if thing.namespace == name)
        named = survey.account(self.tenant)
        account = named if local else home.main
        keys = {namespace: key for key, namespace in home.extra.items()}
        return Space(self.tenant, account, named, name, made, inside, self.path, keys), things

    def _rights(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for place in self._places():
            space, things = self._space(place)
            for key, each in cluster_roles(space, things, self.surveys[place.environment].world).items():
                found.setdefault(key, each)
        admin = any(each.get("role") == "cluster-admin" for each in found.values())
        entry = {"clusterRoles": found, **({"clusterAdmin": True} if admin else {})} if found else {}
        objects = {key: self.agreed(there, "clusterObjects", key) for key, there in self._cluster_objects().items()}
        return {**entry, **({"clusterObjects": objects} if objects else {})}

    def _cluster_objects(self) -> dict[str, dict[Place, Any]]:
        found: dict[str, dict[Place, Any]] = defaultdict(dict)
        for place in self._places():
            for thing in self._space(place)[1]:
                if thing.tenant == self.tenant and thing.is_declared and not thing.namespace:
                    key = slug(without_environment(thing.name, place.environment))
                    found[key][place] = manifest_of(thing, key)
                    self.notes.take(thing.read, *self.path, "clusterObjects", key)
        return found

    # --- sources ------------------------------------------------------------------------------------------------------

    def _sources(self) -> dict[str, Any]:
        found: dict[str, dict[Place, Any]] = defaultdict(dict)
        apps: dict[str, list[FoundApp]] = defaultdict(list)
        for app in (app for each in self.apps.values() for app in each.values()):
            assert app.source is not None
            survey = self.surveys[app.place.environment]
            key = source_key(app)
            apps[key].append(app)
            prefix = app.planned.removesuffix(app.key)
            found[key][app.place] = source_entry(survey.world, app.source, survey.names_of(app), prefix)
            for each in included(survey.world, app.source):
                name = each.source_key or each.name.removeprefix(prefix)
                found[name].setdefault(app.place, source_entry(survey.world, each, survey.names_of(app), prefix))
                self.notes.take(each.read, *self.path, "sources", name)
        entries: dict[str, Any] = {}
        for key, places in found.items():
            one = unified(places, self.variables.named(self.tenant, key))
            entries |= {key: one} if one is not DIFFER else self._parted(key, places, apps[key])
            for app in apps[key]:
                if app.source:
                    self.notes.take(app.source.read, *self.path, "sources", key)
        return entries

    def _parted(self, key: str, places: Mapping[Place, Any], apps: list[FoundApp]) -> dict[str, Any]:
        """A source for each environment, where one cannot say what differs."""
        first = next(iter(places)).environment
        entries: dict[str, Any] = {}
        for place, entry in places.items():
            name = key if place.environment == first else f"{key}-{place.environment}"
            entries.setdefault(name, entry)
            for app in apps:
                if app.place == place:
                    app.content[app.block] = {**app.content[app.block], "source": name}
        return entries


def _namespace(things: list[Thing], name: str) -> Thing | None:
    return next((thing for thing in things if (thing.kind, thing.name) == ("Namespace", name)), None)
