"""The entries of tenants and of the platform: apps with overrides, their places, sources, names of Secrets, alerts, add-ons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from tenantry.importing.apps import account_of, source_key
from tenantry.importing.blocks import Named, Times, as_model, authors_part, literal, smallest
from tenantry.importing.leaving import first_secret, leave_secret
from tenantry.importing.overlay import DIFFER, overlaid, unified
from tenantry.importing.resources import APPS, FLUX, App, Place, Resource, World
from tenantry.importing.survey import Survey
from tenantry.kube.names import dns_label_problem, slug
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import Path
from tenantry.model import Alert, FluxBlock, Helm, Kustomize, Provider, Receiver
from tenantry.model.document import RESERVED
from tenantry.model.sources import SOURCE_KINDS
from tenantry.model.strict import Model
from tenantry.plan.objects.scope import TENANT_LABEL


class Notifications(NamedTuple):
    """path: of the owner; home: the namespace of its Flux objects; apps: by what the file calls them."""

    world: World
    path: Path
    home: str
    named: Named
    apps: Mapping[str, App]

    def alerts(self) -> dict[str, Any]:
        """The entries of `alerts`."""
        entries: dict[str, Any] = {}
        for alert in self._own("Alert"):
            provider = self.world.get("Provider", self.home, str(alert.at("spec", "providerRef", "name")))
            if provider is None:
                alert.leave("its provider was not read", "import the provider with it")
            elif not leave_secret(alert, provider):
                entries[alert.name] = self._alert(alert, provider)
                for resource in (alert, provider):
                    resource.take(*self.path, "alerts", alert.name)
                if provider.name != alert.name:
                    text = f"alert {alert.name} has a provider of its own, which is named like the alert"
                    provider.leave(text, "keep it as long as an alert names it")
        return entries

    def _alert(self, alert: Resource, provider: Resource) -> dict[str, Any]:
        entry = {"provider": self._block(provider, Provider), **self.named.credentials_of(provider)}
        spec = authors_part(alert, Alert, self.named)
        # What Tenantry adds to every event.
        own = {"cluster": self.world.management, "environment": self.world.environment, "tenant": str(self.path[-1])}
        about = {key: value for key, value in mapping_at(spec, "eventMetadata").items() if own.get(key) != value}
        spec = {key: value for key, value in spec.items() if key != "eventMetadata"}
        sources = mappings_in(alert.spec.get("eventSources"))
        names = {str(source.get("name")) if source.get("kind") in APPS else "" for source in sources}
        if names and names <= self.apps.keys():
            entry["apps"] = sorted(names)
        return {**entry, **literal({**spec, **({"eventMetadata": about} if about else {})})}

    def receivers(self) -> dict[str, Any]:
        """The entries of `receivers`."""
        sources = dict(self._sources())
        entries: dict[str, Any] = {}
        for receiver in self._own("Receiver"):
            resources = mappings_in(receiver.spec.get("resources"))
            names = [sources.get((str(resource.get("kind")), str(resource.get("name")))) for resource in resources]
            if not all(names) or not names:
                text = "it makes Flux fetch something that is not a source of the same owner"
                receiver.leave(text, "keep it, or declare a receiver by hand")
                continue
            entry = {"sources": list(dict.fromkeys(names)), **self.named.credentials_of(receiver)}
            entries[receiver.name] = {**self._block(receiver, Receiver), **entry}
            receiver.take(*self.path, "receivers", receiver.name)
        return entries

    def _sources(self) -> Iterator[tuple[tuple[str, str], str]]:
        """What the file calls a source of the tenant, by its kind and name."""
        for app in self.apps.values():
            chart = app.resource.at("spec", "chartRef", "name")
            if app.source and app.source.namespace == app.home:
                yield (app.source.kind, app.source.name), source_key(app)
            if app.source and isinstance(chart, str):
                yield ("HelmChart", chart), source_key(app)

    def _block(self, resource: Resource, model: type[FluxBlock]) -> dict[str, Any]:
        return literal(smallest(authors_part(resource, model, self.named), as_model(model)))

    def _own(self, kind: str) -> Iterator[Resource]:
        """The owner's objects of a kind that a key of the file can name."""
        labels = (None, self.path[-1]) if self.path[0] == "tenants" else (None,)
        for resource in self.world.of(kind, namespace=self.home):
            if not dns_label_problem(resource.name) and resource.labels.get(TENANT_LABEL) in labels:
                yield resource


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

    def notifications(self) -> dict[str, Any]:
        """`alerts` and `receivers`, as management clusters have them."""
        groups: dict[str, dict[str, dict[Place, Any]]] = {"alerts": defaultdict(dict), "receivers": defaultdict(dict)}
        for name, survey in self.surveys.items():
            place = Place(name, survey.world.management)
            apps = {key: places[place] for key, places in self.apps.items() if place in places}
            # An add-on in a namespace of its own does not tell where those of the platform are.
            if first := next((app for app in apps.values() if not app.own), None):
                own = Notifications(survey.world, self.path, first.home, survey.names_of(first), apps)
                for group, entries in (("alerts", own.alerts()), ("receivers", own.receivers() if self.tenant else {})):
                    for key, entry in entries.items():
                        groups[group][key][place] = entry
        return {
            group: {key: self.agreed(values, group, key) for key, values in entries.items()}
            for group, entries in groups.items()
            if entries
        }

    def names(self) -> dict[str, Any]:
        """Credentials by name alone, and configs with their data, if it was read."""
        credentials: dict[str, Any] = {}
        data: defaultdict[str, dict[Place, Any]] = defaultdict(dict)
        holders: defaultdict[str, list[Resource | None]] = defaultdict(list)
        for survey in self.surveys.values():
            for (owner, cluster), named in survey.named.items():
                if owner != self.tenant:
                    continue
                for key, secret in named.credentials.items():
                    credentials[key] = {"existing": True}
                    self._take(secret, "credentials", key)
                for key, config in named.configs.items():
                    values = _data(config) if config is not None else None
                    place = Place(survey.world.environment, cluster)
                    data[key][place] = {"data": literal(values)} if values else {"existing": True}
                    holders[key].append(config)
        configs = {}
        for key, places in data.items():
            content = unified(places)
            configs[key] = {"existing": True} if content is DIFFER else content
            for config in holders[key]:
                self._take(config, "configs", key, is_kept="existing" in configs[key])
        return {key: entries for key, entries in (("credentials", credentials), ("configs", configs)) if entries}

    def _take(self, resource: Resource | None, *key: str, is_kept: bool = True) -> None:
        if resource is not None:
            if is_kept:
                text = "Tenantry reads it by its name and does not change it"
                resource.leave(text, "nothing; keep what creates it", fate="left")
            resource.take(*self.path, *key)


