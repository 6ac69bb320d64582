"""The entries of tenants and of the platform: apps with overrides, their places, sources, names of Secrets, alerts, add-ons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from tenantry.importing.apps import account_of
from tenantry.importing.blocks import Named, Times, as_model, authors_part, literal, smallest
from tenantry.importing.leaving import leave_secret
from tenantry.importing.overlay import DIFFER, overlaid, unified
from tenantry.importing.resources import APPS, FLUX, App, Place, Resource
from tenantry.importing.survey import Survey
from tenantry.kube.names import dns_label_problem, slug
from tenantry.messages.data import mapping_at, mappings_in, without
from tenantry.messages.errors import Path
from tenantry.model import Alert, Helm, Kustomize, Provider
from tenantry.model.document import RESERVED
from tenantry.model.sources import SOURCE_KINDS
from tenantry.model.strict import Model
from tenantry.plan.objects.scope import TENANT_LABEL

# --- owners -----------------------------------------------------------------------------------------------------------


CONFLICT = "what it says here cannot be in one entry with what others say"
_BLOCKS: dict[str, type[Model]] = {"kustomize": Kustomize, "helm": Helm}


@dataclass(slots=True)
class Gathered:
    """What was found in all environments.

    surveys, variables: by environment. apps: by their place in the file. defaults: the times that hold where nothing else is said.
    decisions: comments at places that somebody has to decide about.
    """

    surveys: Mapping[str, Survey]
    decisions: dict[Path, list[str]]
    variables: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    apps: dict[tuple[str, ...], dict[Place, App]] = field(default_factory=lambda: defaultdict(dict))
    defaults: Times = field(default_factory=dict)

    def all_apps(self) -> Iterator[App]:
        return (app for places in self.apps.values() for app in places.values())


class OwnerEntry:
    """Builds the entry of a tenant, or of the platform, which has no name."""

    def __init__(self, gathered: Gathered, tenant: str = "") -> None:
        self.gathered = gathered
        self.surveys = gathered.surveys
        self.tenant = tenant
        self.path = ("tenants", tenant) if tenant else ("platform",)
        self.apps = {at[-1]: apps for at, apps in gathered.apps.items() if at[: len(self.path)] == self.path and apps}

    def agreed(self, values: Mapping[Place, Any], *key: str) -> Any:
        """One value of a key for all places: this part of the file has no overrides."""
        if (value := unified(values)) is not DIFFER:
            return value
        first = next(iter(values))
        text = f"decide: this is what was found in {first.environment}; other environments or clusters differ"
        self.gathered.decisions[(*self.path, *key)].append(text)
        return values[first]

    def app(self, apps: Mapping[Place, App]) -> dict[str, Any]:
        """The entry of an app, or of an add-on."""
        first = next(iter(apps.values()))
        own = {
            place: {key: part for key, part in app.content.items() if key != "source" or not app.shared}
            for place, app in apps.items()
        }
        result = overlaid(own, unified)
        for place, app in apps.items():
            if place in result.conflicts:
                app.resource.leave(CONFLICT, "declare it by hand")
            else:
                app.resource.take(*app.path)
                app.resource.app = (app.tenant, app.key, place.cluster)
        entry = result.entry
        if len(blocks := {app.block for app in apps.values()}) == 1:
            entry = {blocks.pop(): {}, **entry}
        risks = list(dict.fromkeys(risk for app in apps.values() for risk in app.risks))
        if risks:
            self.gathered.decisions[(*first.path, "state")] += risks
        # What is suspended everywhere is so by a state.
        suspended = [entry[key].pop("suspend") for key in _BLOCKS if entry.get(key, {}).get("suspend") is True]
        return {**self._placed(apps), **entry, **({"state": "paused"} if suspended or risks else {})}

    def _placed(self, apps: Mapping[Place, App]) -> dict[str, Any]:
        """`clusters` and `environments` of an app, exactly where it was found."""
        environments = list(dict.fromkeys(place.environment for place in apps))
        everywhere = {Place(name, cluster) for name in environments for cluster in self.surveys[name].clusters}
        entry: dict[str, Any] = {}
        if everywhere != set(apps):
            entry["clusters"] = {"names": list(dict.fromkeys(place.cluster for place in apps))}
        elif not self.tenant:
            entry["clusters"] = {"all": True}
        return {**entry, **({"environments": environments} if len(environments) < len(self.surveys) else {})}

    def alerts(self) -> dict[str, Any]:
        """`alerts`, as management clusters have them."""
        found: defaultdict[str, dict[Place, Any]] = defaultdict(dict)
        labels = (None, self.tenant or None)
        for name, survey in self.surveys.items():
            place, world = Place(name, survey.world.management), survey.world
            apps = {key: places[place] for key, places in self.apps.items() if place in places}
            # An add-on in a namespace of its own does not tell where those of the platform are.
            first = next((app for app in apps.values() if not app.own), None)
            for alert in world.of("Alert", namespace=first.home) if first else ():
                provider = world.get("Provider", alert.namespace, str(alert.at("spec", "providerRef", "name")))
                if dns_label_problem(alert.name) or alert.labels.get(TENANT_LABEL) not in labels:
                    continue  # no key of the file can name it, or it is another owner's
                if provider is None:
                    alert.leave("its provider was not read", "import the provider with it")
                elif first and not leave_secret(alert, provider):
                    found[alert.name][place] = self._alert(alert, provider, survey.names_of(first), apps)
        return {key: self.agreed(values, "alerts", key) for key, values in found.items()}

    def _alert(self, alert: Resource, provider: Resource, named: Named, apps: Mapping[str, App]) -> dict[str, Any]:
        for resource in (alert, provider):
            resource.take(*self.path, "alerts", alert.name)
        if provider.name != alert.name:
            text = f"alert {alert.name} has a provider of its own, which is named like the alert"
            provider.leave(text, "keep it as long as an alert names it")
        block = literal(smallest(authors_part(provider, Provider, named), as_model(Provider)))
        spec = authors_part(alert, Alert, named)
        # What Tenantry adds to every event.
        own = {"cluster": self.surveys[alert.environment].world.management, "environment": alert.environment}
        own["tenant"] = self.path[-1]
        metadata = mapping_at(spec, "eventMetadata")
        about = {key: value for key, value in metadata.items() if own.get(key) != value}
        spec = {**spec, "eventMetadata": about} if about else without(spec, [("eventMetadata",)])
        sources = mappings_in(alert.spec.get("eventSources"))
        names = {str(source.get("name")) if source.get("kind") in APPS else "" for source in sources}
        apps_of = {"apps": sorted(names)} if names and names <= apps.keys() else {}
        return {"provider": block, **named.credentials_of(provider), **apps_of, **literal(spec)}

    def names(self) -> dict[str, Any]:
        """Credentials and configs, by name alone."""
        entries: dict[str, Any] = {}
        for survey in self.surveys.values():
            named = (named for (owner, _), named in survey.named.items() if owner == self.tenant)
            for (group, key), holder in (item for own in named for item in own.holders.items()):
                entries.setdefault(group, {})[key] = {"existing": True}
                if holder is not None:
                    text = "Tenantry reads it by its name and does not change it"
                    holder.leave(text, "nothing; keep what creates it", fate="left")
                    holder.take(*self.path, group, key)
        return entries


class PlatformEntry(OwnerEntry):
    """Builds the entry of the platform."""

    def entry(self) -> dict[str, Any]:
        hubs = {name: survey.world.management for name, survey in self.surveys.items()}
        tenants = (app for app in self.gathered.all_apps() if app.tenant)
        has_remotes = any(app.place.cluster != hubs[app.place.environment] for app in tenants)
        sources, alerts = self._shared_sources(), self.alerts()
        # Those for tools, without those that tenants have already.
        taken = {name for survey in self.surveys.values() for name in survey.territories.values()}
        patterns = [pattern for pattern in RESERVED if not any(fnmatchcase(name, pattern) for name in taken)]
        addons = {key: self._addon(key, apps) for key, apps in self.apps.items()}
        entry = {
            "namespace": next(iter(self.surveys.values())).platform if self.apps or has_remotes else None,
            **(self._chart() if has_remotes else {}),
            **self.names(),
            "sources": sources,
            "addons": addons,
            "reservedNamespaces": None if patterns == RESERVED else patterns,
            "alerts": alerts,
        }
        return {key: value for key, value in entry.items() if value or (key == "reservedNamespaces" and value == [])}

    def _chart(self) -> dict[str, Any]:
        """`chart`, which installs namespaces and rights on remote clusters. Its place has to be decided."""
        text = "decide: publish the chart of `tenantry bootstrap --chart`, and write its address and version here"
        self.gathered.decisions["platform", "chart"].append(text)
        return {"chart": {"helm": {"url": "oci://registry.example.com/charts", "type": "oci", "version": "*"}}}

    def _shared_sources(self) -> dict[str, Any]:
        """The sources of the platform: those that several add-ons take, and those of one that have a name of their own where they
        are planned. Marks the add-ons.
        """
        users: dict[str, list[tuple[list[App], Any]]] = defaultdict(list)
        for places in self.apps.values():
            apps = list(places.values())
            names = {name for app in apps if (name := _name_of_source(app))}
            source = unified({place: app.content["source"] for place, app in places.items()})
            if len(names) == 1 and source is not DIFFER and not names & self.apps.keys():
                users[names.pop()].append((apps, source))
        shared = {}
        for name, entries in users.items():
            alike = [apps for apps, source in entries if source == entries[0][1]]
            apps = [app for users_alike in alike for app in users_alike]
            is_there = all(app.source and (app.source.namespace, app.source.name) == (app.home, name) for app in apps)
            if (len(alike) > 1 or is_there) and not dns_label_problem(name):
                shared[name] = entries[0][1]
                for app in apps:
                    app.shared = name
        return shared

    def _addon(self, key: str, apps: Mapping[Place, App]) -> dict[str, Any]:
        first = next(iter(apps.values()))
        own = next((app.own for app in apps.values() if app.own is not None), "")
        for app in list(apps.values()):
            if app.content["source"].keys() & SOURCE_KINDS != first.content["source"].keys() & SOURCE_KINDS:
                text = "its source is of another kind than in another place, and an add-on has one source"
            elif app.own not in (own, None):
                text = "it lies in another namespace than in another place, and an add-on has one namespace"
            else:
                if app.source:
                    app.source.take(*(("platform", "sources", app.shared) if app.shared else (*app.path, "source")))
                continue
            app.resource.leave(text, "declare it by hand under another name")
            apps = {place: other for place, other in apps.items() if other is not app}
        entry = {**self.app(apps), "adopt": True}
        if first.shared:
            entry[first.block] = {"source": first.shared, **entry[first.block]}
        accounts = {place: account_of(self.surveys[place.environment], app) for place, app in apps.items()}
        entry |= {
            "namespace": own,
            "account": self.agreed(accounts, "addons", key, "account") if any(accounts.values()) else None,
        }
        # Today the definitions that it applied go with it.
        kept = {part: value for part, value in entry.items() if value or part in _BLOCKS}
        return {**kept, "keepCRDs": False}


def _name_of_source(app: App) -> str:
    """What several add-ons would call the source; "" if it is named like the add-on, and if its name does not say so.

    That of Flux's own bootstrap stays Flux's: the add-ons take another one, which is named after the repository.
    """
    if app.source is None or app.source.name == app.planned:
        return ""
    if app.source.name == FLUX:
        name = slug(str(app.source.spec.get("url")).rstrip("/").rpartition("/")[2].removesuffix(".git"))
        return name if name != FLUX else "fleet"
    return app.source.name
