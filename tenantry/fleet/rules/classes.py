"""Rules about the classes of tenants. What classes name and whether they go together is checked where they are merged."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet.classes import CLASS, CLASSES, classes_of
from tenantry.fleet.fleet import Fleet
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful


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
            through = next((each for each in names if each != name and name in _above(fleet, each)), None)
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
        yield from (((group, name), classes_of(entry)) for name, entry in fleet.raw(group).items())
    for index in range(len(fleet.document.include)):
        yield ("include", index), classes_of(fleet.raw("include", index))


def _above(fleet: Fleet, name: str) -> set[str]:
    """The classes that a class takes over from."""
    found: set[str] = set()
    new = set(classes_of(fleet.raw(CLASSES, name)))
    while new:
        found |= new
        new = {above for each in new for above in classes_of(fleet.raw(CLASSES, each))} - found
    return found
