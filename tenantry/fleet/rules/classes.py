"""Rules about the classes of tenants. What classes name and whether they go together is checked where they are merged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenantry.fleet.classes import CLASS, CLASSES, NAMING
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.lineages import Lineages
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful
from tenantry.source.parsed_file import named_classes


def classes_are_used(fleet: Fleet) -> Iterator[Problem]:
    used = {name for _, names in _naming(fleet) for name in names}
    for name in fleet.raw(CLASSES):
        if name not in used:
            yield doubtful(
                (CLASSES, name),
                "unused",
                f"no tenant has class '{name}'",
                fix=f"write '{CLASS}: {name}' in a tenant or in an entry of 'include', or remove it",
                at_key=True,
            )


def classes_are_named_once(fleet: Fleet) -> Iterator[Problem]:
    """A class that is behind another one of the list already does not come last because it is named last."""
    yield from named_once(Lineages(NAMING, fleet.raw(CLASSES)), _naming(fleet))


def named_once(lineages: Lineages, naming: Iterable[tuple[Path, tuple[str, ...]]]) -> Iterator[Problem]:
    """Lists of classes or groups hold none that changes nothing. Args: naming: the lists and who has them."""
    key = lineages.naming.key
    for at, names in naming:
        for name, through in lineages.through(names):
            yield doubtful(
                (*at, key),
                "no-effect",
                f"{key} '{through}' has {key} '{name}' already, so naming it has no effect",
                fix=f"remove '{name}' from the list",
            )


def _naming(fleet: Fleet) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Every place that names classes, as it is written."""
    for group in (CLASSES, "tenants"):
        yield from (((group, name), named_classes(entry)) for name, entry in fleet.raw(group).items())
