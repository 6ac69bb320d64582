"""What stands above an entry that names one or several others of its kind: classes of tenants, groups of clusters.

Called by: `classes` and `groups`, on data whose shape is not checked yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tenantry.fleet.inherit import MAX_ABOVE
from tenantry.messages.errors import Path, Problem
from tenantry.messages.text import declared
from tenantry.source.parsed_file import named


@dataclass(frozen=True, slots=True)
class Naming:
    """section: where they are declared; key: that which names them, and the word for one; words: for several."""

    section: str
    key: str
    words: str

    def of(self, entry: Any) -> tuple[str, ...]:
        """The names in an entry, in their order."""
        return named(entry, self.key)

    def unknown(self, at: Path, who: str, names: tuple[str, ...], known: Mapping[str, Any]) -> Iterator[Problem]:
        own = {str(at[1])} if at[0] == self.section else set()
        for name in dict.fromkeys(names):
            if name not in known:
                yield Problem(
                    (*at, self.key, *((names.index(name),) if len(names) > 1 else ())),
                    f"unknown-{self.key}",
                    f"{who} names {self.key} '{name}', which is not declared",
                    (declared("declared", name, known.keys() - own),),
                    fix=f"declare it under '{self.section}:', or correct the name",
                )

    def named_twice(self, at: Path, who: str, names: tuple[str, ...]) -> Iterator[Problem]:
        for name in dict.fromkeys(names):
            if names.count(name) > 1:
                message = f"{who} names {self.key} '{name}' twice"
                yield Problem((*at, self.key), "duplicate", message, fix="remove one of them")


@dataclass(slots=True)
class Lineages:
    """The lineage of each declared entry: its parents and theirs, then the entry itself, each once.

    findings: names that lead nowhere, back, or too far. wrong: the entries that such a name leaves in pieces.
    """

    naming: Naming
    declared: Mapping[str, Any]
    findings: dict[Problem, None] = field(default_factory=dict)
    wrong: set[str] = field(default_factory=set)
    _of: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, entry in self.declared.items():
            order: dict[str, None] = {}
            self._visit(name, (), order)
            self._of[name] = tuple(order)
            who = f"{self.naming.key} '{name}'"
            self._find(*self.naming.named_twice((self.naming.section, name), who, self.naming.of(entry)))

    def joined(self, names: Iterable[str]) -> tuple[str, ...]:
        """The lineages of some entries, in their order, each ancestor once. Names that are not declared are passed over."""
        return tuple(dict.fromkeys(above for name in names for above in self._of.get(name, ())))

    def through(self, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        """The names of a list that change nothing, each with another one of the list that has it above itself."""
        whole = self.joined(names)
        for name in names:
            others = [other for other in names if other != name]
            above = next((other for other in others if name in self._of.get(other, ())), None)
            if above and self.joined(others) == whole:
                yield name, above

    def are_sound(self, names: Iterable[str]) -> bool:
        """Whether entries and all above them are declared, without circles, and mappings."""
        order = tuple(names)
        known = all(name in self.declared and name not in self.wrong for name in order)
        return known and all(isinstance(self.declared[name], dict) for name in self.joined(order))

    def _visit(self, name: str, below: tuple[str, ...], order: dict[str, None]) -> None:
        """Args: below: the entries on the way to this one, the first is the one whose lineage it is."""
        first, naming = (*below, name)[0], self.naming
        if name in below:
            self.wrong.add(first)
            self._find(self._circle(below[below.index(name) :]))
        elif len(below) >= MAX_ABOVE:
            self.wrong.add(first)
            above = f"more than {MAX_ABOVE - 1} {naming.words} above it, one through the other"
            message, fix = f"{naming.key} '{first}' has {above}", "name one of them directly"
            at = (naming.section, first, naming.key)
            if not any(finding.code == f"{naming.words}-too-many" for finding in self.findings):
                self._find(Problem(at, f"{naming.words}-too-many", message, fix=fix))
        elif name not in order:
            names = naming.of(self.declared[name])
            if unknown := tuple(naming.unknown((naming.section, name), f"{naming.key} '{name}'", names, self.declared)):
                self.wrong.add(first)
                self._find(*unknown)
            for parent in names:
                if parent in self.declared:
                    self._visit(parent, (*below, name), order)
            order[name] = None

    def _find(self, *findings: Problem) -> None:
        self.findings |= dict.fromkeys(findings)

    def _circle(self, circle: tuple[str, ...]) -> Problem:
        start = circle.index(min(circle))
        first, *others = (*circle[start:], *circle[:start])
        key, names = self.naming.key, " -> ".join((first, *others, first))
        message = f"{self.naming.words} name each other: {names}" if others else f"{key} '{first}' names itself"
        return Problem((self.naming.section, first, key), f"{key}-cycle", message, fix=f"remove one '{key}:'")
