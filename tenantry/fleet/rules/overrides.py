"""Rules about overrides for environments and clusters where the app is not placed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from tenantry.fleet.environments import addon_environment, barrier
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import matches, placements_of, selector_at
from tenantry.fleet.rules import walk
from tenantry.fleet.settings import where_applies
from tenantry.messages.errors import Finding, Path
from tenantry.messages.findings import doubtful
from tenantry.messages.text import declared, listed
from tenantry.model import App

_FIX = "remove it, or correct the name or the app's 'clusters'"


def overrides_apply_somewhere(fleet: Fleet) -> Iterator[Finding]:
    for at, _, app, declared_app in walk.apps(fleet):
        overrides = declared_app.overrides
        if not (overrides.environments or overrides.where or overrides.clusters):
            continue
        placements = tuple(placements_of(fleet, at))
        reached = {name for environment in {each for each, _ in placements} for name in fleet.lineage(environment)}
        for name in overrides.environments:
            if name not in reached:
                path = (*at, "overrides", "environments", name)
                yield _never(fleet, at, path, f"{_what(at)} '{app}' is not placed in environment '{name}'")
        clusters = {cluster for _, cluster in placements}
        for name in overrides.clusters:
            if name not in clusters:
                path = (*at, "overrides", "clusters", name)
                yield _never(fleet, at, path, f"{_what(at)} '{app}' is not placed on cluster '{name}'")
        matched = {index for cluster in clusters for index in where_applies(fleet, at, cluster)}
        for index, entry in enumerate(overrides.where):
            if index not in matched:
                yield _nowhere(fleet, at, (*at, "overrides", "where", index, "labels"), entry.labels, clusters)


def _nowhere(
    fleet: Fleet, at: tuple[str, ...], path: Path, labels: Mapping[str, str], clusters: Collection[str]
) -> Finding:
    """An override by labels that no cluster has; the closest label is one that a cluster of the app has."""
    there = {f"{key}={value}" for name in clusters for key, value in fleet.clusters[name].labels.items()}
    missing = [each for each in (f"{key}={value}" for key, value in labels.items()) if each not in there]
    notes = (declared("labels there", missing[0], there),) if missing else ()
    message = (
        f"no cluster that {_what(at)} '{at[-1]}' is placed on has {'these labels' if len(labels) > 1 else 'this label'}"
    )
    return doubtful(
        path,
        "never-applies",
        f"{message}, so this override never applies",
        (*notes, *_placed_on(fleet, at)),
        fix="remove it, or correct the labels or the app's 'clusters'",
        at_key=True,
    )


def image_automations_name_environments_of_the_app(fleet: Fleet) -> Iterator[Finding]:
    for at, _, app, declared_app in walk.apps(fleet):
        for index, name in enumerate(_followed(declared_app)):
            if all(name != environment for environment, _ in placements_of(fleet, at)):
                message = f"{_what(at)} '{app}' is not placed in environment '{name}', so no image is followed there"
                path: Path = (*at, "imageAutomation", "environments", index)
                yield doubtful(path, "never-applies", message, _why(fleet, at, name), fix=_FIX)


def _followed(app: App) -> list[str]:
    return (app.imageAutomation and app.imageAutomation.environments) or []


def _what(at: tuple[str, ...]) -> str:
    return "add-on" if at[0] == "platform" else "app"


def _never(fleet: Fleet, at: tuple[str, ...], path: Path, message: str) -> Finding:
    notes = _why(fleet, at, str(path[-1])) if path[-2] == "environments" else _placed_on(fleet, at)
    return doubtful(path, "never-applies", f"{message}, so this override never applies", notes, fix=_FIX, at_key=True)


def _why(fleet: Fleet, at: tuple[str, ...], environment: str) -> tuple[str, ...]:
    """What keeps the app out of the environment, or which clusters it is placed on and whose add-ons they have."""
    if kept_out := barrier(fleet, environment, at):
        return (f"{kept_out.reason} ({fleet.source.line_of(kept_out.at)})",)
    selected = (
        (name, addon_environment(fleet, at[-1], name))
        for name, cluster in fleet.clusters.items()
        if at[0] == "platform" and environment in cluster.environments
        if matches(fleet.document.platform.addons[at[-1]].clusters, name, cluster)
    )
    elsewhere = [f"those of '{name}' belong to environment '{owner}'" for name, owner in selected]
    if elsewhere:
        return (f"a cluster has the add-ons of one environment: {listed(elsewhere)}",)
    return _placed_on(fleet, at)


def _placed_on(fleet: Fleet, at: tuple[str, ...]) -> tuple[str, ...]:
    clusters = dict.fromkeys(cluster for _, cluster in placements_of(fleet, at))
    where = (*at, "clusters") if at[0] == "platform" else selector_at(fleet, at[1], at[-1])
    return (f"it is placed on {listed(clusters) or 'no cluster'} ({fleet.source.line_of(where)})",)
