"""Rules about templates. What they name and whether they go together is checked where they are merged."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.lineages import CLUSTERS, FROM, TENANTS, Kind, Lineages
from tenantry.fleet.templates import DEFAULTS
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful


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
