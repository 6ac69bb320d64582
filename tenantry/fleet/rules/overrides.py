"""Rules about overrides and templates: the state of whom they may set, and which of them never apply.

What templates name, and whether they go together, is checked where they are merged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple, TypeVar

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.lineages import CLUSTERS, FROM, TENANTS, Kind, Lineages
from tenantry.fleet.placement import (
    addon_environment,
    barrier,
    matches,
    placements_of,
    placements_of_source,
    placements_of_tenant,
    reaches,
    selector_of,
)
from tenantry.fleet.templates import DEFAULTS, is_shared
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful
from tenantry.messages.text import declared, listed
from tenantry.model import PlatformOverride, TenantOverride, When
from tenantry.model.selector import any_of

_FIX = "remove it, or correct 'when'"
_O = TypeVar("_O", bound=walk.Overriding)


class _Subject(NamedTuple):
    """A tenant, app, add-on or source that an override changes. placements: the environments and clusters where it is."""

    at: tuple[str, ...]
    name: str
    placements: Collection[tuple[str, str]]
    verb: str = "placed"


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
    """Those of `defaults` and of templates are for tenants that are still to come, too."""
    yield from _of_no_cluster(fleet)
    platform = fleet.document.platform
    for path, of_platform in walk.overrides(platform.overrides, ("platform",)):
        yield from _parts(fleet, path, of_platform)
    for tenant, declared_tenant in fleet.document.tenants.items():
        yield from _of_tenant(
            fleet, tenant, _own(fleet, walk.overrides(declared_tenant.overrides, ("tenants", tenant)))
        )
    for at, _, _, app in walk.apps(fleet):
        subject = None
        for path, override in _own(fleet, walk.overrides(app.overrides, at)):
            subject = subject or _Subject(at, walk.format_app(at), tuple(placements_of(fleet, at)))
            yield from _unreached(fleet, (*path, "when"), override.when, subject)


def _own(fleet: Fleet, overrides: Iterable[tuple[Path, _O]]) -> list[tuple[Path, _O]]:
    """The overrides of an entry without those that its templates have."""
    return [(path, override) for path, override in overrides if not is_shared(fleet.source.origin(path))]


def _of_no_cluster(fleet: Fleet) -> Iterator[Problem]:
    """The overrides of what may be on all clusters, where they take none."""
    for path, when in walk.conditions(fleet):
        is_everywhere = path[0] != "tenants" and path[1] != "addons"
        if (
            is_everywhere
            and when.clusters
            and not any(matches(when.clusters, *cluster) for cluster in fleet.clusters.items())
        ):
            yield doubtful(
                path,
                "never-applies",
                "no cluster is selected, so this override never applies",
                tuple(_labels_there(fleet, when, fleet.clusters)),
                fix=_FIX,
                at_key=True,
            )


def _of_tenant(fleet: Fleet, tenant: str, overrides: Collection[tuple[Path, TenantOverride]]) -> Iterator[Problem]:
    if not overrides:
        return
    at, placements = ("tenants", tenant), placements_of_tenant(fleet, tenant)
    for path, override in overrides if placements else ():
        unreached = tuple(
            _unreached(fleet, (*path, "when"), override.when, _Subject(at, f"tenant '{tenant}'", placements))
        )
        yield from unreached or _parts(fleet, path, override)


def _parts(fleet: Fleet, path: Path, override: TenantOverride | PlatformOverride) -> Iterator[Problem]:
    """What an override changes in apps, add-ons and sources that are elsewhere. That nothing takes a source is another warning."""
    owner = tuple(map(str, path[:-2]))
    group, apps = ("apps", override.apps) if isinstance(override, TenantOverride) else ("addons", override.addons)
    for app in apps:
        at = (*owner, group, app)
        subject = _Subject(at, walk.format_app(at), tuple(placements_of(fleet, at)))
        yield from _unreached(fleet, (*path, group, app), override.when, subject)
    for source in override.sources:
        at = (*owner, "sources", source)
        subject = _Subject(at, walk.format_source(at), dict.fromkeys(placements_of_source(fleet, at)), "taken")
        if subject.placements:
            yield from _unreached(fleet, (*path, "sources", source), override.when, subject)


def _unreached(fleet: Fleet, path: Path, when: When, subject: _Subject) -> Iterator[Problem]:
    """The problem that an override applies to none of the placements of what it changes."""
    placements = [
        placement
        for placement in subject.placements
        if not when.environments or reaches(fleet, when.environments, placement[0])
    ]
    if any(when.holds(fleet.lineage(environment), on, fleet.clusters[on].labels) for environment, on in placements):
        return
    names = (when.clusters and when.clusters.names) or ()
    environments = " or ".join(f"'{name}'" for name in when.environments or ())
    in_environments = f" in environment {environments}" if environments else ""
    on_clusters = f" on cluster '{names[0]}'" if len(names) == 1 else ""
    if not placements:
        message, notes = f"is not {subject.verb}{in_environments or on_clusters}", _why(fleet, when, subject)
    else:
        message = (
            f"is not {subject.verb}{on_clusters}" if on_clusters else f"is {subject.verb} on none of these clusters"
        )
        message += in_environments
        clusters = dict.fromkeys(cluster for _, cluster in placements)
        notes = (*_labels_there(fleet, when, clusters), _placed_on(fleet, subject.at, clusters))
    yield doubtful(
        path,
        "never-applies",
        f"{subject.name} {message}, so this override never applies",
        notes,
        fix=_FIX,
        at_key=True,
    )


def _labels_there(fleet: Fleet, when: When, clusters: Iterable[str]) -> Iterator[str]:
    """The labels of some clusters, with the one that is closest to what an override asks for."""
    known = {f"{key}={value}" for name in clusters for key, value in fleet.clusters[name].labels.items()}
    labels = (when.clusters and when.clusters.labels) or {}
    wanted = (f"{key}={value}" for key, values in labels.items() for value in any_of(values))
    if missing := next((label for label in wanted if label not in known), None):
        yield declared("labels there", missing, known)


def _why(fleet: Fleet, when: When, subject: _Subject) -> tuple[str, ...]:
    """What keeps something out of the environments of an override, or where it is instead."""
    at, addon = subject.at, subject.at[-1]
    for environment in when.environments or () if _is_app(at) else ():
        if kept_out := barrier(fleet, environment, at):
            return (f"{kept_out.reason} ({fleet.source.line_of(kept_out.at)})",)
        if at[0] == "platform":
            selector = fleet.document.platform.addons[addon].clusters
            selected = (
                name for name in clusters_of(fleet, environment) if matches(selector, name, fleet.clusters[name])
            )
            if elsewhere := [
                f"those of '{name}' belong to environment '{addon_environment(fleet, addon, name)}'"
                for name in selected
            ]:
                return (f"a cluster has the add-ons of one environment: {listed(elsewhere)}",)
    return (_placed_on(fleet, at, dict.fromkeys(cluster for _, cluster in subject.placements)),)


def _placed_on(fleet: Fleet, at: tuple[str, ...], clusters: Iterable[str]) -> str:
    names = listed(clusters) or "no cluster"
    if _is_app(at):
        where = selector_of(fleet, at)[1]
        return f"it is placed on {names} ({fleet.source.line_of(where)})"
    return f"apps on {names} take it" if at[-2] == "sources" else f"it is placed on {names}"


def _is_app(at: tuple[str, ...]) -> bool:
    return at[-2] in ("apps", "addons")


def templates_are_used(fleet: Fleet) -> Iterator[Problem]:
    for kind in (CLUSTERS, TENANTS):
        used = {name for _, names in _naming(fleet, kind) for name in names}
        for name in fleet.raw(*kind.templates):
            if name not in used:
                yield doubtful(
                    (*kind.templates, name),
                    "unused",
                    f"no {kind.word} is from template '{name}'",
                    fix=f"write '{FROM}: {name}' in a {kind.word}, or remove it",
                    at_key=True,
                )


def templates_are_named_once(fleet: Fleet) -> Iterator[Problem]:
    """A template that is above another one of the list already does not come last because it is named last."""
    for kind in (CLUSTERS, TENANTS):
        lineages = Lineages(kind, fleet.raw(*kind.templates))
        for at, names in _naming(fleet, kind):
            for name, through in lineages.through(names):
                yield doubtful(
                    (*at, FROM),
                    "no-effect",
                    f"template '{through}' is from template '{name}' already, so naming it has no effect",
                    fix=f"remove '{name}' from the list",
                )


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


def _naming(fleet: Fleet, kind: Kind) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Every place that names templates, as it is written."""
    if kind is TENANTS:
        yield (DEFAULTS,), kind.named(fleet.raw(DEFAULTS))
    for section in (kind.templates, (kind.section,)):
        yield from (((*section, name), kind.named(entry)) for name, entry in fleet.raw(*section).items())
