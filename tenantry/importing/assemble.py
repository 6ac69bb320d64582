"""All environments to one document, in the order of the documentation, and the document to a draft that is valid."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Set
from typing import Any

from tenantry.importing.apps import fill_in
from tenantry.importing.blocks import shared_times, tenantrys_own
from tenantry.importing.clusters import without_proxies
from tenantry.importing.entries import Gathered, shard_of_cluster
from tenantry.importing.leaving import (
    Handover,
    leave_applied,
    leave_secrets,
    taken_over,
    with_applied,
)
from tenantry.importing.model import Draft, Inventory
from tenantry.importing.overlay import Place
from tenantry.importing.owners import platform_namespace
from tenantry.importing.platform import PlatformEntry
from tenantry.importing.settle import settled
from tenantry.importing.survey import Survey
from tenantry.importing.tenants import TenantEntry
from tenantry.importing.world import FoundApp, Notes, Thing, World
from tenantry.messages.text import grouped

_TEMPLATES = ("{tenant}", "{tenant}-{env}", "{env}-{tenant}")


def drafted(inventory: Inventory, chart: Mapping[str, str] | None = None, *, keep_values: bool = False) -> Draft:
    """What was read, as a fleet that can be loaded and planned.

    Args:   chart: where the chart for baselines on remote clusters is; None: its place has to be decided.
            keep_values: write values that may be secrets, too.
    Raises: Refused: nothing of it can be.
    """
    going_on, mixed, given_up = set[int](), set[int](), set[int]()
    while True:
        gathered = _gathered(inventory, going_on, keep_values=keep_values)
        draft = settled(inventory, _document(gathered, chart), gathered.notes)
        handover = Handover(inventory, draft)
        # What would hand over nothing, or a part alone, goes on as an add-on with all that it applies, if it can be one.
        if lost := (mixed & going_on) - handover.expressed - given_up:
            going_on -= lost
            given_up |= lost
            continue
        mixed |= handover.mixed - given_up
        found = (handover.idle | handover.mixed - given_up) - going_on
        if not found:
            return with_applied(inventory, draft)
        going_on |= found


# --- what was found ---------------------------------------------------------------------------------------------------


def _gathered(inventory: Inventory, going_on: Set[int], *, keep_values: bool) -> Gathered:
    notes = Notes()
    taken: dict[str, Any] = {each: None for each in inventory.management.values()}
    read = grouped(map(Thing, inventory.objects), lambda each: each.read.environment)
    worlds = [
        _world(inventory, environment, read.get(environment, []), notes, going_on)
        for environment in inventory.management
    ]
    platform = platform_namespace(worlds)
    for world in worlds:
        world.platform = platform
        world.keeps_values = keep_values
    found = Gathered(notes, {each.environment: Survey(each, taken) for each in worlds})
    for survey in found.surveys.values():
        leave_applied(survey, going_on)
        leave_secrets(survey)
    found.defaults = _default_times(found)
    for survey in found.surveys.values():
        _fill_in(found, survey)
    for apps in found.apps.values():
        _leave_misplaced(found, apps)
    found.paused |= _paused_clusters(found)
    found.paused |= _paused_tenants(found)
    for app in found.all_apps():
        if {("clusters", app.place.cluster), app.path[:2]} & found.paused:
            app.content[app.block].pop("suspend", None)
    return found


def _world(inventory: Inventory, environment: str, things: list[Thing], notes: Notes, going_on: Set[int]) -> World:
    taken = taken_over(things, notes, going_on)
    without_proxies(things, notes)
    here = {id(each) for each in taken}
    beside = (each for each in things if id(each) not in here)
    return World(environment, inventory.management[environment], taken, notes, beside)


def _default_times(found: Gathered) -> dict[str, str]:
    """Those of add-ons are the defaults: add-ons have no other level."""
    surveys = found.surveys.values()
    addons = [app.thing for survey in surveys for app in survey.addons()]
    charts = [
        chart
        for survey in surveys
        for owner, charts in survey.shared_charts.items()
        for chart in charts
        if not owner[0]
    ]
    return shared_times(addons, charts, (), tenantrys_own())


def _fill_in(found: Gathered, survey: Survey) -> None:
    """Give the apps of an environment their content. Those of one owner in one place share their times."""
    for (tenant, place), apps in grouped(survey.apps, lambda app: (app.tenant, app.place)).items():
        baselines = survey.releases.get((tenant, place), [])
        charts = survey.shared_charts.get((tenant, place.cluster), [])
        things = [app.thing for app in apps]
        # What one app says stands best in the app.
        alone = len(apps) == 1 and things[0].kind == "Kustomization" and not baselines and not charts
        shared = tenant and not alone
        times = shared_times(things, charts, baselines, found.defaults) if shared else found.defaults
        for app in apps:
            app.times = times
    for app in survey.apps:
        if fill_in(survey, app):
            found.apps[app.path][app.place] = app


def _leave_misplaced(found: Gathered, apps: dict[Place, FoundApp]) -> None:
    """Leave over an app where one entry cannot have it beside the others: it takes each cluster in each of its environments."""
    clusters = {place.cluster for place in apps}
    environments = list(dict.fromkeys(place.environment for place in apps))
    wanted = {
        Place(environment, name)
        for environment in environments
        for name in found.surveys[environment].clusters
        if name in clusters
    }
    for place in list(apps) if wanted != set(apps) else ():
        if place.environment != environments[0]:
            text = "the app runs on other clusters than in another environment, which one entry cannot say"
            found.notes.leave(apps.pop(place).thing.read, text, "declare it by hand under another name")


def _paused_clusters(found: Gathered) -> set[tuple[str, ...]]:
    """The clusters on which even Tenantry's own releases are suspended: the file says so once for all that is there."""
    suspended: dict[str, list[bool]] = defaultdict(list)
    for survey in found.surveys.values():
        for release in survey.charts:
            if cluster := survey.remotes.name(release):
                suspended[cluster].append(release.is_suspended)
    return {("clusters", cluster) for cluster, states in suspended.items() if all(states)}


