"""Chains of names where each goes back to at most one other: environments that extend or follow another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


def lineage(name: str, parents: Mapping[str, str | None]) -> list[str]:
    """Everything a name goes back to, the first of them first, and itself at the end; a circle is walked once."""
    chain = [name]
    while (parent := parents.get(chain[-1])) is not None and parent not in chain:
        chain.append(parent)
    return chain[::-1]


def cycles(parents: Mapping[str, str | None]) -> Iterator[list[str]]:
    """Every circle once, from the first of its names in the alphabet back to the same name."""
    for name in parents:
        chain = lineage(name, parents)[::-1]
        if parents.get(chain[-1]) == name and name == min(chain):
            yield [*chain, name]


def in_order(parents: Mapping[str, str | None]) -> list[str]:
    """All names, each behind what it goes back to, otherwise in the order given."""
    chains = (lineage(name, parents) for name in parents)
    return [name for name in dict.fromkeys(name for chain in chains for name in chain) if name in parents]
