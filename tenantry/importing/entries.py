"""What tenants and the platform have in common: apps with overrides, their places, alerts, receivers, names of Secrets, shards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tenantry.importing.apps import source_key
from tenantry.importing.attached import Attached
from tenantry.importing.blocks import Times, literal
from tenantry.importing.checkouts import FLUX
from tenantry.importing.overlay import DIFFER, Overlaid, Place, Variables, in_order, overlaid, unified
from tenantry.importing.secrets import first_secret
from tenantry.importing.survey import Survey
from tenantry.importing.world import FoundApp, Notes, Thing, World
from tenantry.kube.names import label_value_problem
from tenantry.messages.errors import Path
from tenantry.messages.text import listed
from tenantry.model import Helm, Kustomize
from tenantry.model.strict import Model
from tenantry.plan.objects.scope import SHARD_LABEL

_BLOCKS: dict[str, type[Model]] = {"kustomize": Kustomize, "helm": Helm}


@dataclass(slots=True)
class Gathered:
    """What was found in all environments.

    surveys: by environment. apps: by their place in the file. defaults: the times that hold where nothing else is said.
    paused: the clusters and the tenants of which everything is suspended.
    """

    notes: Notes
    surveys: Mapping[str, Survey]
    variables: Variables = field(default_factory=Variables)
    apps: dict[tuple[str, ...], dict[Place, FoundApp]] = field(default_factory=lambda: defaultdict(dict))
    defaults: Times = field(default_factory=dict)
    paused: set[tuple[str, ...]] = field(default_factory=set)

    def all_apps(self) -> Iterator[FoundApp]:
        return (app for found in self.apps.values() for app in found.values())

    def of_owner(self, path: tuple[str, ...]) -> dict[str, dict[Place, FoundApp]]:
        """The apps of a tenant or the platform, by what the file calls them."""
        return {at[-1]: found for at, found in self.apps.items() if at[: len(path)] == path and found}


def with_overrides(result: Overlaid) -> dict[str, Any]:
    """The base, and `overrides` where places differ."""
    overrides = [{"when": {"environments": [name]}, **each} for name, each in result.environments.items()]
    overrides += [{"when": {"clusters": {"names": [name]}}, **each} for name, each in result.clusters.items()]
    return {**result.base, **({"overrides": overrides} if overrides else {})}


class OwnerEntry:
    """Builds the entry of a tenant, or of the platform, which has no name."""

    def __init__(self, gathered: Gathered, tenant: str = "") -> None:
        self.gathered = gathered
        self.notes = gathered.notes
        self.surveys = gathered.surveys
        self.variables = gathered.variables
        self.tenant = tenant
        self.path = ("tenants", tenant) if tenant else ("platform",)
        self.apps = gathered.of_owner(self.path)

    def agreed(self, found: Mapping[Place, Any], *key: str) -> Any:
        """One value of a key for all places: this part of the file has no overrides."""
        path = (*self.path, *key)
        one = unified(found, self.variables.named(*path[1:]))
        if one is not DIFFER:
            return one
        first = next(iter(found))
        text = f"decide: this is what was found in {first.environment}; other environments or clusters differ"
        self.notes.decide(path, text)
        return found[first]

    # --- apps ---------------------------------------------------------------------------------------------------------

    def app(self, found: Mapping[Place, FoundApp]) -> dict[str, Any]:
        """The entry of an app, or of an add-on without its source."""
        without_source = {
            place: {key: each for key, each in app.content.items() if key != "source"} for place, app in found.items()
        }
        result = overlaid(without_source, unified)
        for place in result.conflicts:
            text = "what it says here cannot be in one entry with what the others say"
            self.notes.leave(found[place].thing.read, text, "declare it by hand")
        for place, app in found.items():
            if place not in result.conflicts:
                self.notes.take(app.thing.read, *app.path)
                self.notes.apps[id(app.thing.read)] = (app.tenant, app.key, place.cluster)
        entry = with_overrides(result)
        if len(blocks := {app.block for app in found.values()}) == 1:
            entry = {blocks.pop(): {}, **entry}
        states = [*_suspended(entry), *self._risks(found)]
        for key, model in _BLOCKS.items():
            if key in entry:
                entry[key] = in_order(entry[key], model)
        return {**self._placed(found), **entry, **({"state": "paused"} if states else {})}

    def _risks(self, found: Mapping[Place, FoundApp]) -> list[str]:
        """Why the app is paused until somebody has decided."""
        risks = list(dict.fromkeys(each for app in found.values() for each in app.risks))
        for risk in risks:
            self.notes.decide((*next(iter(found.values())).path, "state"), risk)
        return risks

    def _placed(self, found: Mapping[Place, FoundApp]) -> dict[str, Any]:
        """`clusters` and `environments` of an app, exactly where it was found."""
        environments = list(dict.fromkeys(place.environment for place in found))
        everywhere = {
            Place(environment, cluster)
            for environment in environments
            for cluster in self.surveys[environment].clusters
        }
        entry: dict[str, Any] = {}
        if everywhere != set(found):
            entry["clusters"] = {"names": list(dict.fromkeys(place.cluster for place in found))}
        elif not self.tenant:
            entry["clusters"] = {"all": True}
        if len(environments) < len(self.surveys):
            entry["environments"] = environments
        return entry

    # --- beside apps --------------------------------------------------------------------------------------------------

    def beside(self) -> dict[str, Any]:
        """`alerts` and `receivers`."""
        made: dict[str, dict[str, dict[Place, Any]]] = {"alerts": defaultdict(dict), "receivers": defaultdict(dict)}
        for place in dict.fromkeys(place for found in self.apps.values() for place in found):
            here = {key: found[place] for key, found in self.apps.items() if place in found}
            first = next((app for app in here.values() if not app.own), next(iter(here.values())))
            survey = self.surveys[place.environment]
            prefix = first.planned.removesuffix(first.key)
            own = Attached(survey.world, self.path, first.home, prefix, survey.names_of(first), here)
            for key, each in own.alerts().items():
                made["alerts"][key][place] = each
            for key, each in own.receivers(_sources_here(here)).items() if self.tenant else ():
                made["receivers"][key][place] = each
        return {
            group: {key: self.agreed(found, group, key) for key, found in entries.items()}
            for group, entries in made.items()
            if entries
        }

    def named(self) -> dict[str, Any]:
        """Credentials by name alone, and configs with their data, if it was read."""
        credentials: dict[str, Any] = {}
        configs: defaultdict[str, dict[Place, Any]] = defaultdict(dict)
        held: defaultdict[str, list[Thing | None]] = defaultdict(list)
        for survey in self.surveys.values():
            for (owner, cluster), here in survey.named.items():
                if owner != self.tenant:
                    continue
                for key, thing in here.credentials.items():
                    credentials[key] = {"existing": True}
                    self._take(thing, "credentials", key)
                for key, thing in here.configs.items():
                    data = _data(thing, survey.world) if thing is not None and _is_handed_over(thing) else None
                    place = Place(survey.world.environment, cluster)
                    configs[key][place] = {"data": literal(data)} if data else {"existing": True}
                    held[key].append(thing)
        made = {}
        for key, there in configs.items():
            one = unified(there, self.variables.named(*self.path[1:], "configs", key))
            made[key] = {"existing": True} if one is DIFFER else one
            for thing in held[key]:
                self._take(thing, "configs", key, is_kept="existing" in made[key])
        return {key: each for key, each in (("credentials", credentials), ("configs", made)) if each}

    def _take(self, thing: Thing | None, *key: str, is_kept: bool = True) -> None:
        if thing is not None:
            if is_kept:
                text = "Tenantry reads it by its name and does not change it"
                self.notes.leave(thing.read, text, "nothing; keep what creates it", fate="stays")
            self.notes.take(thing.read, *self.path, *key)


def _suspended(entry: dict[str, Any]) -> list[Any]:
    """Take `suspend` from an app that is suspended everywhere: the file says it by a state."""
    return [entry[key].pop("suspend") for key in _BLOCKS if entry.get(key, {}).get("suspend") is True]


def _sources_here(apps: Mapping[str, FoundApp]) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for app in apps.values():
        if app.source and app.source.namespace == app.home:
            found[app.source.kind, app.source.name] = source_key(app) if app.tenant else app.shared or app.key
        chart = app.thing.at("spec", "chartRef", "name")
        if app.source and isinstance(chart, str):
            found["HelmChart", chart] = source_key(app) if app.tenant else app.shared or app.key
    return found


def _is_handed_over(config: Thing) -> bool:
    """Whether Tenantry made a ConfigMap, or takes over what a Kustomization applies, and the ConfigMap with it."""
    return config.is_ours or config.applied_by not in (("", ""), (FLUX, FLUX))


def _data(config: Thing, world: World) -> Any:
    """What a ConfigMap holds, unless a part of it may be a secret."""
    data = config.at("data")
    if not world.keeps_values and (at := first_secret(data, ("data",))):
        text = "this may be a secret, which is not copied"
        fix = "move it into a Secret and import again, or use --keep-values"
        world.notes.leave(config.read, text, fix, at)
        return None
    return data


def shard_of_cluster(path: Path, things: Iterable[Thing], notes: Notes) -> dict[str, str]:
    """`shard` of the cluster at a path. things: the apps there."""
    found = sorted({_shard(thing) for thing in things})
    if len(found) > 1:
        shards = listed(each or "none" for each in found)
        text = f"decide: apps on this cluster are for different shards of Flux's controllers, {shards}: see 'shard'"
        notes.decide(path, text)
    return {"shard": found[0]} if len(found) == 1 and found[0] else {}


def _shard(thing: Thing) -> str:
    value = thing.labels.get(SHARD_LABEL)
    return value if isinstance(value, str) and label_value_problem(value) is None else ""
