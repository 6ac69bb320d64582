"""What tenants and the platform have in common: apps with overrides, their places, alerts, receivers, names of Secrets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tenantry.importing.apps import source_home, source_key
from tenantry.importing.attached import Attached
from tenantry.importing.blocks import literal
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

Apps = Mapping[str, Mapping[Place, FoundApp]]
Surveys = Mapping[str, Survey]
_BLOCKS: dict[str, type[Model]] = {"kustomize": Kustomize, "helm": Helm}


def with_overrides(result: Overlaid) -> dict[str, Any]:
    """The base, and `overrides` where places differ."""
    overrides: dict[str, Any] = {}
    if result.environments:
        overrides["environments"] = result.environments
    if result.clusters:
        overrides["clusters"] = result.clusters
    return {**result.base, **({"overrides": overrides} if overrides else {})}


def app_entry(found: Mapping[Place, FoundApp], notes: Notes) -> dict[str, Any]:
    """The entry of an app, without where it runs."""
    result = overlaid({place: _overridable(app) for place, app in found.items()})
    for place in result.conflicts:
        text = "what it says here cannot be in one entry with what the others say"
        notes.leave(found[place].thing.read, text, "declare it by hand")
    for place, app in found.items():
        if place not in result.conflicts:
            notes.take(app.thing.read, *app.path)
            notes.apps[id(app.thing.read)] = (app.tenant, app.key, place.cluster)
    entry = with_overrides(result)
    if len(kinds := {key for app in found.values() for key in app.content if key in _BLOCKS}) == 1:
        entry = {kinds.pop(): {}, **entry}
    paused = _is_suspended(entry)
    for key, model in _BLOCKS.items():
        if key in entry:
            entry[key] = in_order(entry[key], model)
    return {**entry, **({"state": "paused"} if paused else {}), **_state(found, notes)}


def _is_suspended(entry: dict[str, Any]) -> bool:
    """Whether the app is suspended everywhere, which the file says by a state instead of a key of Flux."""
    found = [entry[key].pop("suspend") for key in _BLOCKS if entry.get(key, {}).get("suspend") is True]
    return bool(found)


def _overridable(app: FoundApp) -> dict[str, Any]:
    """What overrides can change."""
    return {key: each for key, each in app.content.items() if key != "source"}


def _state(found: Mapping[Place, FoundApp], notes: Notes) -> dict[str, Any]:
    risks = list(dict.fromkeys(each for app in found.values() for each in app.risks))
    first = next(iter(found.values()))
    for each in risks:
        notes.decide((*first.path, "state"), each)
    return {"state": "paused"} if risks else {}


def placed(found: Mapping[Place, FoundApp], surveys: Surveys) -> dict[str, Any]:
    """`clusters` and `environments` of an app, exactly where it was found."""
    environments = list(dict.fromkeys(place.environment for place in found))
    clusters = list(dict.fromkeys(place.cluster for place in found))
    everywhere = {Place(each, cluster) for each in environments for cluster in clusters_in(surveys[each])}
    entry: dict[str, Any] = {}
    if everywhere != set(found):
        entry["clusters"] = {"names": clusters}
    elif not next(iter(found.values())).tenant:
        entry["clusters"] = {"all": True}
    if len(environments) < len(surveys):
        entry["environments"] = environments
    return entry


def clusters_in(survey: Survey) -> list[str]:
    return [survey.world.management, *survey.remotes.entries]


def misplaced(found: Mapping[Place, FoundApp], surveys: Surveys) -> list[Place]:
    """Places that one entry cannot have beside the others: it takes each cluster in each of its environments."""
    clusters = {place.cluster for place in found}
    environments = dict.fromkeys(place.environment for place in found)
    wanted = {Place(each, name) for each in environments for name in clusters_in(surveys[each]) if name in clusters}
    if wanted == set(found):
        return []
    first = next(iter(environments))
    return [place for place in found if place.environment != first]


# --- beside apps ------------------------------------------------------------------------------------------------------


def attached(surveys: Surveys, tenant: str, apps: Apps, variables: Variables, notes: Notes) -> dict[str, Any]:
    """`alerts` and `receivers` of an owner, and the image automation of its apps, which is added to their content."""
    made: dict[str, dict[str, dict[Place, Any]]] = {"alerts": defaultdict(dict), "receivers": defaultdict(dict)}
    for place in dict.fromkeys(place for found in apps.values() for place in found):
        here = {key: found[place] for key, found in apps.items() if place in found}
        first = next(iter(here.values()))
        survey = surveys[place.environment]
        path = ("tenants", tenant) if tenant else ("platform",)
        prefix = first.planned.removesuffix(first.key)
        own = Attached(survey.world, path, first.home, prefix, survey.names_of(first), here)
        for key, each in own.alerts().items():
            made["alerts"][key][place] = each
        for key, each in own.receivers(_sources_here(here)).items():
            made["receivers"][key][place] = each
        for app in here.values():
            if automation := own.images(app):
                app.automation = automation
    path = ("tenants", tenant) if tenant else ("platform",)
    return {
        group: {key: agreed((*path, group, key), found, variables, notes) for key, found in entries.items()}
        for group, entries in made.items()
        if entries
    }


def _sources_here(apps: Mapping[str, FoundApp]) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for app in apps.values():
        if app.source and app.source.namespace == app.home:
            found[app.source.kind, app.source.name] = source_key(app) if app.tenant else app.key
        chart = app.thing.at("spec", "chartRef", "name")
        if app.source and isinstance(chart, str):
            found["HelmChart", chart] = source_key(app) if app.tenant else app.key
    return found


def agreed(path: tuple[str, ...], found: Mapping[Place, Any], variables: Variables, notes: Notes) -> Any:
    """One entry for all places: this part of the file has no overrides."""
    one = unified(found, variables.named(*path[1:]))
    if one is not DIFFER:
        return one
    first = next(iter(found))
    notes.decide(path, f"decide: this is what was found in {first.environment}; other environments or clusters differ")
    return found[first]


def automation_of(found: Mapping[Place, FoundApp], variables: Variables, notes: Notes) -> dict[str, Any]:
    """`imageAutomation` of an app, which is the same in all environments that have it."""
    there = {place: app.automation for place, app in found.items() if app.automation}
    if not there:
        return {}
    first = next(iter(found.values()))
    entry = dict(agreed((*first.path, "imageAutomation"), there, variables, notes))
    environments = list(dict.fromkeys(place.environment for place in there))
    if set(environments) != {place.environment for place in found}:
        entry["environments"] = environments
    return {"imageAutomation": entry}


def named(surveys: Surveys, tenant: str, variables: Variables, notes: Notes) -> dict[str, Any]:
    """Credentials by name alone, and configs with their data, if it was read."""
    credentials: dict[str, Any] = {}
    configs: defaultdict[str, dict[Place, Any]] = defaultdict(dict)
    path = ("tenants", tenant) if tenant else ("platform",)
    for survey in surveys.values():
        for (owner, cluster), here in survey.named.items():
            if owner != tenant:
                continue
            for key, thing in here.credentials.items():
                credentials[key] = {"existing": True}
                _take(notes, thing, (*path, "credentials", key))
            for key, thing in here.configs.items():
                data = _data(thing, survey.world) if thing is not None and thing.is_ours else None
                place = Place(survey.world.environment, cluster)
                configs[key][place] = {"data": literal(data)} if data else {"existing": True}
                if data and thing is not None:
                    notes.take(thing.read, *path, "configs", key)
                else:
                    _take(notes, thing, (*path, "configs", key))
    made = {key: agreed((*path, "configs", key), found, variables, notes) for key, found in configs.items()}
    return {key: each for key, each in (("credentials", credentials), ("configs", made)) if each}


def _data(config: Thing, world: World) -> Any:
    """What a ConfigMap holds, unless a part of it may be a secret."""
    data = config.at("data")
    if not world.keeps_values and (at := first_secret(data, ("data",))):
        text = "this may be a secret, which is not copied"
        fix = "move it into a Secret and import again, or use --keep-values"
        world.notes.leave(config.read, text, fix, at)
        return None
    return data


def _take(notes: Notes, thing: Thing | None, path: tuple[str, ...]) -> None:
    if thing is not None:
        text = "Tenantry reads it by its name and does not change it"
        notes.leave(thing.read, text, "nothing; keep what creates it")
        notes.take(thing.read, *path)


def source_is_there(app: FoundApp) -> bool:
    """Whether the source that Tenantry plans is the one that was read."""
    assert app.source is not None
    return (app.source.namespace, app.source.name) == source_home(app)


def own_shard(things: Iterable[Thing]) -> dict[str, str]:
    """`shard` of a tenant all of whose apps are for one shard."""
    found = _shards(things)
    return {"shard": found[0]} if len(found) == 1 and found[0] else {}


def shard_of_cluster(path: Path, things: Iterable[Thing], notes: Notes) -> dict[str, str]:
    """`shard` of the cluster at a path. things: the apps there of the platform, and of tenants without a shard of their own."""
    found = _shards(things)
    if len(found) > 1:
        shards = listed(each or "none" for each in found)
        text = f"decide: apps on this cluster are for different shards of Flux's controllers, {shards}: see 'shard'"
        notes.decide(path, text)
    return own_shard(things)


def _shards(things: Iterable[Thing]) -> list[str]:
    return sorted({_shard(each) for each in things})


def _shard(thing: Thing) -> str:
    value = thing.labels.get(SHARD_LABEL)
    return value if isinstance(value, str) and label_value_problem(value) is None else ""
