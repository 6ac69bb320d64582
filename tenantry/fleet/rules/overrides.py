"""A rule about overrides that hold nowhere: what they are for is on none of their clusters, or in none of their environments."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.placement import placements_of
from tenantry.fleet.templates import is_shared
from tenantry.grants.grants import is_filled
from tenantry.messages.errors import Problem
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
        apps = ((*at, "apps", app) for app in declared_tenant.apps)
        placements = dict.fromkeys(placement for app in apps for placement in placements_of(fleet, app))
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


def _holds(fleet: Fleet, when: When, environment: str, cluster: str) -> bool:
    return when.holds(fleet.lineage(environment), cluster, fleet.clusters[cluster].labels)


def _labels_there(fleet: Fleet, when: When, placements: Placements) -> Iterator[str]:
    """The labels of the clusters where something is placed, with the one that is closest to what an override asks for."""
    there = {f"{key}={value}" for _, name in placements for key, value in fleet.clusters[name].labels.items()}
    labels = (when.clusters and when.clusters.labels) or {}
    wanted = (f"{key}={value}" for key, values in labels.items() for value in any_of(values))
    if missing := next((each for each in wanted if each not in there), None):
        yield declared("labels there", missing, there)
