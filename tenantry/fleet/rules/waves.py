"""Rules about waves: each cluster is in one wave, and each wave takes some."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.grants.grants import filled_entries, is_filled
from tenantry.messages.errors import Path, Problem
from tenantry.messages.text import counted, listed
from tenantry.model import RolloutWave
from tenantry.rollout.waves import Drawn, drawn


class _Written(NamedTuple):
    """Waves where they are written. environments: those that have them, the first one as `at` says, or those that extend it."""

    at: Path
    declared: list[RolloutWave]
    environments: list[str]

    @property
    def waves(self) -> Iterator[tuple[int, Path, RolloutWave]]:
        """The number and the path of each wave."""
        return ((index + 1, (*self.at, index), wave) for index, wave in enumerate(self.declared))


class _Chain(NamedTuple):
    """The waves of one environment."""

    environment: str
    at: Path
    waves: tuple[Drawn, ...]
    clusters: tuple[str, ...]

    @property
    def there(self) -> str:
        """The environment, unless the words for the waves name it."""
        return "" if self.at[1] == self.environment else f" of environment '{self.environment}'"


def _who(at: Path) -> str:
    return f"environment '{at[1]}'"


def waves_name_declared_clusters(fleet: Fleet) -> Iterator[Problem]:
    for written in _written(fleet):
        for number, at, wave in written.waves:
            for index, name in enumerate(wave.names or ()):
                if name not in fleet.clusters:
                    what = f"wave {number} of {_who(written.at)} names cluster '{name}'"
                    yield walk.unknown_cluster(fleet, (*at, "names", index), name, what)


def waves_name_clusters_of_their_environment(fleet: Fleet) -> Iterator[Problem]:
    """A declared cluster that is not in the environment. `waves_take_clusters` reports a wave that takes nothing else."""
    for written in _written(fleet):
        reached = {cluster for name in written.environments for cluster in clusters_of(fleet, name)}
        where = "not in this environment"
        if len(written.environments) > 1:
            where = f"in none of the environments {listed(written.environments)}"
        for number, at, wave in written.waves:
            names = wave.names or []
            outside = {name for name in names if name in fleet.clusters and name not in reached}
            for index, name in enumerate(names if outside < set(names) else ()):
                if name in outside:
                    yield Problem(
                        (*at, "names", index),
                        "not-in-the-environment",
                        f"wave {number} of {_who(written.at)} names cluster '{name}', which is {where}",
                        (f"declared: {fleet.source.line_of(('clusters', name))}",),
                        fix="remove the name from the wave, or correct it",
                    )


def waves_take_clusters(fleet: Fleet) -> Iterator[Problem]:
    """The rest may be empty: it is for clusters that are added later."""
    for chain in _chains(fleet):
        for number, wave in enumerate(chain.waves, 1):
            if not (wave.clusters or wave.wave.all) and set(wave.wave.names or ()) <= fleet.clusters.keys():
                yield _empty(fleet, chain, number)


def _empty(fleet: Fleet, chain: _Chain, number: int) -> Problem:
    empty = chain.waves[number - 1]
    notes: tuple[str, ...] = (f"there: {listed(chain.clusters)}",)
    if empty.wave.percent is not None:
        notes = (f"other waves take all of {listed(chain.clusters)}",)
    elif empty.wave.labels:
        labels = sorted(
            {f"{key}={value}" for name in chain.clusters for key, value in fleet.clusters[name].labels.items()}
        )
        notes = (f"labels there: {', '.join(labels) or 'none'}",)
    message = f"wave {number} of {_who(chain.at)} takes no cluster{chain.there}"
    return Problem(empty.at, "selects-nothing", message, notes, fix="correct what it selects, or remove the wave")


def waves_do_not_overlap(fleet: Fleet) -> Iterator[Problem]:
    for chain in _chains(fleet):
        for (first, earlier), (second, later) in combinations(enumerate(chain.waves, 1), 2):
            if both := [name for name in later.clusters if name in earlier.clusters]:
                message = f"waves {first} and {second} of {_who(chain.at)} both take {_clusters(both)}"
                notes = (f"wave {first}: {fleet.source.line_of(earlier.at)}",)
                fix = "change one of the waves so that each cluster is in one of them"
                yield Problem(later.at, "waves-overlap", message, notes, fix)


def waves_take_every_cluster(fleet: Fleet) -> Iterator[Problem]:
    """A wave that is reported for what it names or selects may be why a cluster is left out, so that is not reported too."""
    reported: list[Path] | None = None
    for chain in _chains(fleet):
        taken = {name for wave in chain.waves for name in wave.clusters}
        if left := [name for name in chain.clusters if name not in taken]:
            if reported is None:
                reported = [problem.path for rule in _ABOUT_NAMES for problem in rule(fleet)]
            if any(path[: len(chain.at)] == chain.at for path in reported):
                continue
            message = f"no wave of {_who(chain.at)} takes {_clusters(left)}{chain.there}"
            fix = "add 'rest' as the last wave, for the other clusters"
            yield Problem(chain.at, "not-in-a-wave", message, fix=fix)


_ABOUT_NAMES = (waves_name_declared_clusters, waves_name_clusters_of_their_environment, waves_take_clusters)


def _clusters(names: list[str]) -> str:
    return f"cluster '{names[0]}'" if len(names) == 1 else f"{counted(len(names), 'cluster')} ({listed(names)})"


def included_files_keep_to_the_waves(fleet: Fleet) -> Iterator[Problem]:
    for tenant, app in filled_entries(fleet, "apps"):
        at = ("tenants", tenant, "apps", app, "waves")
        if "waves" in fleet.raw(*at[:-1]) and is_filled(fleet, at):
            message = f"app '{app}' keeps out of the waves, which an included file cannot say"
            fix = "remove it: what an included file declares changes in the waves of its environments"
            yield Problem(at, "not-granted", message, fix=fix, at_key=True)


def _written(fleet: Fleet) -> Iterator[_Written]:
    """All waves where they are written. An environment that inherits them is not repeated."""
    by_place: dict[Path, _Written] = {}
    for name, environment in fleet.environments.items():
        if environment.waves:
            at = fleet.declared_at(name, "waves")
            by_place.setdefault(at, _Written(at, environment.waves, [])).environments.append(name)
    return iter(by_place.values())


def _chains(fleet: Fleet) -> Iterator[_Chain]:
    """The waves of every environment with clusters."""
    for name, environment in fleet.environments.items():
        if environment.waves and (clusters := tuple(clusters_of(fleet, name))):
            yield _Chain(name, fleet.declared_at(name, "waves"), drawn(fleet, name), clusters)
