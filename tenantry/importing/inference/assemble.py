"""All environments to one document, in the order of the documentation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tenantry.importing.inference.applied import Appliers
from tenantry.importing.inference.apps import fill_in
from tenantry.importing.inference.entries import (
    agreed,
    app_entry,
    attached,
    automation_of,
    misplaced,
    named,
    placed,
    source_is_there,
)
from tenantry.importing.inference.found import FoundApp
from tenantry.importing.inference.order import in_order
from tenantry.importing.inference.overlay import DIFFER, Place, unified
from tenantry.importing.inference.owners import platform_namespace
from tenantry.importing.inference.secrets import leave_metadata, leave_secret
from tenantry.importing.inference.shards import own_shard, shard_of_cluster
from tenantry.importing.inference.survey import Survey, source_of
from tenantry.importing.inference.tenants import TenantEntry
from tenantry.importing.inference.times import Times, shared_times, tenantrys_own
from tenantry.importing.inference.variables import Variables
from tenantry.importing.inference.world import Notes, Thing, World
from tenantry.importing.model import Inventory
from tenantry.kube.objects import is_of_flux
from tenantry.model.apps import Addon

_TEMPLATES = ("{tenant}", "{tenant}-{env}", "{env}-{tenant}")


class Assembly:
    """Builds the document. The parts of an entry that differ between places become overrides.

    chart: where the chart for baselines on remote clusters is; None: its place has to be decided.
    keep_values: write values that may be secrets, too.
    """

    def __init__(
        self, inventory: Inventory, chart: Mapping[str, str] | None = None, *, keep_values: bool = False
    ) -> None:
        self.notes = Notes()
        self._chart = chart
        self._variables = Variables()
        taken: dict[str, Any] = {each: None for each in inventory.management.values()}
        worlds = [World(inventory, each, self.notes) for each in inventory.management]
        platform = platform_namespace(worlds)
        for world in worlds:
            world.platform = platform
            world.keeps_values = keep_values
        self.surveys = {each.environment: Survey(each, taken) for each in worlds}
        for survey in self.surveys.values():
            _leave_applied(survey)
            _leave_secrets(survey)
        self._defaults = self._default_times()
        self.apps: dict[tuple[str, ...], dict[Place, FoundApp]] = defaultdict(dict)
        for survey in self.surveys.values():
            self._fill_in(survey)
        self._leave_misplaced()

    def _fill_in(self, survey: Survey) -> None:
        for app in survey.apps:
            app.times = self._times(survey, app) if app.tenant else self._defaults
            if fill_in(survey, app):
                self.apps[app.path][app.place] = app

    def _leave_misplaced(self) -> None:
        for found in self.apps.values():
            for place in misplaced(found, self.surveys):
                app = found.pop(place)
                text = "the app runs on other clusters than in another environment, which one entry cannot say"
                self.notes.leave(app.thing.read, text, "declare it by hand under another name")

    def _default_times(self) -> dict[str, str]:
        """Those of add-ons are the defaults: add-ons have no other level."""
        addons = [app.thing for survey in self.surveys.values() for app in survey.addons()]
        charts = [chart for survey in self.surveys.values() for chart in survey.own_charts("")]
        return shared_times(addons, charts, (), tenantrys_own())

    def _times(self, survey: Survey, app: FoundApp) -> Times:
        beside = [each.thing for each in survey.apps if (each.tenant, each.place) == (app.tenant, app.place)]
        baselines = survey.releases.get((app.tenant, app.place), [])
        charts = survey.own_charts(app.tenant, app.place.cluster)
        if len(beside) == 1 and app.thing.kind == "Kustomization" and not baselines and not charts:
            return self._defaults  # what one app says stands best in the app
        return shared_times(beside, charts, baselines, self._defaults)

    def document(self) -> dict[str, Any]:
        templates = {each: self._template(each) for each in self.surveys}
        tenants = {name: self._tenant(name, templates) for name in self._tenant_names()}
        platform = self._platform()
        document: dict[str, Any] = {"apiVersion": "tenantry/v1"}
        document["environments"] = self._environments(templates)
        document["clusters"] = self._clusters()
        if platform:
            document["platform"] = platform
        own = tenantrys_own()
        document["defaults"] = {"clusters": {"all": True}}
        document["defaults"] |= {key: value for key, value in self._defaults.items() if own[key] != value}
        if tenants:
            document["tenants"] = tenants
        return document

    # --- environments and clusters ------------------------------------------------------------------------------------

    def _environments(self, templates: Mapping[str, str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, survey in self.surveys.items():
            found[name] = {"management": survey.world.management}
            if templates[name] != _TEMPLATES[0]:
                found[name]["namespace"] = templates[name]
            if variables := self._variables.environments.get(name):
                found[name]["variables"] = dict(variables)
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
                if (account := survey.platform_account(cluster)) != "tenantry-platform":
                    entry["platformServiceAccount"] = account
        for cluster, entry in found.items():
            entry |= shard_of_cluster(("clusters", cluster), self._without_own_shard(cluster), self.notes)
            if variables := self._variables.clusters.get(cluster):
                entry["variables"] = dict(variables)
        return found

    def _without_own_shard(self, cluster: str) -> list[Thing]:
        """The apps on a cluster, except those of tenants that are for one shard everywhere."""
        owners: dict[tuple[str, ...], list[tuple[Place, Thing]]] = defaultdict(list)
        for path, found in self.apps.items():
            owners[path[:2]] += [(place, app.thing) for place, app in found.items()]
        return [
            thing
            for owner, apps in owners.items()
            if owner[0] == "platform" or not own_shard([each for _, each in apps])
            for place, thing in apps
            if place.cluster == cluster
        ]

    # --- the platform -------------------------------------------------------------------------------------------------

    def _platform(self) -> dict[str, Any]:
        apps = {path[-1]: found for path, found in self.apps.items() if path[0] == "platform" and found}
        hubs = {each: survey.world.management for each, survey in self.surveys.items()}
        remote = any(
            path[0] == "tenants" and any(place.cluster != hubs[place.environment] for place in found)
            for path, found in self.apps.items()
        )
        made: dict[str, Any] = {}
        if apps or remote:
            made["namespace"] = next(iter(self.surveys.values())).platform
        if remote:
            made["chart"] = self._objects_chart()
        addons = {key: self._addon(found) for key, found in apps.items()}
        beside = attached(self.surveys, "", apps, self._variables, self.notes)
        made |= named(self.surveys, "", self._variables, self.notes)
        for key, found in apps.items():
            addons[key] = in_order({**addons[key], **automation_of(found, self._variables, self.notes)}, Addon)
        if addons:
            made["addons"] = addons
        return {**made, **beside}

    def _objects_chart(self) -> dict[str, Any]:
        """Where the chart is that installs namespaces and rights on remote clusters."""
        there = {
            Place(environment, survey.world.management): chart
            for environment, survey in self.surveys.items()
            if (chart := survey.objects_chart())
        }
        if there:
            return dict(agreed(("platform", "chart"), there, self._variables, self.notes))
        if self._chart is None:
            text = "decide: publish the chart with `tenantry chart push`, and write its address and version here"
            self.notes.decide(("platform", "chart"), text)
        return {
            "helm": dict(self._chart or {"url": "oci://registry.example.com/charts", "type": "oci", "version": "*"})
        }

    def _addon(self, found: Mapping[Place, FoundApp]) -> dict[str, Any]:
        sources = {place: app.content["source"] for place, app in found.items()}
        first = next(iter(found.values()))
        source = unified(sources, self._variables.named("platform", first.key))
        if source is DIFFER:
            source = sources[first.place]
            different = [app for place, app in found.items() if sources[place] != source]
            found = {place: app for place, app in found.items() if app not in different}
            for app in different:
                text = "its source differs from that in another place, and an add-on has one source"
                self.notes.leave(app.thing.read, text, "use variables in the source, by hand")
        for app in found.values():
            if app.source and source_is_there(app):
                self.notes.take(app.source.read, *app.path, "source")
        entry = {**placed(found, self.surveys), "source": source, **app_entry(found, self.notes), "adopt": True}
        return in_order(entry, Addon)

    # --- tenants ------------------------------------------------------------------------------------------------------

    def _tenant_names(self) -> list[str]:
        names = (each for survey in self.surveys.values() for each in survey.territories)
        return list(dict.fromkeys(names))

    def _tenant(self, tenant: str, templates: Mapping[str, str]) -> dict[str, Any]:
        apps = {path[-1]: found for path, found in self.apps.items() if path[:2] == ("tenants", tenant) and found}
        made = TenantEntry(tenant, self.surveys, apps, self.notes, self._variables, self._defaults)
        return made.entry(templates)


def _leave_applied(survey: Survey) -> None:
    """Leave over what an add-on applies, and add-ons that apply what the file declares itself."""
    world, appliers = survey.world, Appliers(survey.world.things)
    inside = {name for each in survey.territories.values() for name in each.namespaces}
    replaced = set()
    for thing in world.things:
        if (thing.namespace or thing.name) in inside and (applier := appliers.of(thing)):
            replaced.add(applier.key)
    kept: list[FoundApp] = []
    for app in survey.apps:
        applier = appliers.of(app.thing) if not app.tenant else None
        if not app.tenant and app.thing.key in replaced:
            text = "it applies objects that tenants.yaml declares itself now"
            world.notes.leave(app.thing.read, text, "suspend it before `tenantry up`, and keep it suspended")
        elif applier is not None and applier.key not in replaced:
            text = f"{applier.key} applies it"
            world.notes.leave(app.thing.read, text, "nothing: what applies it today goes on")
        else:
            kept.append(app)
    survey.keep(kept)


def _leave_secrets(survey: Survey) -> None:
    """Leave over apps that hold what may be a secret."""
    world = survey.world
    if not world.keeps_values:
        for each in world.things:
            if not is_of_flux(str(each.read.manifest["apiVersion"])):
                leave_metadata(world.notes, each)
        found = ((each, source_of(world, each.thing)) for each in survey.apps)
        survey.keep([each for each, source in found if not leave_secret(world.notes, each.thing, source)])


def _filled(template: str, environment: str, tenant: str, name: str) -> bool:
    return template.replace("{env}", environment).replace("{tenant}", tenant) == name
