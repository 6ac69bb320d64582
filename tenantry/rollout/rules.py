"""Rules about rollouts: each cluster is in one wave, and each wave has clusters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.placement import clusters_of_app
from tenantry.grants.grants import filled_entries, grant_at, grants_of, is_filled
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful
from tenantry.messages.text import counted, listed
from tenantry.model import Rollout
from tenantry.rollout.drawing import Drawn, drawn, environment_rollout, is_active, own_rollouts, rollout_at


class _Chain(NamedTuple):
    """A rollout in one environment. at: where its waves are written."""

    environment: str
    who: str
    waves: tuple[Drawn, ...]
    clusters: tuple[str, ...]
    at: Path

    @property
    def there(self) -> str:
        """The environment, unless `who` names it."""
        return "" if self.at[:2] == ("environments", self.environment) else f" of environment '{self.environment}'"


def waves_name_declared_clusters(fleet: Fleet) -> Iterator[Problem]:
    for at, who, rollout in _written(fleet):
        for index, wave in enumerate(rollout.waves or ()):
            for path, name in walk.names_of_selector(wave):
                if name not in fleet.clusters:
                    what = f"wave {index + 1} of {who} names cluster '{name}'"
                    yield walk.unknown_cluster(fleet, (*at, "waves", index, *path), name, what)


def waves_name_clusters_of_their_rollout(fleet: Fleet) -> Iterator[Problem]:
    """A declared cluster that the rollout never reaches. `waves_take_clusters` reports a wave that takes nothing else."""
    for at, who, rollout in _written(fleet):
        environments, reached = _reached(fleet, at)
        for index, wave in enumerate(rollout.waves or ()):
            names = wave.names or []
            others = {name for name in names if name in fleet.clusters and name not in reached}
            for place, name in enumerate(names if others < set(names) else ()):
                if name in others:
                    yield Problem(
                        (*at, "waves", index, "names", place),
                        "not-in-the-rollout",
                        f"wave {index + 1} of {who} names cluster '{name}', {_why_not(at, environments)}",
                        (f"declared: {fleet.source.line_of(('clusters', name))}",),
                        fix="remove the name from the wave, or correct it",
                    )


def _reached(fleet: Fleet, at: Path) -> tuple[list[str], set[str]]:
    """The environments of a rollout, and the clusters that it reaches in them."""
    if at[0] == "environments":
        names = [
            environment
            for environment in fleet.environments
            if environment_rollout(fleet, environment) and rollout_at(fleet, environment) == at
        ]
        return names, {cluster for each in names for cluster in clusters_of(fleet, each)}
    names = list(fleet.environments)
    return names, {cluster for name in names for cluster in clusters_of_app(fleet, name, tuple(map(str, at[:-1])))}


def _why_not(at: Path, environments: list[str]) -> str:
    if at[0] != "environments":
        return f"where the {'add-on' if at[0] == 'platform' else 'app'} does not run"
    if len(environments) == 1:
        return "which is not in this environment"
    return f"which is in none of the environments {listed(environments)}"


def waves_take_clusters(fleet: Fleet) -> Iterator[Problem]:
    """The rest may be empty: it is for clusters that are added later. An app's wave needs a cluster in any environment."""
    taken: dict[Path, bool] = {}
    told: dict[Path, Problem] = {}
    for chain in _chains(fleet):
        for number, each in enumerate(chain.waves, 1):
            of_app = chain.at[0] != "environments"
            if each.wave.all or not set(each.wave.names or ()) <= fleet.clusters.keys():
                continue
            if not each.clusters:
                told.setdefault(each.at if of_app else (*each.at, chain.environment), _empty(fleet, chain, number))
            elif of_app:
                taken[each.at] = True
    yield from (found for at, found in told.items() if at not in taken)


def _empty(fleet: Fleet, chain: _Chain, number: int) -> Problem:
    each = chain.waves[number - 1]
    notes: tuple[str, ...] = (f"there: {listed(chain.clusters)}",)
    if each.wave.percent is not None:
        notes = (f"other waves take all of {listed(chain.clusters)}",)
    elif each.wave.labels:
        labels = sorted({f"{key}={value}" for name in chain.clusters for key, value in _labels(fleet, name)})
        notes = (f"labels there: {', '.join(labels) or 'none'}",)
    message = f"wave {number} of {chain.who} takes no cluster{chain.there}"
    return Problem(each.at, "selects-nothing", message, notes, fix="correct what it selects, or remove the wave")


def _labels(fleet: Fleet, cluster: str) -> Iterator[tuple[str, str]]:
    yield from fleet.clusters[cluster].labels.items()


def waves_do_not_overlap(fleet: Fleet) -> Iterator[Problem]:
    for chain in _chains(fleet):
        for (first, one), (second, other) in combinations(enumerate(chain.waves, 1), 2):
            if both := [name for name in other.clusters if name in one.clusters]:
                message = f"waves {first} and {second} of {chain.who} both take {_clusters(both)}"
                notes = (f"wave {first}: {fleet.source.line_of(one.at)}",)
                fix = "change one of the waves so that each cluster is in one of them"
                yield Problem(other.at, "waves-overlap", message, notes, fix)


