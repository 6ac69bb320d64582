"""All environments to one document, in the order of the documentation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tenantry.importing.apps import fill_in
from tenantry.importing.blocks import Times, shared_times, tenantrys_own
from tenantry.importing.entries import (
    agreed,
    app_entry,
    attached,
    automation_of,
    misplaced,
    named,
    own_shard,
    placed,
    shard_of_cluster,
    source_is_there,
)
from tenantry.importing.model import Draft, Inventory
from tenantry.importing.overlay import DIFFER, Place, Variables, in_order, unified
from tenantry.importing.owners import platform_namespace
from tenantry.importing.secrets import leave_metadata, leave_secret
from tenantry.importing.settle import settled
from tenantry.importing.survey import Survey, source_of
from tenantry.importing.tenants import TenantEntry
from tenantry.importing.world import Appliers, FoundApp, Notes, Thing, World
from tenantry.kube.kinds import is_of_flux
from tenantry.messages.text import grouped
from tenantry.model.apps import Addon
from tenantry.plan.objects.lifecycle import STATE_LABEL, without_kept_definitions

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
        self._paused = self._paused_clusters()
        self._paused |= self._paused_tenants()

    def _fill_in(self, survey: Survey) -> None:
        beside = grouped(survey.apps, lambda app: (app.tenant, app.place))
        times = {owner: self._times(survey, *owner, [app.thing for app in apps]) for owner, apps in beside.items()}
        for app in survey.apps:
            app.times = times[app.tenant, app.place]
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
        charts = [
            chart
            for survey in self.surveys.values()
            for (tenant, _), there in survey.shared_charts.items()
            for chart in there
            if not tenant
        ]
        return shared_times(addons, charts, (), tenantrys_own())

    def _times(self, survey: Survey, tenant: str, place: Place, apps: list[Thing]) -> Times:
        baselines = survey.releases.get((tenant, place), [])
        charts = survey.shared_charts.get((tenant, place.cluster), [])
        if not tenant or (len(apps) == 1 and apps[0].kind == "Kustomization" and not baselines and not charts):
            return self._defaults  # what one app says stands best in the app
        return shared_times(apps, charts, baselines, self._defaults)

    def _paused_clusters(self) -> set[tuple[str, ...]]:
        """The clusters on which even Tenantry's own releases are suspended: the file says so once for all that is there."""
        releases: dict[str, list[Thing]] = defaultdict(list)
        for survey in self.surveys.values():
            for release in survey.charts:
                if cluster := survey.remotes.name(release):
                    releases[cluster].append(release)
        paused: set[tuple[str, ...]] = {
            ("clusters", each) for each, found in releases.items() if all(one.is_suspended for one in found)
        }
        for app in self._all_apps():
            if ("clusters", app.place.cluster) in paused:
                app.content[app.block].pop("suspend", None)
        return paused

    def _paused_tenants(self) -> set[tuple[str, ...]]:
        """The tenants of which everything is suspended on the clusters that are not."""
        suspended: dict[tuple[str, ...], list[bool]] = defaultdict(list)
        for survey in self.surveys.values():
            for (tenant, place), found in survey.releases.items():
                if ("clusters", place.cluster) not in self._paused:
                    suspended["tenants", tenant] += [each.is_suspended for each in found]
        apps = [each for each in self._all_apps() if ("clusters", each.place.cluster) not in self._paused]
        for app in apps:
            suspended[app.path[:2]].append(app.thing.is_suspended)
        paused = {
            owner for owner, found in suspended.items() if owner[0] == "tenants" and all(found) and len(found) > 1
        }
        for app in apps:
            if app.path[:2] in paused:
                app.content[app.block].pop("suspend", None)
        return paused

    def _all_apps(self) -> list[FoundApp]:
        return [app for found in self.apps.values() for app in found.values()]

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
            if ("clusters", cluster) in self._paused:
                entry["state"] = "paused"
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
        if namespaces := self._namespaces(first, found):
            entry["namespaces"] = namespaces
        if not any(map(_keeps_definitions, found.values())):
            entry["keepCRDs"] = False
        return in_order(entry, Addon)

    def _namespaces(self, first: FoundApp, found: Mapping[Place, FoundApp]) -> dict[str, Any]:
        """The namespaces that an add-on owns. Their names may hold placeholders."""
        there = {place: self.surveys[place.environment].namespaces_of(app) for place, app in found.items()}
        names = unified({place: list(each) for place, each in there.items()})
        if names is not DIFFER:
            there = {place: dict(zip(names, each.values(), strict=True)) for place, each in there.items()}
        return dict(agreed((*first.path, "namespaces"), there, self._variables, self.notes))

    # --- tenants ------------------------------------------------------------------------------------------------------

    def _tenant_names(self) -> list[str]:
        names = (each for survey in self.surveys.values() for each in survey.territories)
        return list(dict.fromkeys(names))

    def _tenant(self, tenant: str, templates: Mapping[str, str]) -> dict[str, Any]:
        apps = {path[-1]: found for path, found in self.apps.items() if path[:2] == ("tenants", tenant) and found}
        made = TenantEntry(tenant, self.surveys, apps, self.notes, self._variables, self._defaults).entry(templates)
        return {**made, **({"state": "paused"} if ("tenants", tenant) in self._paused else {})}


def _keeps_definitions(addon: FoundApp) -> bool:
    """Whether the definitions that an add-on applied outlive it, or it is not Tenantry's, or is leaving."""
    spec = addon.thing.spec
    patched = without_kept_definitions(addon.thing.kind, spec) is not spec
    return patched or not addon.thing.is_ours or STATE_LABEL in addon.thing.labels


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


def drafted(inventory: Inventory, chart: Mapping[str, str] | None = None, *, keep_values: bool = False) -> Draft:
    """What was read, as a fleet that can be loaded and planned.

    Args:   chart: where the chart for baselines on remote clusters is.
            keep_values: write values that may be secrets, too.
    Raises: Refused: nothing of it can be.
    """
    assembly = Assembly(inventory, chart, keep_values=keep_values)
    return settled(inventory, assembly.document(), assembly.notes)