def _paused_tenants(found: Gathered) -> set[tuple[str, ...]]:
    """The tenants of which Tenantry suspended everything, on the clusters that are not paused themselves."""
    suspended: dict[str, list[bool]] = defaultdict(list)
    for survey in found.surveys.values():
        for (tenant, place), releases in survey.releases.items():
            if ("clusters", place.cluster) not in found.paused:
                suspended[tenant] += [release.is_suspended for release in releases]
    for app in found.all_apps():
        if ("clusters", app.place.cluster) not in found.paused:
            suspended[app.tenant].append(app.thing.is_suspended and app.thing.is_ours)
    return {("tenants", tenant) for tenant, states in suspended.items() if tenant and all(states) and len(states) > 1}


# --- the document -----------------------------------------------------------------------------------------------------


def _document(found: Gathered, chart: Mapping[str, str] | None) -> dict[str, Any]:
    templates = {name: _template(survey) for name, survey in found.surveys.items()}
    names = dict.fromkeys(name for survey in found.surveys.values() for name in survey.territories)
    tenants = {name: TenantEntry(found, name).entry(templates) for name in names}
    platform = PlatformEntry(found).entry(chart)
    found.variables.used_in(platform, tenants)
    own = tenantrys_own()
    document: dict[str, Any] = {
        "apiVersion": "tenantry/v1",
        "environments": _environments(found, templates),
        "clusters": _clusters(found),
        "platform": platform,
        "defaults": {
            "clusters": {"all": True},
            **{key: each for key, each in found.defaults.items() if own[key] != each},
        },
        "tenants": tenants,
    }
    return {key: each for key, each in document.items() if each}


def _template(survey: Survey) -> str:
    """The template that most of the tenants' namespaces have."""
    environment, homes = survey.world.environment, survey.territories.values()

    def fits(template: str) -> int:
        filled = template.replace("{env}", environment)
        return sum(filled.replace("{tenant}", home.tenant) == home.main for home in homes)

    return max(_TEMPLATES, key=fits)


def _environments(found: Gathered, templates: Mapping[str, str]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, survey in found.surveys.items():
        entries[name] = {"management": survey.world.management}
        if templates[name] != _TEMPLATES[0]:
            entries[name]["namespace"] = templates[name]
        if variables := found.variables.environments.get(name):
            entries[name]["variables"] = dict(variables)
    return entries


def _clusters(found: Gathered) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, survey in found.surveys.items():
        entries.setdefault(survey.world.management, {"environments": []})["environments"].append(name)
    for name, survey in found.surveys.items():
        for cluster, kubeconfig in survey.remotes.entries.items():
            entry = entries.setdefault(cluster, {"environments": [], "kubeconfig": kubeconfig})
            entry["environments"].append(name)
            if (account := survey.platform_account(cluster)) != "tenantry-platform":
                entry["platformServiceAccount"] = account
    for cluster, entry in entries.items():
        here = [app.thing for app in found.all_apps() if app.place.cluster == cluster]
        entry |= shard_of_cluster(("clusters", cluster), here, found.notes)
        if variables := found.variables.clusters.get(cluster):
            entry["variables"] = dict(variables)
        if ("clusters", cluster) in found.paused:
            entry["state"] = "paused"
    return entries