def waves_take_every_cluster(fleet: Fleet) -> Iterator[Problem]:
    """A wave that is reported for what it names or selects may be why a cluster is left out, so that is not reported too."""
    reported: list[Path] | None = None
    for chain in _chains(fleet):
        taken = {name for wave in chain.waves for name in wave.clusters}
        if left := [name for name in chain.clusters if name not in taken]:
            if reported is None:
                reported = [each.path for rule in _ABOUT_NAMES for each in rule(fleet)]
            if any(path[: len(chain.at)] == chain.at for path in reported):
                continue
            message = f"no wave of {chain.who} takes {_clusters(left)}{chain.there}"
            fix = "add '{all: true}' as the last wave, for the rest of the clusters"
            yield Problem((*chain.at, "waves"), "not-in-a-wave", message, fix=fix)


_ABOUT_NAMES = (waves_name_declared_clusters, waves_name_clusters_of_their_rollout, waves_take_clusters)


def _clusters(names: list[str]) -> str:
    return f"cluster '{names[0]}'" if len(names) == 1 else f"{counted(len(names), 'cluster')} ({listed(names)})"


def included_files_set_granted_rollouts(fleet: Fleet) -> Iterator[Problem]:
    for tenant, app in filled_entries(fleet, "apps"):
        at = ("tenants", tenant, "apps", app, "rollout")
        grants = grants_of(fleet, tenant)
        if (
            "rollout" not in fleet.raw(*at[:-1])
            or not is_filled(fleet, at)
            or "rollout" in ((grants and grants.settings) or ())
        ):
            continue
        yield Problem(
            at,
            "not-granted",
            f"app '{app}' sets its rollout, which is not granted to tenant '{tenant}'",
            (f"what is granted: {fleet.source.line_of(grant_at(fleet, tenant, 'settings'))}",),
            "remove it, or ask the platform team to add 'rollout' to 'grants.settings' of the tenant",
            at_key=True,
        )


def rollouts_of_apps_have_an_effect(fleet: Fleet) -> Iterator[Problem]:
    for at, _ in own_rollouts(fleet):
        environments = [environment for environment in fleet.environments if clusters_of_app(fleet, environment, at)]
        if environments and not any(environment_rollout(fleet, each) for each in environments):
            message = f"{_who(at)} has no effect: no environment of the app has a rollout"
            fix = f"set 'rollout:' for environment {listed(environments)}, or remove it"
            yield doubtful((*at, "rollout"), "no-effect", message, fix=fix, at_key=True)


def rollouts_have_apps_to_wait_for(fleet: Fleet) -> Iterator[Problem]:
    """Flux does not reconcile what is paused, so that every wave would pass at once."""
    for name in fleet.environments:
        if not environment_rollout(fleet, name):
            continue
        states = [
            _is_running(fleet, at, cluster)
            for at, _, _, _ in walk.apps(fleet)
            for cluster in clusters_of_app(fleet, name, at)
        ]
        if states and not any(states):
            message = f"all apps of environment '{name}' are paused, so no wave waits for anything"
            fix = "remove 'rollout:', or resume an app, a tenant or a cluster with 'state: active'"
            yield doubtful(rollout_at(fleet, name), "nothing-to-wait-for", message, fix=fix, at_key=True)


def _is_running(fleet: Fleet, at: tuple[str, ...], cluster: str) -> bool:
    """Whether Flux reconciles an app on a cluster."""
    if at[0] == "platform":
        states = [fleet.document.platform.addons[at[-1]].state]
    else:
        tenant = fleet.document.tenants[at[1]]
        states = [tenant.state, tenant.apps[at[-1]].state]
    return is_active(fleet, cluster) and "paused" not in states


def _written(fleet: Fleet) -> Iterator[tuple[Path, str, Rollout]]:
    """Every rollout where it is written, with words for it. An environment that inherits one is not repeated."""
    seen: set[Path] = set()
    for name in fleet.environments:
        at = rollout_at(fleet, name)
        if (rollout := environment_rollout(fleet, name)) and at not in seen:
            seen.add(at)
            yield at, _who(at[:2]), rollout
    yield from (((*at, "rollout"), _who(at), rollout) for at, rollout in own_rollouts(fleet))


def _chains(fleet: Fleet) -> Iterator[_Chain]:
    """Every rollout in every environment where it decides about clusters."""
    for name in fleet.environments:
        if not (rollout := environment_rollout(fleet, name)):
            continue
        yield from _chain(fleet, name, rollout, rollout_at(fleet, name), clusters_of(fleet, name))
        for at, own in own_rollouts(fleet):
            if not own.disabled:
                yield from _chain(fleet, name, own, (*at, "rollout"), clusters_of_app(fleet, name, at))


def _chain(fleet: Fleet, environment: str, rollout: Rollout, at: Path, clusters: list[str]) -> Iterator[_Chain]:
    if clusters:
        yield _Chain(environment, _who(at[:-1]), drawn(fleet, rollout, clusters, at), tuple(clusters), at)


def _who(at: Path) -> str:
    match at:
        case ("environments", name):
            return f"the rollout of environment '{name}'"
        case ("tenants", tenant, "apps", app):
            return f"the rollout of app '{app}' of tenant '{tenant}'"
    return f"the rollout of add-on '{at[-1]}'"
