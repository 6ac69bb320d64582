"""Rules about rollouts: each cluster or tenant is in one wave, and each wave takes some."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from tenantry.fleet import walk
from tenantry.fleet.classes import CLASSES
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import clusters_of_app
from tenantry.fleet.settings import variables_of
from tenantry.grants.grants import filled_entries, is_filled
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful
from tenantry.messages.text import counted, declared, listed
from tenantry.model import Rollout, RolloutWave
from tenantry.rollout.check_texts import check_names, check_variables, texts_of
from tenantry.rollout.drawing import (
    Drawn,
    OwnRollout,
    drawn,
    environment_rollout,
    is_active,
    own_rollouts,
    rollout_at,
    units_of,
)
from tenantry.rollout.model import KEYS_BY, By


class _Written(NamedTuple):
    """A rollout where it is written. who: in words. apps: the paths of those whose own it is; none: it is of environments."""

    at: Path
    rollout: Rollout
    apps: tuple[tuple[str, ...], ...] = ()

    @property
    def who(self) -> str:
        match self.at:
            case ("environments", name, _):
                return f"the rollout of environment '{name}'"
            case ("tenants", tenant, "apps", app, _):
                return f"the rollout of app '{app}' of tenant '{tenant}'"
            case ("tenantClasses", name, "apps", app, _):
                return f"the rollout of app '{app}' of class '{name}'"
        return f"the rollout of add-on '{self.at[-2]}'"

    @property
    def noun(self) -> str:
        return "tenant" if self.rollout.by == "tenants" else "cluster"

    @property
    def waves(self) -> Iterator[tuple[int, Path, RolloutWave]]:
        """The number and the path of each wave."""
        return ((index + 1, (*self.at, "waves", index), wave) for index, wave in enumerate(self.rollout.waves or ()))


class _Chain(NamedTuple):
    """A rollout in one environment."""

    environment: str
    written: _Written
    waves: tuple[Drawn, ...]
    units: tuple[str, ...]

    @property
    def at(self) -> Path:
        return self.written.at

    @property
    def there(self) -> str:
        """The environment, unless the words for the rollout name it."""
        return "" if self.at[:2] == ("environments", self.environment) else f" of environment '{self.environment}'"


def rollouts_by_tenants_are_one_for_all(fleet: Fleet) -> Iterator[Problem]:
    """They are written in a class, and a tenant of it takes them as they are or has none of it."""
    for own in own_rollouts(fleet):
        written = _Written(own.at, own.declared, own.apps)
        if own.declared.by != "tenants" or not own.declared.waves:
            continue
        if own.at[0] == CLASSES:
            yield from _deviations(fleet, own, written)
            continue
        why, fix = "but an add-on is of none", "remove it, and let the waves choose clusters"
        if own.at[0] == "tenants":
            why = "but it is of one tenant alone"
            place = f"'{CLASSES}: {{CLASS: {{apps: {{{own.at[3]}: {{rollout: ...}}}}}}}}'"
            fix = f"write the rollout in a class: {place}, or remove 'by'"
        yield Problem((*own.at, "by"), "by-tenants", f"{written.who} is by tenants, {why}", fix=fix, at_key=True)


def _deviations(fleet: Fleet, own: OwnRollout, written: _Written) -> Iterator[Problem]:
    if all(fleet.raw(*at, "rollout") == fleet.raw(*own.apps[0], "rollout") for at in own.apps):
        return
    for at in own.apps:
        for key in fleet.raw(*at, "rollout"):
            place = (*at, "rollout", key)
            if fleet.source.origin(place)[:-1] != own.at:
                message = f"{written.who} is by tenants, one for all of them, but '{key}' of tenant '{at[1]}' is not from there"
                notes = (f"class: {fleet.source.line_of((*own.at, 'waves'))}",)
                fix = f"set '{key}' in the class, or write 'rollout: {{by: clusters, waves: [...]}}' or 'rollout: false' here"
                yield Problem(place, "by-tenants", message, notes, fix, at_key=True)


def waves_choose_what_their_rollout_is_by(fleet: Fleet) -> Iterator[Problem]:
    for written in _written(fleet):
        by = written.rollout.by
        other: By = "clusters" if by == "tenants" else "tenants"
        keys = " or ".join(f"'{key}:'" for key in KEYS_BY[by][:2])
        change = "remove 'by: tenants' from" if by == "tenants" else "add 'by: tenants' to"
        fix = f"write {keys}, or {change} the rollout"
        for number, at, _ in written.waves:
            what = f"wave {number} of {written.who} takes {by}, and"
            for key in (key for key in KEYS_BY[other] if fleet.raw(*at).get(key)):
                yield Problem((*at, key), "other-rollout", f"{what} '{key}' is about {other}", fix=fix, at_key=True)


def waves_name_declared_clusters(fleet: Fleet) -> Iterator[Problem]:
    for written in _written(fleet):
        for number, at, wave in written.waves if written.rollout.by == "clusters" else ():
            for path, name in walk.names_of_selector(wave):
                if name not in fleet.clusters:
                    what = f"wave {number} of {written.who} names cluster '{name}'"
                    yield walk.unknown_cluster(fleet, (*at, *path), name, what)


def waves_name_declared_tenants(fleet: Fleet) -> Iterator[Problem]:
    """Tenants and classes."""
    for written in _written(fleet):
        for number, at, wave in written.waves if written.rollout.by == "tenants" else ():
            named: list[tuple[Path, str, str]] = [
                ((*at, "tenants", index), "tenant", name) for index, name in enumerate(wave.tenants or ())
            ]
            is_list = isinstance(wave.class_, list)
            named += [
                ((*at, "class", index) if is_list else (*at, "class"), "class", name)
                for index, name in enumerate(wave.classes)
            ]
            for place, what, name in named:
                group = CLASSES if what == "class" else "tenants"
                if name not in (known := fleet.names(group)):
                    yield Problem(
                        place,
                        f"unknown-{what}",
                        f"wave {number} of {written.who} names {what} '{name}', which is not declared",
                        (declared("declared", name, known),),
                        fix=f"declare it under '{group}:', or correct the name",
                    )


def waves_name_clusters_of_their_rollout(fleet: Fleet) -> Iterator[Problem]:
    """A declared cluster or tenant that the rollout never reaches. `waves_take_clusters` reports a wave that takes nothing else."""
    for written in _written(fleet):
        key, known = ("tenants", fleet.document.tenants) if written.noun == "tenant" else ("names", fleet.clusters)
        environments, reached = _reached(fleet, written)
        for number, at, wave in written.waves:
            names = (wave.tenants if key == "tenants" else wave.names) or []
            others = {name for name in names if name in known and name not in reached}
            for place, name in enumerate(names if others < set(names) else ()):
                if name in others:
                    yield Problem(
                        (*at, key, place),
                        "not-in-the-rollout",
                        f"wave {number} of {written.who} names {written.noun} '{name}', {_why_not(written, environments)}",
                        (f"declared: {fleet.source.line_of((f'{written.noun}s', name))}",),
                        fix="remove the name from the wave, or correct it",
                    )


def _reached(fleet: Fleet, written: _Written) -> tuple[list[str], set[str]]:
    """The environments of a rollout, and the clusters or tenants that it reaches in them."""
    names = [
        environment
        for environment in fleet.environments
        if written.apps or (environment_rollout(fleet, environment) and rollout_at(fleet, environment) == written.at)
    ]
    return names, {unit for name in names for unit in units_of(fleet, name, written.rollout, written.apps)}


def _why_not(written: _Written, environments: list[str]) -> str:
    if written.apps and written.noun == "tenant":
        return "which does not have this app from the class, or not in any environment"
    if written.apps:
        return f"where the {'add-on' if written.at[0] == 'platform' else 'app'} does not run"
    has = "which has no app in" if written.noun == "tenant" else "which is in"
    if len(environments) == 1:
        return f"{has} this environment" if written.noun == "tenant" else "which is not in this environment"
    return f"{has} {'any' if written.noun == 'tenant' else 'none'} of the environments {listed(environments)}"


def waves_take_clusters(fleet: Fleet) -> Iterator[Problem]:
    """The rest may be empty: it is for clusters that are added later. An app's wave needs a cluster in any environment.

    Tenants come and go without a change of the rollout, so only a wave that names them has to take one.
    """
    taken: dict[Path, bool] = {}
    told: dict[Path, Problem] = {}
    for chain in _chains(fleet):
        by_tenants = chain.written.rollout.by == "tenants"
        for number, each in enumerate(chain.waves, 1):
            names, known = (
                (each.wave.tenants, fleet.document.tenants) if by_tenants else (each.wave.names, fleet.clusters)
            )
            others = by_tenants or each.wave.tenants or each.wave.classes
            if each.wave.all or not set(names or ()) <= known.keys() or (others and not names):
                continue
            if not each.units:
                told.setdefault(
                    each.at if chain.written.apps else (*each.at, chain.environment), _empty(fleet, chain, number)
                )
            elif chain.written.apps:
                taken[each.at] = True
    yield from (found for at, found in told.items() if at not in taken)


def _empty(fleet: Fleet, chain: _Chain, number: int) -> Problem:
    each = chain.waves[number - 1]
    notes: tuple[str, ...] = (f"there: {listed(chain.units)}",)
    if each.wave.percent is not None:
        notes = (f"other waves take all of {listed(chain.units)}",)
    elif each.wave.labels:
        labels = sorted({f"{key}={value}" for name in chain.units for key, value in _labels(fleet, name)})
        notes = (f"labels there: {', '.join(labels) or 'none'}",)
    message = f"wave {number} of {chain.written.who} takes no {chain.written.noun}{chain.there}"
    return Problem(each.at, "selects-nothing", message, notes, fix="correct what it selects, or remove the wave")


def _labels(fleet: Fleet, cluster: str) -> Iterator[tuple[str, str]]:
    yield from fleet.clusters[cluster].labels.items()


def waves_do_not_overlap(fleet: Fleet) -> Iterator[Problem]:
    for chain in _chains(fleet):
        noun = chain.written.noun
        for (first, one), (second, other) in combinations(enumerate(chain.waves, 1), 2):
            if both := [name for name in other.units if name in one.units]:
                message = f"waves {first} and {second} of {chain.written.who} both take {_units(noun, both)}"
                notes = (f"wave {first}: {fleet.source.line_of(one.at)}",)
                fix = f"change one of the waves so that each {noun} is in one of them"
                if noun == "tenant" and not (one.wave.tenants or other.wave.tenants):
                    fix = f"name {'it' if len(both) == 1 else 'them'} in a wave 'tenants: [{listed(both)}]', which counts for more"
                yield Problem(other.at, "waves-overlap", message, notes, fix)


def waves_take_every_cluster(fleet: Fleet) -> Iterator[Problem]:
    """A wave that is reported for what it names or selects may be why a cluster is left out, so that is not reported too."""
    reported: list[Path] | None = None
    for chain in _chains(fleet):
        noun = chain.written.noun
        taken = {name for wave in chain.waves for name in wave.units}
        if left := [name for name in chain.units if name not in taken]:
            if reported is None:
                reported = [each.path for rule in _ABOUT_NAMES for each in rule(fleet)]
            if any(path[: len(chain.at)] == chain.at for path in reported):
                continue
            message = f"no wave of {chain.written.who} takes {_units(noun, left)}{chain.there}"
            fix = f"add '{{all: true}}' as the last wave, for the rest of the {noun}s"
            yield Problem((*chain.at, "waves"), "not-in-a-wave", message, fix=fix)


_ABOUT_NAMES = (
    waves_choose_what_their_rollout_is_by,
    waves_name_declared_clusters,
    waves_name_declared_tenants,
    waves_name_clusters_of_their_rollout,
    waves_take_clusters,
)


def _units(noun: str, names: list[str]) -> str:
    return f"{noun} '{names[0]}'" if len(names) == 1 else f"{counted(len(names), noun)} ({listed(names)})"


def included_files_set_no_rollouts(fleet: Fleet) -> Iterator[Problem]:
    for tenant, app in filled_entries(fleet, "apps"):
        at = ("tenants", tenant, "apps", app, "rollout")
        if "rollout" in fleet.raw(*at[:-1]) and is_filled(fleet, at):
            message = f"app '{app}' of tenant '{tenant}' sets its rollout, which is the platform's to set"
            yield Problem(at, "not-granted", message, fix="remove it", at_key=True)


def rollouts_of_apps_have_an_effect(fleet: Fleet) -> Iterator[Problem]:
    for own in own_rollouts(fleet):
        environments = [
            environment
            for environment in fleet.environments
            if any(clusters_of_app(fleet, environment, at) for at in own.apps)
        ]
        if environments and not any(environment_rollout(fleet, each) for each in environments):
            who = _Written(own.at, own.declared).who
            message = f"{who} has no effect: no environment of the app has a rollout"
            fix = f"set 'rollout:' for environment {listed(environments)}, or remove it"
            yield doubtful(own.at, "no-effect", message, fix=fix, at_key=True)


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


def checks_have_known_placeholders(fleet: Fleet) -> Iterator[Problem]:
    """Those of the environment, of each cluster, and the units of the wave."""
    for written in _written(fleet):
        by = written.rollout.by
        environments = [
            name
            for name in fleet.environments
            if units_of(fleet, name, written.rollout, written.apps)
            and (written.apps or (environment_rollout(fleet, name) and rollout_at(fleet, name) == written.at))
        ]
        for name, check in written.rollout.checks.items():
            kind = "prometheus" if check.prometheus else "http"
            for key, text in zip(("url", "query"), texts_of(check), strict=True):
                for environment in environments if check_names(text) else ():
                    units = units_of(fleet, environment, written.rollout, written.apps)
                    known = {*check_variables(fleet, environment, by, units)}
                    if by == "clusters":
                        known |= set.intersection(*({*variables_of(fleet, environment, unit)} for unit in units))
                    if unknown := [each for each in check_names(text) if each not in known]:
                        message = f"placeholder '{{{unknown[0]}}}' of check '{name}' has no value in environment '{environment}'"
                        note = declared("known", unknown[0], known)
                        at = (*written.at, "checks", name, kind, key)
                        yield Problem(at, "unknown-placeholder", message, (note,), "correct the name")
                        break


def soaks_have_a_wave_after_them(fleet: Fleet) -> Iterator[Problem]:
    for written in _written(fleet):
        waves = list(written.waves)
        for number, at, wave in waves[-1:]:
            if wave.soak:
                message = f"wave {number} of {written.who} is the last one, so nothing waits while it soaks"
                yield doubtful(
                    (*at, "soak"), "no-effect", message, fix="remove it, or add a wave after it", at_key=True
                )


def _is_running(fleet: Fleet, at: tuple[str, ...], cluster: str) -> bool:
    """Whether Flux reconciles an app on a cluster."""
    if at[0] == "platform":
        states = [fleet.document.platform.addons[at[-1]].state]
    else:
        tenant = fleet.document.tenants[at[1]]
        states = [tenant.state, tenant.apps[at[-1]].state]
    return is_active(fleet, cluster) and "paused" not in states


def _written(fleet: Fleet) -> Iterator[_Written]:
    """Every rollout where it is written. An environment that inherits one is not repeated."""
    seen: set[Path] = set()
    for name in fleet.environments:
        at = rollout_at(fleet, name)
        if (rollout := environment_rollout(fleet, name)) and at not in seen:
            seen.add(at)
            yield _Written(at, rollout)
    yield from (_Written(own.at, own.declared, own.apps) for own in own_rollouts(fleet))


def _chains(fleet: Fleet) -> Iterator[_Chain]:
    """Every rollout in every environment where it decides about clusters or tenants."""
    for name in fleet.environments:
        if not (rollout := environment_rollout(fleet, name)):
            continue
        yield from _chain(fleet, name, _Written(rollout_at(fleet, name), rollout))
        for own in own_rollouts(fleet):
            if not own.declared.disabled:
                yield from _chain(fleet, name, _Written(own.at, own.declared, own.apps))


def _chain(fleet: Fleet, environment: str, written: _Written) -> Iterator[_Chain]:
    if units := units_of(fleet, environment, written.rollout, written.apps):
        yield _Chain(environment, written, drawn(fleet, written.rollout, units, written.at), tuple(units))
