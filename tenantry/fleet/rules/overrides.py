"""Rules about overrides that hold nowhere, and about those of `defaults` that outweigh what a tenant says itself."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.placement import placements_of
from tenantry.fleet.templates import DEFAULTS, is_shared
from tenantry.grants.grants import is_filled
from tenantry.messages.data import ABSENT, leaves, value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful
from tenantry.messages.text import declared, listed
from tenantry.model import When
from tenantry.model.selector import any_of

Placements = Collection[tuple[str, str]]
"""Environments and clusters where something is."""


def overrides_hold_somewhere(fleet: Fleet) -> Iterator[Problem]:
    """Those of `defaults` and of templates are for tenants that are still to come, too."""
    for at, _, _, app in walk.apps(fleet):
        if app.overrides:
            yield from _unreached(fleet, at, walk.app_in_words(at), app.overrides, tuple(placements_of(fleet, at)))
    for tenant, declared_tenant in fleet.document.tenants.items():
        at = ("tenants", tenant)
        placements = _placements(fleet, at)
        if declared_tenant.overrides and placements and not is_filled(fleet, at):
            yield from _unreached(fleet, at, f"tenant '{tenant}'", declared_tenant.overrides, placements)
    everywhere = [
        (environment, cluster) for environment in fleet.environments for cluster in clusters_of(fleet, environment)
    ]
    platform = fleet.document.platform.overrides
    yield from _unreached(fleet, ("platform",), "the platform", platform, everywhere)


def _unreached(
    fleet: Fleet, at: tuple[str, ...], who: str, overrides: Collection[walk.Overriding], placements: Placements
) -> Iterator[Problem]:
    for path, override in walk.overrides(tuple(overrides), at):
        if is_shared(fleet.source.origin(path)) or any(_holds(fleet, override.when, *each) for each in placements):
            continue
        clusters = listed(dict.fromkeys(cluster for _, cluster in placements)) or "no cluster"
        environments = listed(dict.fromkeys(environment for environment, _ in placements)) or "no environment"
        yield doubtful(
            (*path, "when"),
            "never-applies",
            f"this override never holds for {who}",
            (*_labels_there(fleet, override.when, placements), f"it is placed on {clusters}, in {environments}"),
            fix="correct 'when', or remove the override",
            at_key=True,
        )


def overrides_of_defaults_outweigh_nobody(fleet: Fleet) -> Iterator[Problem]:
    """An override of `defaults` comes after the keys of every tenant. Who writes a tenant may not know of it."""
    if not fleet.document.defaults.overrides:
        return
    for tenant, entry in fleet.document.tenants.items():
        at = ("tenants", tenant)
        own = {
            index for index, _ in enumerate(entry.overrides) if not _is_of_defaults(fleet, (*at, "overrides", index))
        }
        for path, override in walk.overrides(entry.overrides, at):
            if path[-1] in own or not any(_holds(fleet, override.when, *each) for each in _placements(fleet, at)):
                continue
            for below, value in leaves({key: each for key, each in fleet.raw(*path).items() if key != "when"}):
                said = value_at(fleet.source.data, (*at, *below), ABSENT)
                again = any(fleet.source.has((*at, "overrides", index, *below)) for index in own)
                if said in (ABSENT, value) or again or is_shared(fleet.source.origin((*at, *below))):
                    continue
                place, where = (*path, *below), override.when.in_words
                yield doubtful(
                    (*at, *below),
                    "outweighed",
                    f"an override of 'defaults' outweighs this '{below[-1]}' of tenant '{tenant}': {where}",
                    (f"override: {fleet.source.line_of(place)}",),
                    fix="if it is meant for there too, write it in an override of the tenant",
                    at_key=True,
                )


def _is_of_defaults(fleet: Fleet, path: Path) -> bool:
    return fleet.source.origin(path)[:1] == (DEFAULTS,)


def _placements(fleet: Fleet, at: tuple[str, ...]) -> Placements:
    """Where the tenant at a path is."""
    apps = ((*at, "apps", app) for app in fleet.document.tenants[at[1]].apps)
    return dict.fromkeys(placement for app in apps for placement in placements_of(fleet, app))


def _holds(fleet: Fleet, when: When, environment: str, cluster: str) -> bool:
    return when.holds(fleet.lineage(environment), cluster, fleet.clusters[cluster].labels)


def _labels_there(fleet: Fleet, when: When, placements: Placements) -> Iterator[str]:
    """The labels of the clusters where something is placed, with the one that is closest to what an override asks for."""
    there = {f"{key}={value}" for _, name in placements for key, value in fleet.clusters[name].labels.items()}
    labels = (when.clusters and when.clusters.labels) or {}
    wanted = (f"{key}={value}" for key, values in labels.items() for value in any_of(values))
    if missing := next((each for each in wanted if each not in there), None):
        yield declared("labels there", missing, there)