def _data(config: Resource) -> Any:
    """What a ConfigMap holds that Tenantry takes over with what applied it, unless a part of it may be a secret."""
    if config.applied_by in (("", ""), (FLUX, FLUX)):
        return None
    data = config.at("data")
    if at := first_secret(data, ("data",)):
        fix = "move it into a Secret and import again"
        config.leave("this may be a secret, which is not copied", fix, at)
        return None
    return data


class PlatformEntry(OwnerEntry):
    """Builds the entry of the platform."""

    def entry(self, chart: Mapping[str, str] | None) -> dict[str, Any]:
        """chart: where the chart for baselines on remote clusters is; None: its place has to be decided."""
        hubs = {name: survey.world.management for name, survey in self.surveys.items()}
        tenants = (app for app in self.gathered.all_apps() if app.tenant)
        has_remotes = any(app.place.cluster != hubs[app.place.environment] for app in tenants)
        sources, notifications = self._shared_sources(), self.notifications()
        addons = {key: self._addon(key, apps) for key, apps in self.apps.items()}
        entry = {
            "namespace": next(iter(self.surveys.values())).platform if self.apps or has_remotes else None,
            **(self._objects_chart(chart) if has_remotes else {}),
            **self.names(),
            "sources": sources,
            "addons": addons,
            "reservedNamespaces": None if (patterns := self._reserved()) == list(RESERVED) else patterns,
            **notifications,
        }
        return {key: value for key, value in entry.items() if value or (key == "reservedNamespaces" and value == [])}

    def _reserved(self) -> list[str]:
        """The names that are reserved for tools, without those that tenants have already."""
        homes = [home for survey in self.surveys.values() for home in survey.territories.values()]
        taken = {name for home in homes for name in home.namespaces}
        return [pattern for pattern in RESERVED if not any(fnmatchcase(name, pattern) for name in taken)]

    def _objects_chart(self, chart: Mapping[str, str] | None) -> dict[str, Any]:
        """`chart`, which installs namespaces and rights on remote clusters."""
        if chart is None:
            text = "decide: publish the chart of `tenantry bootstrap --chart`, and write its address and version here"
            self.gathered.decisions["platform", "chart"].append(text)
        return {
            "chart": {
                "helm": dict(chart or {"url": "oci://registry.example.com/charts", "type": "oci", "version": "*"})
            }
        }

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
