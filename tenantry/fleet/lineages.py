"""Which templates stand above an entry: those that it names with `from`, and those that these name.

Called by: `templates`, on data whose shape is not checked yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tenantry.fleet.inherit import MAX_ABOVE
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import undeclared
from tenantry.source.parsed_file import named

FROM: Final = "from"


@dataclass(frozen=True, slots=True)
class Kind:
    """What has templates. section: where the entries are declared; word: for one of them."""

    section: str
    word: str

    @property
    def templates(self) -> tuple[str, str]:
        """Where their templates are declared."""
        return "templates", self.section

    def named(self, entry: Any) -> tuple[str, ...]:
        """The templates that an entry names, in their order."""
        return named(entry, FROM)

    def unknown(self, at: Path, owner: str, names: tuple[str, ...], known: Mapping[str, Any]) -> Iterator[Problem]:
        own = {str(at[2])} if at[:2] == self.templates else set()
        for name in dict.fromkeys(names):
            if name not in known:
                place: Path = (*at, FROM, *((names.index(name),) if len(names) > 1 else ()))
                message = f"{owner} is from template '{name}'"
                fix = f"declare it under '{'.'.join(self.templates)}:', or correct the name"
                yield undeclared(place, "template", name, message, known.keys() - own, fix)

    def named_twice(self, at: Path, owner: str, names: tuple[str, ...]) -> Iterator[Problem]:
        for name in dict.fromkeys(names):
            if names.count(name) > 1:
                message = f"{owner} is from template '{name}' twice"
                yield Problem((*at, FROM), "duplicate", message, fix="remove one of them")


TENANTS = Kind("tenants", "tenant")
CLUSTERS = Kind("clusters", "cluster")


@dataclass(slots=True)
class Lineages:
    """The lineage of each declared template: its parents and theirs, then the template itself, each once.

    findings: names that lead nowhere, back, or too far. wrong: the templates that such a name leaves in pieces.
    """

    kind: Kind
    declared: Mapping[str, Any]
    findings: dict[Problem, None] = field(default_factory=dict)
    wrong: set[str] = field(default_factory=set)
    _of: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, entry in self.declared.items():
            order: dict[str, None] = {}
            self._visit(name, (), order)
            self._of[name] = tuple(order)
            self._find(*self.kind.named_twice(self._at(name), f"template '{name}'", self.kind.named(entry)))

    def joined(self, names: Iterable[str]) -> tuple[str, ...]:
        """The lineages of some templates, in their order, each ancestor once. Names that are not declared are passed over."""
        return tuple(dict.fromkeys(above for name in names for above in self._of.get(name, ())))

    def are_sound(self, names: Iterable[str]) -> bool:
        """Whether templates and all above them are declared, without circles, and mappings."""
        order = tuple(names)
        known = all(name in self.declared and name not in self.wrong for name in order)
        return known and all(isinstance(self.declared[name], dict) for name in self.joined(order))

    def _at(self, name: str) -> tuple[str, ...]:
        return (*self.kind.templates, name)

    def _visit(self, name: str, below: tuple[str, ...], order: dict[str, None]) -> None:
        """Args: below: the templates on the way to this one, the first is the one whose lineage it is."""
        first = (*below, name)[0]
        if name in below:
            self.wrong.add(first)
            self._find(self._circle(below[below.index(name) :]))
        elif len(below) >= MAX_ABOVE:
            self.wrong.add(first)
            message = f"template '{first}' has more than {MAX_ABOVE - 1} templates above it, one through the other"
            if not any(problem.code == "templates-too-many" for problem in self.findings):
                self._find(
                    Problem((*self._at(first), FROM), "templates-too-many", message, fix="name one of them directly")
                )
        elif name not in order:
            names = self.kind.named(self.declared[name])
            if unknown := tuple(self.kind.unknown(self._at(name), f"template '{name}'", names, self.declared)):
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
        names = " -> ".join((first, *others, first))
        message = f"templates name each other: {names}" if others else f"template '{first}' names itself"
        return Problem((*self._at(first), FROM), "template-cycle", message, fix=f"remove one '{FROM}:'")
