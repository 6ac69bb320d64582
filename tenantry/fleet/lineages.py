"""Which entries stand above another one: the templates that it names with `from`, or the environment that it extends or that comes
before it, and what stands above those.

Called by: `templates`, on data whose shape is not checked yet; `fleet`, for the order of environments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import undeclared
from tenantry.source.parsed_file import named

FROM: Final = "from"
MAX_ABOVE = 32
"""How long a chain of templates or environments may be, itself included; everything is merged along it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What has something above it. section: where the entries are declared; word: for one of them.

    templates: where that is declared which can stand above; above: the word for it; key: names it; verb: what an entry does that
    names it. not_inherited: keys that an entry says of itself alone.
    """

    section: str
    word: str
    templates: tuple[str, ...]
    above: str = "template"
    key: str = FROM
    verb: str = "is from template"
    not_inherited: tuple[str, ...] = (FROM,)

    def named(self, entry: Any) -> tuple[str, ...]:
        """The names above an entry, in their order."""
        return named(entry, self.key)

    def unknown(self, at: Path, owner: str, names: tuple[str, ...], known: Mapping[str, Any]) -> Iterator[Problem]:
        own = {str(at[-1])} if at[:-1] == self.templates else set()
        for name in dict.fromkeys(names):
            if name not in known:
                place: Path = (*at, self.key, *((names.index(name),) if len(names) > 1 else ()))
                message, where = f"{owner} {self.verb} '{name}'", ".".join(self.templates)
                yield undeclared(place, self.above, name, message, known.keys() - own, where)


TENANTS = Kind("tenants", "tenant", ("templates", "tenants"))
CLUSTERS = Kind("clusters", "cluster", ("templates", "clusters"))
ENVIRONMENTS = Kind(
    "environments", "environment", ("environments",), "environment", "extends", "extends", ("extends", "after")
)
AFTER = Kind("environments", "environment", ("environments",), "environment", "after", "comes after")


@dataclass(slots=True)
class Lineages:
    """The lineage of each declared template or environment: its parents and theirs, then itself, each once.

    findings: names that lead nowhere, back, or too far. wrong: the names of what such a name leaves in pieces.
    """

    kind: Kind
    declared: Mapping[str, Any]
    findings: dict[Problem, None] = field(default_factory=dict)
    wrong: set[str] = field(default_factory=set)
    _of: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.declared:
            order: dict[str, None] = {}
            self._visit(name, (), order)
            self._of[name] = tuple(order)

    def of(self, name: str) -> tuple[str, ...]:
        """The lineage of a template or an environment."""
        return self._of.get(name, ())

    def joined(self, names: Iterable[str]) -> tuple[str, ...]:
        """The lineages of some templates, in their order, each ancestor once. Names that are not declared are passed over."""
        return tuple(dict.fromkeys(above for name in names for above in self.of(name)))

    def are_sound(self, names: Iterable[str]) -> bool:
        """Whether templates and all above them are declared, without circles, and mappings."""
        order = tuple(names)
        known = all(name in self.declared and name not in self.wrong for name in order)
        return known and all(isinstance(self.declared[name], dict) for name in self.joined(order))

    def _at(self, name: str) -> tuple[str, ...]:
        return (*self.kind.templates, name)

    def _word(self, name: str) -> str:
        return f"{self.kind.above} '{name}'"

    def _visit(self, name: str, below: tuple[str, ...], order: dict[str, None]) -> None:
        """Args: below: the templates on the way to this one, the first is the one whose lineage it is."""
        first = (*below, name)[0]
        if name in below:
            self.wrong.add(first)
            self._find(self._circle(below[below.index(name) :]))
        elif len(below) >= MAX_ABOVE:
            self.wrong.add(first)
            message = f"{self._word(first)} has more than {MAX_ABOVE - 1} others above it, one through the other"
            code = f"{self.kind.above}s-too-many"
            if not any(problem.code == code for problem in self.findings):
                self._find(Problem((*self._at(first), self.kind.key), code, message, fix="name one of them directly"))
        elif name not in order:
            names = self.kind.named(self.declared[name])
            if unknown := tuple(self.kind.unknown(self._at(name), self._word(name), names, self.declared)):
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
        names, key = " -> ".join((first, *others, first)), self.kind.key
        message = f"{self.kind.above}s name each other: {names}" if others else f"{self._word(first)} names itself"
        return Problem((*self._at(first), key), f"{self.kind.above}-cycle", message, fix=f"remove one '{key}:'")
