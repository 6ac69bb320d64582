"""Chains of names where each goes back to at most one other: environments that extend or follow another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def lineage(name: str, parents: Mapping[str, str | None]) -> list[str]:
    """Everything a name goes back to, the first of them first, and itself at the end; a circle is walked once."""
    chain = {name: None}
    last = name
    while (parent := parents.get(last)) is not None and parent not in chain:
        chain[parent] = None
        last = parent
    return list(chain)[::-1]


def cycles(parents: Mapping[str, str | None]) -> Iterator[list[str]]:
    """Every circle once, from the first of its names in the alphabet back to the same name."""
    seen: set[str] = set()
    for name in parents:
        chain: dict[str, None] = {}
        step: str | None = name
        while step is not None and step not in seen:
            seen.add(step)
            chain[step] = None
            step = parents.get(step)
        if step is not None and step in chain:
            circle = list(chain)[list(chain).index(step) :]
            first = circle.index(min(circle))
            yield [*circle[first:], *circle[: first + 1]]


def in_order(parents: Mapping[str, str | None]) -> list[str]:
    """All names, each behind what it goes back to, otherwise in the order given."""
    ordered: dict[str, None] = {}
    for name in parents:
        chain: dict[str, None] = {}
        step: str | None = name
        while step is not None and step not in ordered and step not in chain:
            chain[step] = None
            step = parents.get(step)
        ordered.update(dict.fromkeys(reversed(chain)))
    return [name for name in ordered if name in parents]
