"""Rules about overrides and templates: the state of whom they may set, where they never apply, and whom they outweigh.

What templates name, and whether they go together, is checked where they are merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.lineages import CLUSTERS, TENANTS
from tenantry.fleet.placement import matches, placements_of_tenant
from tenantry.fleet.templates import DEFAULTS, is_shared
from tenantry.messages.data import ABSENT, leaves, value_at, without
from tenantry.messages.errors import Problem
from tenantry.messages.problems import doubtful
from tenantry.messages.text import declared
from tenantry.model import When
from tenantry.model.selector import any_of


def overrides_of_templates_have_no_state(fleet: Fleet) -> Iterator[Problem]:
    """One line would take all tenants off these clusters."""
    for at, level in walk.levels(fleet):
        for path, override in walk.overrides(level.overrides, at) if at[0] != "tenants" else ():
            if "state" in override.model_fields_set:
                yield Problem(
                    (*path, "state"),
                    "state-of-template",
                    f"an override of {walk.format_level(at)} would set this state for all of its tenants",
                    fix="write the override in each tenant that is meant",
                    at_key=True,
                )


def overrides_hold_somewhere(fleet: Fleet) -> Iterator[Problem]:
    for path, when in walk.conditions(fleet):
        if not when.clusters or (path[0] == "tenants" and is_shared(fleet.source.origin(path))):
            continue
        if not any(matches(when.clusters, *cluster) for cluster in fleet.clusters.items()):
            message, fix = "no cluster is selected, so this override never applies", "remove it, or correct 'when'"
            yield doubtful(path, "never-applies", message, tuple(_labels(fleet, when)), fix=fix, at_key=True)


def _labels(fleet: Fleet, when: When) -> Iterator[str]:
    """The labels of all clusters, with the one that is closest to what an override asks for."""
    known = {f"{key}={value}" for cluster in fleet.clusters.values() for key, value in cluster.labels.items()}
    labels = (when.clusters and when.clusters.labels) or {}
    wanted = (f"{key}={value}" for key, values in labels.items() for value in any_of(values))
    if missing := next((label for label in wanted if label not in known), None):
        yield declared("labels of clusters", missing, known)


def overrides_of_defaults_outweigh_nobody(fleet: Fleet) -> Iterator[Problem]:
    """An override of `defaults` comes after the keys of every tenant. Who writes a tenant may not know of it."""
    if not fleet.document.defaults.overrides:
        return
    for tenant, entry in fleet.document.tenants.items():
        at, placements = ("tenants", tenant), placements_of_tenant(fleet, tenant)
        paths = [path for path, _ in walk.overrides(entry.overrides, at)]
        own = {path[-1] for path in paths if fleet.source.origin(path)[:1] != (DEFAULTS,)}
        for path, override in walk.overrides(entry.overrides, at):
            if path[-1] in own or not _holds(fleet, override.when, placements):
                continue
            for below, value in leaves(without(fleet.raw(*path), [("when",)])):
                own_value = value_at(fleet.source.data, (*at, *below), ABSENT)
                again = any(fleet.source.has((*at, "overrides", index, *below)) for index in own)
                if (
                    own_value in (ABSENT, value)
                    or value == {}
                    or again
                    or is_shared(fleet.source.origin((*at, *below)))
                ):
                    continue
                place, where = (*path, *below), override.when.description
                yield doubtful(
                    (*at, *below),
                    "outweighed",
                    f"an override of 'defaults' outweighs this '{below[-1]}' of tenant '{tenant}': {where}",
                    (f"override: {fleet.source.line_of(place)}",),
                    fix="if it is meant for there too, write it in an override of the tenant",
                    at_key=True,
                )


def _holds(fleet: Fleet, when: When, placements: Iterable[tuple[str, str]]) -> bool:
    """Whether an override holds on one of some placements."""
    return any(when.holds(fleet.lineage(environment), on, fleet.clusters[on].labels) for environment, on in placements)


def templates_remove_nothing(fleet: Fleet) -> Iterator[Problem]:
    """One line would off-board, or adopt objects for, everything that is from the template."""
    places: list[tuple[str, ...]] = [
        (DEFAULTS,),
        *((*TENANTS.templates, name) for name in fleet.raw(*TENANTS.templates)),
    ]
    for at in (*places, *((*CLUSTERS.templates, name) for name in fleet.raw(*CLUSTERS.templates))):
        written = fleet.raw(*at)
        kind = CLUSTERS if at[:2] == CLUSTERS.templates else TENANTS
        where = f"'{DEFAULTS}'" if at == (DEFAULTS,) else "a template"
        if written.get("state") not in (None, "active", "paused"):
            text = f"'state: {written['state']}' does not stand in {where}: it would concern every {kind.word} that is from it"
            yield Problem((*at, "state"), "for-one-entry", text, fix=f"write it in each {kind.word}")
        if kind is TENANTS and "adopt" in written:
            text = f"'adopt' does not stand in {where}: it would concern every {kind.word} that is from it"
            yield Problem((*at, "adopt"), "for-one-entry", text, fix=f"write it in each {kind.word}", at_key=True)
