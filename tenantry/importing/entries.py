"""The entries of tenants and of the platform: apps with overrides, their places, sources, names of Secrets, add-ons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from tenantry.importing.apps import account_of
from tenantry.importing.resources import FLUX, App, Place
from tenantry.importing.survey import Survey
from tenantry.kube.names import dns_label_problem, slug
from tenantry.messages.text import grouped
from tenantry.model import Helm, Kustomize
from tenantry.model.document import RESERVED
from tenantry.model.sources import SOURCE_KINDS
from tenantry.model.strict import Model

_REPLACED = ("ref", "podSecurity")
"""Mappings that an override replaces as a whole."""


@dataclass(slots=True)
class Overlaid:
    """base: what holds everywhere; environments, clusters: what else holds there, by name.

    conflicts: places whose value cannot be expressed beside the others.
    """

    base: dict[str, Any]
    environments: dict[str, dict[str, Any]] = field(default_factory=dict)
    clusters: dict[str, dict[str, Any]] = field(default_factory=dict)
    conflicts: list[Place] = field(default_factory=list)

    def add(self, group: str, key: str, other: Overlaid) -> None:
        """Add an entry of a group such as `sources`."""
        self.base.setdefault(group, {})[key] = other.base
        for own, added in ((self.environments, other.environments), (self.clusters, other.clusters)):
            for name, value in added.items():
                own.setdefault(name, {}).setdefault(group, {})[key] = value

    @property
    def entry(self) -> dict[str, Any]:
        """The base, and `overrides` where places differ."""
        overrides = [{"when": {"environments": [name]}, **own} for name, own in self.environments.items()]
        overrides += [{"when": {"clusters": {"names": [name]}}, **own} for name, own in self.clusters.items()]
        return {**self.base, **({"overrides": overrides} if overrides else {})}


def overlaid(values: Mapping[Place, dict[str, Any]]) -> Overlaid:
    """One mapping with overrides for what differs between places."""
    base, rest = _split(values)
    result = Overlaid(base)
    for environment, places in grouped(rest, lambda place: place.environment).items():
        shared, own = _split({place: rest[place] for place in places})
        result.environments |= {environment: shared} if shared else {}
        rest |= own
    for place, value in rest.items():
        if value and all(rest[other] == value for other in rest if other.cluster == place.cluster):
            result.clusters[place.cluster] = value
        elif value:
            result.conflicts.append(place)
    return result


def _split(values: Mapping[Place, dict[str, Any]]) -> tuple[dict[str, Any], dict[Place, dict[str, Any]]]:
    """What all places have in common, with the first place's values where they differ, and the rest of each."""
    base: dict[str, Any] = {}
    rest: dict[Place, dict[str, Any]] = {place: {} for place in values}
    for key in dict.fromkeys(key for value in values.values() for key in value):
        present = {place: value[key] for place, value in values.items() if key in value}
        if len(present) == len(values):
            first, *_ = present
            if is_same(present.values()):
                base[key] = present[first]
                continue
            is_merged = isinstance(present[first], dict) and key not in _REPLACED
            if is_merged and all(isinstance(value, dict) and value for value in present.values()):
                shared, below = _split(present)
                base |= {key: shared} if shared else {}
                present = {place: value for place, value in below.items() if value}
            elif not is_merged:
                # The base is complete by itself: an override cannot add what an entry requires.
                base[key] = present[first]
                present = {place: value for place, value in present.items() if not is_same((present[first], value))}
        for place, value in present.items():
            rest[place][key] = value
    return base, rest


def is_same(values: Iterable[Any]) -> bool:
    """Whether all values are equal. `1` is not `true`."""
    first, *others = values
    return all(type(value) is type(first) and value == first for value in others)


# --- owners -----------------------------------------------------------------------------------------------------------


CONFLICT = "what it says here cannot be in one entry with what others say"
_BLOCKS: dict[str, type[Model]] = {"kustomize": Kustomize, "helm": Helm}


