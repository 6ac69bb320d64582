"""All environments to one document, in the order of the documentation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tenantry.importing.inference.apps import fill_in, source_home, source_key
from tenantry.importing.inference.found import FoundApp
from tenantry.importing.inference.order import in_order
from tenantry.importing.inference.overlay import DIFFER, Place, overlaid, unified
from tenantry.importing.inference.owners import extra_name
from tenantry.importing.inference.settings import Space, account_of, settings_of
from tenantry.importing.inference.sources import source_entry
from tenantry.importing.inference.survey import Survey
from tenantry.importing.inference.world import Notes, World
from tenantry.importing.model import Inventory
from tenantry.model import Tenant

_TEMPLATES = ("{tenant}", "{tenant}-{env}", "{env}-{tenant}")


class Assembly:
    """Builds the document. The parts of an entry that differ between places become overrides."""

    def __init__(self, inventory: Inventory) -> None:
        self.notes = Notes()
        self.surveys = {each: Survey(World(inventory, each, self.notes)) for each in inventory.management}
        self.apps: dict[tuple[str, ...], dict[Place, FoundApp]] = defaultdict(dict)
        for survey in self.surveys.values():
            for app in survey.apps:
                if fill_in(survey, app):
                    self.apps[app.path][app.place] = app
        self._variables: dict[str, dict[str, str]] = defaultdict(dict)

    def document(self) -> dict[str, Any]:
        tenants = {name: self._tenant(name) for name in self._tenant_names()}
        platform = self._platform()
        document: dict[str, Any] = {"apiVersion": "tenantry/v1"}
        document["environments"] = self._environments()
        document["clusters"] = self._clusters()
        if platform:
            document["platform"] = platform
        document["defaults"] = {"clusters": {"all": True}}
        if tenants:
            document["tenants"] = tenants
        return document

    # --- environments and clusters ------------------------------------------------------------------------------------

    def _environments(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, survey in self.surveys.items():
            entry: dict[str, Any] = {"management": survey.world.management}
            if (template := self._template(name)) != _TEMPLATES[0]:
                entry["namespace"] = template
            if self._variables[name]:
                entry["variables"] = dict(self._variables[name])
            found[name] = entry
        return found

    def _template(self, environment: str) -> str:
        """The template that most of the tenants' namespaces have."""
        mains = [(each.tenant, each.main) for each in self.surveys[environment].territories.values()]
        fits = {each: sum(_filled(each, environment, *main) for main in mains) for each in _TEMPLATES}
        return max(_TEMPLATES, key=lambda each: fits[each])

    def _clusters(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, survey in self.surveys.items():
            found.setdefault(survey.world.management, {"environments": []})["environments"].append(name)
        for name, survey in self.surveys.items():
            for cluster, kubeconfig in survey.remotes.entries.items():
                entry = found.setdefault(cluster, {"environments": [], "kubeconfig": kubeconfig})
                entry["environments"].append(name)
        return found

    def _clusters_of(self, environments: Iterable[str]) -> set[Place]:
        return {Place(each, cluster) for each in environments for cluster in self._of(each)}

    def _of(self, environment: str) -> list[str]:
        survey = self.surveys[environment]
        return [survey.world.management, *survey.remotes.entries]

    # --- the platform -------------------------------------------------------------------------------------------------

    def _platform(self) -> dict[str, Any]:
        addons = {path[-1]: self._addon(found) for path, found in self.apps.items() if path[0] == "platform"}
        namespaces = {each.platform for each in self.surveys.values() if any(not app.tenant for app in each.apps)}
        made: dict[str, Any] = {}
        if addons and namespaces:
            made["namespace"] = sorted(namespaces)[0]
        made |= self._named("")
        if addons:
            made["addons"] = addons
        return made

    def _addon(self, found: Mapping[Place, FoundApp]) -> dict[str, Any]:
        sources = {place: app.content["source"] for place, app in found.items()}
        source = unified(sources)
        if source is DIFFER:
            first = next(iter(found))
            source = sources[first]
            found = {place: app for place, app in found.items() if sources[place] == source or self._left(app)}
        return {**self._placed(found), "source": source, **self._app(found), "adopt": True}

    def _left(self, app: FoundApp) -> bool:
        self.notes.leave(
            app.thing.read,
            f"the source of add-on {app.key} differs from that in another place, and an add-on has one source",
            "use a variable of the environment or the cluster in the source, by hand",
        )
        return False

    # --- tenants ------------------------------------------------------------------------------------------------------

    def _tenant_names(self) -> list[str]:
        names = [each for survey in self.surveys.values() for each in survey.territories]
        return list(dict.fromkeys(names))

    def _tenant(self, tenant: str) -> dict[str, Any]:
        apps = {path[-1]: found for path, found in self.apps.items() if path[:2] == ("tenants", tenant)}
        entry: dict[str, Any] = {}
        entry |= self._namespace(tenant)
        entry |= self._account(tenant)
        settings = overlaid(self._settings(tenant, apps))
        entry |= settings.base
        if entry.get("role") == "cluster-admin":
            entry["clusterAdmin"] = True
        sources = self._sources(tenant, apps)
        entry |= self._named(tenant)
        if sources:
            entry["sources"] = sources
        if apps:
            entry["apps"] = {key: {**self._placed(found), **self._app(found)} for key, found in apps.items()}
        entry["adopt"] = True
        overrides: dict[str, Any] = {}
        if settings.environments:
            overrides["environments"] = settings.environments
        if settings.clusters:
            overrides["clusters"] = settings.clusters
        if overrides:
            entry["overrides"] = overrides
        return in_order(entry, Tenant)

    def _namespace(self, tenant: str) -> dict[str, Any]:
        """Where the tenant's namespaces do not have the names that the environment gives."""
        entry: dict[str, Any] = {}
        homes = {
            each: survey.territories[tenant] for each, survey in self.surveys.items() if tenant in survey.territories
        }
        if not all(_filled(self._template(each), each, tenant, home.main) for each, home in homes.items()):
            found = {Place(each, ""): home.main for each, home in homes.items()}
            entry["namespace"] = unified(found) if unified(found) is not DIFFER else next(iter(found.values()))
        extra = {key: extra_name(home.main, key, name) for home in homes.values() for key, name in home.extra.items()}
        if extra:
            entry["namespaces"] = {
                key: ({} if name == "{namespace}-{key}" else {"name": name}) | {"serviceAccount": True}
                for key, name in extra.items()
            }
        return entry

    def _account(self, tenant: str) -> dict[str, Any]:
        for survey in self.surveys.values():
            if (home := survey.territories.get(tenant)) is None:
                continue
            name = survey.account(tenant)
            there = survey.world.get("ServiceAccount", home.main, name)
            for namespace in home.namespaces:
                if each := survey.world.get("ServiceAccount", namespace, name):
                    self.notes.take(each.read, "tenants", tenant)
            made = {**({"name": name} if name != tenant else {}), **account_of(there)}
            if made:
                return {"serviceAccount": made}
        return {}

    def _settings(self, tenant: str, apps: Mapping[str, Mapping[Place, FoundApp]]) -> dict[Place, dict[str, Any]]:
        """The settings in each place where the tenant has apps."""
        places = dict.fromkeys(place for found in apps.values() for place in found)
        if not places:
            homes = [each for each, survey in self.surveys.items() if tenant in survey.territories]
            places = dict.fromkeys(Place(each, self.surveys[each].world.management) for each in homes)
        return {place: self._settings_in(tenant, place) for place in places}

    def _settings_in(self, tenant: str, place: Place) -> dict[str, Any]:
        survey = self.surveys[place.environment]
        home = survey.territories[tenant]
        local = place.cluster == survey.world.management
        things = survey.world.things if local else survey.baselines.get(place, [])
        made = next((each for each in things if (each.kind, each.name) == ("Namespace", home.main)), None)
        inside = tuple(each for each in things if each.namespace == home.main)
        if not local and made is None:
            return {}
        account = survey.account(tenant) if local else home.main
        return settings_of(Space(tenant, account, home.main, made, inside, ("tenants", tenant)), self.notes)

    def _sources(self, tenant: str, apps: Mapping[str, Mapping[Place, FoundApp]]) -> dict[str, Any]:
        found: dict[str, dict[Place, Any]] = defaultdict(dict)
        for app in (app for each in apps.values() for app in each.values()):
            assert app.source is not None
            survey = self.surveys[app.place.environment]
            key = source_key(app)
            found[key][app.place] = source_entry(survey.world, app.source, survey.names_of(app))
            if (app.source.namespace, app.source.name) == source_home(app):
                self.notes.take(app.source.read, "tenants", tenant, "sources", key)
        entries: dict[str, Any] = {}
        for key, places in found.items():
            same = unified(places)
            entries[key] = next(iter(places.values())) if same is DIFFER else same
        return entries

    def _named(self, tenant: str) -> dict[str, Any]:
        """Credentials and configs by name alone."""
        credentials: dict[str, Any] = {}
        configs: dict[str, Any] = {}
        for survey in self.surveys.values():
            for (owner, _), named in survey.named.items():
                if owner == tenant:
                    credentials |= {each: {"existing": True} for each in named.credentials}
                    configs |= {each: {"existing": True} for each in named.configs}
        return {key: each for key, each in (("credentials", credentials), ("configs", configs)) if each}

    # --- apps ---------------------------------------------------------------------------------------------------------

    def _app(self, found: Mapping[Place, FoundApp]) -> dict[str, Any]:
        for app in found.values():
            self.notes.take(app.thing.read, *app.path)
        result = overlaid({place: _without_source(app.content) for place, app in found.items()})
        entry = dict(result.base)
        overrides: dict[str, Any] = {}
        if result.environments:
            overrides["environments"] = result.environments
        if result.clusters:
            overrides["clusters"] = result.clusters
        if overrides:
            entry["overrides"] = overrides
        for place in result.conflicts:
            self.notes.leave(
                found[place].thing.read, "what it says here cannot be one entry with the others", "declare it by hand"
            )
        return entry

    def _placed(self, found: Mapping[Place, FoundApp]) -> dict[str, Any]:
        """`clusters` and `environments` of an app, exactly where it was found."""
        environments = list(dict.fromkeys(place.environment for place in found))
        clusters = list(dict.fromkeys(place.cluster for place in found))
        entry: dict[str, Any] = {}
        everywhere = self._clusters_of(environments) == set(found)
        is_addon = next(iter(found.values())).tenant == ""
        if not everywhere:
            entry["clusters"] = {"names": clusters}
        elif is_addon:
            entry["clusters"] = {"all": True}
        if len(environments) < len(self.surveys):
            entry["environments"] = environments
        return entry


def _filled(template: str, environment: str, tenant: str, name: str) -> bool:
    return template.replace("{env}", environment).replace("{tenant}", tenant) == name


def _without_source(content: Mapping[str, Any]) -> dict[str, Any]:
    """What overrides can change."""
    return {key: each for key, each in content.items() if key != "source"}
