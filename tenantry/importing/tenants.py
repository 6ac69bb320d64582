"""One tenant in all environments to its entry."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tenantry.importing.apps import source_key
from tenantry.importing.attached import cluster_roles
from tenantry.importing.blocks import Times, included, source_entry
from tenantry.importing.entries import (
    Surveys,
    agreed,
    app_entry,
    attached,
    automation_of,
    named,
    own_shard,
    placed,
    source_is_there,
    with_overrides,
)
from tenantry.importing.overlay import DIFFER, Place, Variables, in_order, overlaid, same, unified
from tenantry.importing.owners import extra_name, without_environment
from tenantry.importing.settings import OPEN, Space, account_of, difference, manifest_of, settings_of
from tenantry.importing.world import FoundApp, Notes, Thing
from tenantry.kube.names import slug
from tenantry.model import App, Tenant

Apps = Mapping[str, Mapping[Place, FoundApp]]


class TenantEntry:
    """Builds the entry of a tenant. defaults: the times that hold for all tenants."""

    def __init__(
        self, tenant: str, surveys: Surveys, apps: Apps, notes: Notes, variables: Variables, defaults: Times
    ) -> None:
        self._tenant = tenant
        self._surveys = surveys
        self._apps = apps
        self._notes = notes
        self._variables = variables
        self._defaults = defaults
        self._path = ("tenants", tenant)

    def entry(self, templates: Mapping[str, str]) -> dict[str, Any]:
        """templates: of the names of namespaces, by environment."""
        entry: dict[str, Any] = {**self._namespaces(templates), **self._account()}
        settings = overlaid(self._settings(), same)
        entry |= with_overrides(settings)
        self._tell(settings.conflicts)
        if entry.get("role") == "cluster-admin":
            entry["clusterAdmin"] = True
        entry |= self._rights()
        entry |= own_shard([app.thing for found in self._apps.values() for app in found.values()])
        sources = self._sources()
        beside = attached(self._surveys, self._tenant, self._apps, self._variables, self._notes)
        entry |= named(self._surveys, self._tenant, self._variables, self._notes)
        if sources:
            entry["sources"] = sources
        if self._apps:
            entry["apps"] = {key: self._app(found) for key, found in self._apps.items()}
        return in_order({**entry, **beside, "adopt": True}, Tenant)

    def _app(self, found: Mapping[Place, FoundApp]) -> dict[str, Any]:
        entry = {
            **placed(found, self._surveys),
            **app_entry(found, self._notes),
            **automation_of(found, self._variables, self._notes),
        }
        return in_order(entry, App)

    # --- namespaces and the account -----------------------------------------------------------------------------------

    def _namespaces(self, templates: Mapping[str, str]) -> dict[str, Any]:
        """Where they do not have the names that the environment gives."""
        entry: dict[str, Any] = {}
        homes = {each: survey.territories[self._tenant] for each, survey in self._here().items()}
        filled = (templates[each].replace("{env}", each).replace("{tenant}", self._tenant) for each in homes)
        if list(filled) != [home.main for home in homes.values()]:
            mains = {Place(each, "-"): home.main for each, home in homes.items()}
            one = unified(mains, self._variables.named(self._tenant, "namespace"))
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
            name = self._surveys[place.environment].territories[self._tenant].extra.get(key)
            main, extra = self._space(place)[0], self._space(place, name)[0]
            if name and extra.made:
                found[place] = difference(settings_of(main, self._notes), settings_of(extra, self._notes))
                if any((each.kind, each.name) == ("ServiceAccount", extra.account) for each in extra.objects):
                    entry["serviceAccount"] = True
        first, *others = found.values() or [{}]
        if any(each != first for each in others):
            text = f"decide: what differs in namespace '{key}' by environment or cluster is not said"
            self._notes.decide((*self._path, "namespaces", key), text)
        return {**first, **entry}

    def _account(self) -> dict[str, Any]:
        for survey in self._here().values():
            home = survey.territories[self._tenant]
            name = survey.account(self._tenant)
            there = survey.world.get("ServiceAccount", home.main, name)
            for namespace in home.namespaces:
                if each := survey.world.get("ServiceAccount", namespace, name):
                    self._notes.take(each.read, *self._path)
            if made := {**({"name": name} if name != self._tenant else {}), **account_of(there)}:
                return {"serviceAccount": made}
        return {}

    def _here(self) -> Surveys:
        return {each: survey for each, survey in self._surveys.items() if self._tenant in survey.territories}

    # --- settings -----------------------------------------------------------------------------------------------------

    def _places(self) -> list[Place]:
        """Where the tenant has apps; without any, the management clusters of its namespaces."""
        places = dict.fromkeys(place for found in self._apps.values() for place in found)
        return list(places) or [Place(each, survey.world.management) for each, survey in self._here().items()]

    def _settings(self) -> dict[Place, dict[str, Any]]:
        found: dict[Place, dict[str, Any]] = {}
        unseen: dict[Place, dict[str, Any]] = {}
        for place in self._places():
            times = next((each[place].times for each in self._apps.values() if place in each), {})
            own: dict[str, Any] = {key: value for key, value in times.items() if self._defaults.get(key) != value}
            space = self._space(place)[0]
            if order := self._surveys[place.environment].order_of(self._tenant, place):
                own["dependsOn"] = order
            if space.made or space.objects:
                found[place] = {**own, **settings_of(space, self._notes)}
            else:
                unseen[place] = {**own, **OPEN}
        if unseen and not found:
            text = "decide: its namespaces were not read, so nothing is restricted in them"
            self._notes.decide((*self._path, "network"), text)
        return found or unseen

    def _tell(self, conflicts: list[Place]) -> None:
        for place in conflicts:
            if made := self._space(place)[0].made:
                text = "its settings differ by environment and by cluster at once, which overrides cannot say"
                self._notes.leave(made.read, text, "declare them by hand", "metadata")

    def _space(self, place: Place, name: str | None = None) -> tuple[Space, list[Thing]]:
        """The tenant's main namespace in a place, or another, and everything that was read of that cluster."""
        survey = self._surveys[place.environment]
        home = survey.territories[self._tenant]
        local = place.cluster == survey.world.management
        name = name or home.main
        things = survey.world.within(name) if local else survey.baselines.get(place, [])
        made = survey.world.get("Namespace", "", name) if local else _namespace(things, name)
        inside = tuple(each for each in things if each.namespace == name)
        account = survey.account(self._tenant) if local else home.main
        keys = {namespace: key for key, namespace in home.extra.items()}
        return Space(self._tenant, account, name, made, inside, self._path, keys), things

    def _rights(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for place in self._places():
            space, things = self._space(place)
            for key, each in cluster_roles(space, things, self._surveys[place.environment].world).items():
                found.setdefault(key, each)
        admin = any(each.get("role") == "cluster-admin" for each in found.values())
        entry = {"clusterRoles": found, **({"clusterAdmin": True} if admin else {})} if found else {}
        objects = {
            key: agreed((*self._path, "clusterObjects", key), there, self._variables, self._notes)
            for key, there in self._cluster_objects().items()
        }
        return {**entry, **({"clusterObjects": objects} if objects else {})}

    def _cluster_objects(self) -> dict[str, dict[Place, Any]]:
        found: dict[str, dict[Place, Any]] = defaultdict(dict)
        for place in self._places():
            for thing in self._space(place)[1]:
                if thing.tenant == self._tenant and thing.is_declared and not thing.namespace:
                    key = slug(without_environment(thing.name, place.environment))
                    found[key][place] = manifest_of(thing, key)
                    self._notes.take(thing.read, *self._path, "clusterObjects", key)
        return found

    # --- sources ------------------------------------------------------------------------------------------------------

    def _sources(self) -> dict[str, Any]:
        found: dict[str, dict[Place, Any]] = defaultdict(dict)
        apps: dict[str, list[FoundApp]] = defaultdict(list)
        for app in (app for each in self._apps.values() for app in each.values()):
            assert app.source is not None
            survey = self._surveys[app.place.environment]
            key = source_key(app)
            apps[key].append(app)
            prefix = app.planned.removesuffix(app.key)
            found[key][app.place] = source_entry(survey.world, app.source, survey.names_of(app), prefix)
            for each in included(survey.world, app.source):
                name = each.name.removeprefix(prefix)
                found[name].setdefault(app.place, source_entry(survey.world, each, survey.names_of(app), prefix))
                self._notes.take(each.read, *self._path, "sources", name)
        entries: dict[str, Any] = {}
        for key, places in found.items():
            one = unified(places, self._variables.named(self._tenant, key))
            entries |= {key: one} if one is not DIFFER else self._parted(key, places, apps[key])
            for app in apps[key]:
                if source_is_there(app) and app.source:
                    self._notes.take(app.source.read, *self._path, "sources", key)
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
    return next((each for each in things if (each.kind, each.name) == ("Namespace", name)), None)