@dataclass(slots=True)
class Gathered:
    """What was found in all environments.

    surveys, variables: by environment. apps: by their place in the file.
    """

    surveys: Mapping[str, Survey]
    variables: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    apps: dict[tuple[str, ...], dict[Place, App]] = field(default_factory=lambda: defaultdict(dict))

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

    def app(self, apps: Mapping[Place, App]) -> dict[str, Any]:
        """The entry of an app, or of an add-on."""
        own = {
            place: {key: part for key, part in app.content.items() if key != "source" or not app.shared}
            for place, app in apps.items()
        }
        result = overlaid(own)
        for place, app in apps.items():
            if place in result.conflicts:
                app.resource.leave(CONFLICT, "declare it by hand")
            else:
                app.resource.take(*app.path)
                app.resource.app = (app.tenant, app.key, place.cluster)
        entry = result.entry
        if len(blocks := {app.block for app in apps.values()}) == 1:
            entry = {blocks.pop(): {}, **entry}
        # What is suspended everywhere is so by a state.
        suspended = [entry[key].pop("suspend") for key in _BLOCKS if entry.get(key, {}).get("suspend") is True]
        return {
            **self._placed(apps),
            **entry,
            **({"state": "paused"} if suspended or any(app.is_risky for app in apps.values()) else {}),
        }

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

    def names(self) -> dict[str, Any]:
        """Credentials and configs, by name alone."""
        entries: dict[str, Any] = {}
        for survey in self.surveys.values():
            named = (named for (owner, _), named in survey.named.items() if owner == self.tenant)
            for (group, key), holder in (item for own in named for item in own.holders.items()):
                entries.setdefault(group, {})[key] = {"existing": True}
                if holder is not None:
                    text = "Tenantry reads it by its name and does not change it"
                    holder.leave(text, "nothing; keep what creates it", is_left=True)
                    holder.take(*self.path, group, key)
        return entries


class PlatformEntry(OwnerEntry):
    """Builds the entry of the platform."""

    def entry(self) -> dict[str, Any]:
        hubs = {name: survey.world.management for name, survey in self.surveys.items()}
        tenants = (app for app in self.gathered.all_apps() if app.tenant)
        remote = next((app for app in tenants if app.place.cluster != hubs[app.place.environment]), None)
        sources = self._shared_sources()
        # Those for tools, without those that tenants have already.
        taken = {name for survey in self.surveys.values() for name in survey.territories.values()}
        patterns = [pattern for pattern in RESERVED if not any(fnmatchcase(name, pattern) for name in taken)]
        addons = {key: self._addon(apps) for key, apps in self.apps.items()}
        entry = {
            "namespace": FLUX if self.apps or remote else None,
            **(self._chart(remote) if remote else {}),
            **self.names(),
            "sources": sources,
            "addons": addons,
            "reservedNamespaces": None if patterns == RESERVED else patterns,
        }
        return {key: value for key, value in entry.items() if value or (key == "reservedNamespaces" and value == [])}

    def _chart(self, app: App) -> dict[str, Any]:
        """`chart`, which installs namespaces and rights on remote clusters. Args: app: one that needs it."""
        text = "the chart that installs baselines on remote clusters has to be published, and 'platform.chart' is a placeholder"
        fix = "write the address and the version of the chart of `tenantry bootstrap --chart` there"
        app.resource.leave(text, fix, "spec.kubeConfig")
        return {"chart": {"helm": {"url": "oci://registry.example.com/charts", "type": "oci", "version": "*"}}}

    def _shared_sources(self) -> dict[str, Any]:
        """The sources of the platform: those that several add-ons take, and those of one that have a name of their own where they
        are planned. Marks the add-ons.
        """
        users: dict[str, list[tuple[list[App], Any]]] = defaultdict(list)
        for places in self.apps.values():
            apps = list(places.values())
            names = {name for app in apps if (name := _name_of_source(app))}
            sources = [app.content["source"] for app in apps]
            if len(names) == 1 and is_same(sources) and not names & self.apps.keys():
                users[names.pop()].append((apps, sources[0]))
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

    def _addon(self, apps: Mapping[Place, App]) -> dict[str, Any]:
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
        entry |= {"namespace": own, "account": account_of(next(iter(apps.values())))}
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
