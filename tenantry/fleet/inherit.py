"""Environments that extend others, merged before their shape is checked, so that a parent can supply a management cluster.

A finding in a merged environment is reported at the environment that declares the value. `chain` also follows `after`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tenantry.fleet.merge import Layer, merge, origin
from tenantry.messages.data import mapping_at, without
from tenantry.messages.errors import Problem, first_of
from tenantry.messages.problems import missing_key, undeclared


def lineage(name: str, parents: Mapping[str, str | None]) -> list[str]:
    """The ancestors of a name, the most distant first, and the name itself at the end; a cycle is walked once."""
    chain = {name: None}
    last = name
    while (parent := parents.get(last)) is not None and parent not in chain:
        chain[parent] = None
        last = parent
    return list(chain)[::-1]


def cycles(parents: Mapping[str, str | None]) -> Iterator[list[str]]:
    """Every cycle once, starting and ending with its alphabetically first name."""
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
    """All names, each after its ancestors, otherwise in the order given."""
    ordered: dict[str, None] = {}
    for name in parents:
        chain: dict[str, None] = {}
        step: str | None = name
        while step is not None and step not in ordered and step not in chain:
            chain[step] = None
            step = parents.get(step)
        ordered.update(dict.fromkeys(reversed(chain)))
    return [name for name in ordered if name in parents]


_OWN = (("extends",), ("after",))
"""What an environment says of itself alone."""


MAX_ABOVE = 32
"""How long a chain of environments or groups may be, itself included; everything is merged along it."""


@dataclass(frozen=True, slots=True)
class Inherited:
    """data: the document with whole environments; layers: what those that extend others are made of.

    findings: names that lead nowhere or back; incomplete: the environments that they leave in pieces.
    """

    data: dict[str, Any]
    layers: Mapping[str, tuple[Layer, ...]] = field(default_factory=dict)
    findings: tuple[Problem, ...] = ()
    incomplete: frozenset[str] = frozenset()

    def placed(self, findings: Iterable[Problem]) -> tuple[Problem, ...]:
        """Findings about the whole document at the places where the author wrote it, each once."""
        return tuple(dict.fromkeys(placed for finding in findings for placed in self._placed(finding)))

    def _placed(self, finding: Problem) -> Iterator[Problem]:
        name = str(finding.path[1]) if finding.path[:1] == ("environments",) and len(finding.path) > 1 else ""
        if finding.code == "missing-key" and name in self.incomplete:
            return  # 'extends' may have been meant to point there
        layers = self.layers.get(name)
        yield replace(finding, path=origin(layers, finding.path[2:])) if layers else finding


def inherit(data: dict[str, Any]) -> Inherited:
    """Merge into every environment what it inherits. Data of a wrong shape is left unchanged for the check of shapes."""
    environments = data.get("environments")
    if not isinstance(environments, dict):
        return Inherited(data)
    declared = {name: own for name, own in environments.items() if isinstance(own, dict)}
    parents = {name: own["extends"] for name, own in declared.items() if isinstance(own.get("extends"), str)}
    if too_long := first_of(_too_long(parents)):
        return Inherited(data, findings=too_long, incomplete=frozenset(parents))
    findings = (*_unknown(parents, environments), *_circles(parents))
    broken = {str(finding.path[1]) for finding in findings}
    lineages = {name: lineage(name, parents) for name in parents}
    incomplete = frozenset(name for name, chain in lineages.items() if not broken.isdisjoint(chain))
    layers = {name: _layers(chain, environments) for name, chain in lineages.items() if name not in incomplete}
    merged = {name: whole(layers[name]) if name in layers else own for name, own in environments.items()}
    # One that others extend is a frame, which has no management cluster.
    extended = {*parents.values()}
    no_hub = (name for name, own in merged.items() if isinstance(own, dict) and "management" not in own)
    alone = (name for name in no_hub if name not in extended)
    findings += tuple(missing_key(("environments", name), "management", "management: CLUSTER") for name in alone)
    return Inherited({**data, "environments": merged}, layers, findings, incomplete)


def stacks_in(data: dict[str, Any]) -> list[str]:
    """The environments of a file that have a stack: all but frames."""
    environments = mapping_at(inherit(data).data, "environments")
    return [
        name
        for name, environment in environments.items()
        if isinstance(environment, dict) and "management" in environment
    ]


def _layers(chain: list[str], environments: Mapping[str, Any]) -> tuple[Layer, ...]:
    *above, own = (
        Layer(("environments", name), layer) for name in chain if isinstance(layer := environments[name], dict)
    )
    return (*(replace(layer, data=without(layer.data, _OWN)) for layer in above), own)


def whole(layers: tuple[Layer, ...]) -> dict[str, Any]:
    """An environment or a cluster, its own layer the last, with what it inherits."""
    above = merge(layers[:-1])
    # `null` removes an inherited value. Where nothing is inherited it stays, so that a misspelt key is noticed.
    pointless = {key: None for key, value in layers[-1].data.items() if value is None and key not in above}
    return {**merge(layers), **pointless}


def _unknown(parents: Mapping[str, str], environments: Mapping[str, Any]) -> Iterator[Problem]:
    for name, parent in parents.items():
        if parent not in environments:
            message, others = f"environment '{name}' extends '{parent}'", environments.keys() - {name}
            fix = "correct the name, or remove it"
            yield undeclared(("environments", name, "extends"), "environment", parent, message, others, fix)


def too_long(parents: Mapping[str, str]) -> Iterator[str]:
    """The names with more than `MAX_ABOVE - 1` ancestors."""
    for name in parents:
        chain = {name}
        above = parents.get(name)
        while above is not None and above not in chain and len(chain) <= MAX_ABOVE:
            chain.add(above)
            above = parents.get(above)
        if len(chain) > MAX_ABOVE:
            yield name


def _too_long(parents: Mapping[str, str]) -> Iterator[Problem]:
    for name in too_long(parents):
        yield Problem(
            ("environments", name, "extends"),
            "extends-too-many",
            f"environment '{name}' extends more than {MAX_ABOVE - 1} others, one through the other",
            fix="extend one of them directly",
        )


def _circles(parents: Mapping[str, str]) -> Iterator[Problem]:
    for circle in cycles(parents):
        yield Problem(
            ("environments", circle[0], "extends"),
            "environment-cycle",
            f"environments extend each other: {' -> '.join(circle)}",
            fix="remove one 'extends:'",
        )
