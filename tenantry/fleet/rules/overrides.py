"""Rules about overrides for environments and clusters where the app is not placed."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tenantry.fleet import walk
from tenantry.fleet.environments import addon_environment, barrier
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import matches, placements_of, selector_at
from tenantry.fleet.settings import where_applies
from tenantry.grants.grants import is_filled
from tenantry.messages.errors import Finding, Path
from tenantry.messages.findings import doubtful
from tenantry.messages.text import declared, listed
from tenantry.model import App, Overrides, SettingsOverrides

_FIX = "remove it, or correct the name or the app's 'clusters'"


def overrides_apply_somewhere(fleet: Fleet) -> Iterator[Finding]:
    for at, _, app, declared_app in walk.apps(fleet):
        overrides = declared_app.overrides
        if not (overrides.environments or overrides.where or overrides.clusters):
            continue
        placements = tuple(placements_of(fleet, at))
        for path in _unreached(fleet, at, overrides, placements):
            message = _message(f"{_what(at)} '{app}'", path)
            where = _why(fleet, at, str(path[-1])) if path[-2] == "environments" else _placed_on(fleet, at)
            notes = (*_labels_there(fleet, path, placements), *where)
            yield doubtful(path, "never-applies", message, notes, fix=_FIX, at_key=True)


def overrides_of_settings_apply_somewhere(fleet: Fleet) -> Iterator[Finding]:
    """Those of the defaults and of frames are for tenants that are still to come, too."""
    for tenant, declared_tenant in fleet.document.tenants.items():
        at = ("tenants", tenant)
        overrides = declared_tenant.overrides
        if is_filled(fleet, at) or not (overrides.environments or overrides.where or overrides.clusters):
            continue
        apps = ((*at, "apps", app) for app in declared_tenant.apps)
        placements = tuple(dict.fromkeys(placement for app in apps for placement in placements_of(fleet, app)))
        for path in _unreached(fleet, at, overrides, placements) if placements else ():
            there = f"it is placed on {listed(cluster for _, cluster in placements)}"
            notes = (*_labels_there(fleet, path, placements), there)
            fix = "remove it, or correct the name or the tenant's 'clusters'"
            yield doubtful(path, "never-applies", _message(f"tenant '{tenant}'", path), notes, fix=fix, at_key=True)


def _unreached(
    fleet: Fleet,
    at: tuple[str, ...],
    overrides: Overrides | SettingsOverrides,
    placements: Collection[tuple[str, str]],
) -> Iterator[Path]:
    """The overrides that apply to none of the placements, which are pairs of an environment and a cluster."""
    over: Path = (*at, "overrides")
    reached = {name for environment in {each for each, _ in placements} for name in fleet.lineage(environment)}
    yield from ((*over, "environments", name) for name in overrides.environments if name not in reached)
    clusters = dict.fromkeys(cluster for _, cluster in placements)
    yield from ((*over, "clusters", name) for name in overrides.clusters if name not in clusters)
    matched = {index for cluster in clusters for index in where_applies(fleet, at, cluster)}
    yield from ((*over, "where", index, "labels") for index in range(len(overrides.where)) if index not in matched)


def _message(who: str, path: Path) -> str:
    what = f"{who} is not placed in environment '{path[-1]}'"
    if path[-2] == "clusters":
        what = f"{who} is not placed on cluster '{path[-1]}'"
    elif path[-1] == "labels":
        what = f"{who} is placed on no cluster with these labels"
    return f"{what}, so this override never applies"


def _labels_there(fleet: Fleet, path: Path, placements: Collection[tuple[str, str]]) -> Iterator[str]:
    """The labels of the clusters where something is placed, with the one that is closest to what an override asks for."""
    if path[-1] != "labels":
        return
    there = {f"{key}={value}" for _, name in placements for key, value in fleet.clusters[name].labels.items()}
    wanted = (f"{key}={value}" for key, value in fleet.raw(*path).items())
    if missing := next((each for each in wanted if each not in there), None):
        yield declared("labels there", missing, there)


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
