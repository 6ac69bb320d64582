"""Rules about the classes of tenants. What classes name and whether they go together is checked where they are merged."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet.classes import CLASS, CLASSES, classes_above
from tenantry.fleet.fleet import Fleet
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
    for at, names in _naming(fleet):
        for name in names:
            through = next((each for each in names if each != name and name in classes_above(fleet.source, each)), None)
            if through:
                yield doubtful(
                    (*at, CLASS),
                    "no-effect",
                    f"class '{through}' has class '{name}' already, so naming it has no effect",
                    fix=f"remove '{name}' from the list",
                )


def _naming(fleet: Fleet) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Every place that names classes, as it is written."""
    for group in (CLASSES, "tenants"):
        yield from (((group, name), named_classes(entry)) for name, entry in fleet.raw(group).items())
    for index in range(len(fleet.document.include)):
        yield ("include", index), named_classes(fleet.source.value(("include", index)))
