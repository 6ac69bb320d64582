"""The platform's entry: where its objects lie, the chart of baselines, and its add-ons."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from tenantry.importing.apps import account_of
from tenantry.importing.checkouts import FLUX
from tenantry.importing.entries import OwnerEntry
from tenantry.importing.overlay import DIFFER, Place, in_order, unified
from tenantry.importing.world import FoundApp
from tenantry.kube.names import dns_label_problem, slug
from tenantry.model.apps import Addon
from tenantry.model.document import RESERVED
from tenantry.plan.objects.lifecycle import STATE_LABEL, without_kept_definitions


class PlatformEntry(OwnerEntry):
    """Builds the entry of the platform."""

    def entry(self, chart: Mapping[str, str] | None) -> dict[str, Any]:
        """chart: where the chart for baselines on remote clusters is; None: its place has to be decided."""
        hubs = {each: survey.world.management for each, survey in self.surveys.items()}
        apps = [app for app in self.gathered.all_apps() if app.tenant]
        remote = any(app.place.cluster != hubs[app.place.environment] for app in apps)
        made: dict[str, Any] = {}
        if self.apps or remote:
            made["namespace"] = next(iter(self.surveys.values())).platform
        if remote:
            made["chart"] = self._objects_chart(chart)
        sources = self._shared_sources()
        beside = self.beside()
        addons = {key: self._addon(found) for key, found in self.apps.items()}
        made |= self.named()
        if sources:
            made["sources"] = sources
        if addons:
            made["addons"] = addons
        if (patterns := self._reserved()) != list(RESERVED):
            made["reservedNamespaces"] = patterns
        return {**made, **beside}

    def _reserved(self) -> list[str]:
        """The names that are reserved for tools, without those that tenants have already."""
        homes = [home for survey in self.surveys.values() for home in survey.territories.values()]
        taken = {name for home in homes for name in home.namespaces}
        return [each for each in RESERVED if not any(fnmatchcase(name, each) for name in taken)]

    def _objects_chart(self, chart: Mapping[str, str] | None) -> dict[str, Any]:
        """Where the chart is that installs namespaces and rights on remote clusters."""
        there = {
            Place(environment, survey.world.management): found
            for environment, survey in self.surveys.items()
            if (found := survey.objects_chart())
        }
        if there:
            return dict(self.agreed(there, "chart"))
        if chart is None:
            text = "decide: publish the chart of `tenantry bootstrap --chart`, and write its address and version here"
            self.notes.decide(("platform", "chart"), text)
        return {"helm": dict(chart or {"url": "oci://registry.example.com/charts", "type": "oci", "version": "*"})}

    def _shared_sources(self) -> dict[str, Any]:
        """The sources of the platform: those that several add-ons take, and those of one that have a name of their own where they
        are planned. Marks the add-ons.
        """
        users: dict[str, list[tuple[Mapping[Place, FoundApp], Any]]] = {}
        for found in self.apps.values():
            names = {name for app in found.values() if (name := _name_of_source(app))}
            source = unified({place: app.content["source"] for place, app in found.items()})
            if len(names) == 1 and source is not DIFFER and not names & self.apps.keys():
                users.setdefault(names.pop(), []).append((found, source))
        shared = {}
        for name, each in users.items():
            alike = [found for found, source in each if source == each[0][1]]
            is_ours = any(app.source and app.source.is_ours for found in alike for app in found.values())
            keeps_its_name = all(_is_beside(app, name) for found in alike for app in found.values())
            if (is_ours or len(alike) > 1 or keeps_its_name) and not dns_label_problem(name):
                shared[name] = each[0][1]
                for app in (app for found in alike for app in found.values()):
                    app.shared = name
        return shared

    def _addon(self, found: Mapping[Place, FoundApp]) -> dict[str, Any]:
        sources = {place: app.content["source"] for place, app in found.items()}
        first = next(iter(found.values()))
        source = unified(sources, self.variables.named("platform", first.key))
        if source is DIFFER:
            source = sources[first.place]
            different = [app for place, app in found.items() if sources[place] != source]
            found = {place: app for place, app in found.items() if app not in different}
            for app in different:
                text = "its source differs from that in another place, and an add-on has one source"
                self.notes.leave(app.thing.read, text, "use variables in the source, by hand")
        for app in found.values():
            if app.source:
                at = ("platform", "sources", app.shared) if app.shared else (*app.path, "source")
                self.notes.take(app.source.read, *at)
        own = next((app.own for app in found.values() if app.own is not None), "")
        for app in found.values():
            if app.own not in (own, None):
                text = "it lies in another namespace than in another place, and an add-on has one namespace"
                self.notes.leave(app.thing.read, text, "declare it by hand under another name")
        found = {place: app for place, app in found.items() if app.own in (own, None)}
        entry = {**self.app(found), "adopt": True}
        if first.shared:
            entry[first.block] = {"source": first.shared, **entry[first.block]}
        else:
            entry["source"] = source
        if own:
            entry["namespace"] = own
        if namespaces := self._namespaces(first, found):
            entry["namespaces"] = namespaces
        accounts = {place: account_of(self.surveys[place.environment], app) for place, app in found.items()}
        if any(accounts.values()):
            entry["account"] = self.agreed(accounts, "addons", first.key, "account")
        if not any(map(_keeps_definitions, found.values())):
            entry["keepCRDs"] = False
        return in_order(entry, Addon)

    def _namespaces(self, first: FoundApp, found: Mapping[Place, FoundApp]) -> dict[str, Any]:
        """The namespaces that an add-on owns. Their names may hold placeholders."""
        there = {place: self.surveys[place.environment].namespaces_of(app) for place, app in found.items()}
        names = unified({place: list(each) for place, each in there.items()})
        if names is not DIFFER:
            there = {place: dict(zip(names, each.values(), strict=True)) for place, each in there.items()}
        return dict(self.agreed(there, "addons", first.key, "namespaces"))


def _name_of_source(app: FoundApp) -> str:
    """What several add-ons would call the source; "" if it is named like the add-on, and if its name does not say so.

    That of Flux's own bootstrap stays Flux's: the add-ons take another one, which is named after the repository.
    """
    if app.source is None or app.source.source_key or app.source.name == app.planned:
        return ""
    if app.source.name == FLUX:
        name = slug(str(app.source.spec.get("url")).rstrip("/").rpartition("/")[2].removesuffix(".git"))
        return name if name != FLUX else "fleet"
    return app.source.name.removeprefix(f"{app.place.environment}-" if app.source.is_ours else "")


def _is_beside(app: FoundApp, name: str) -> bool:
    """Whether the source of an add-on on the management cluster has a name where it is planned."""
    return app.source is not None and (app.source.namespace, app.source.name) == (app.home, name)


def _keeps_definitions(addon: FoundApp) -> bool:
    """Whether the definitions that an add-on applied outlive it, or it is leaving."""
    spec = addon.thing.spec
    return without_kept_definitions(addon.thing.kind, spec) is not spec or STATE_LABEL in addon.thing.labels
