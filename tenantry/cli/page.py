"""A review as one HTML page for reviewers: dangers, then a matrix of tenants by clusters that leads to the changes in lines."""

from __future__ import annotations

import base64
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tenantry.cli.lines import SIGNS, Line, change_lines, object_lines
from tenantry.facts.changes import Effect
from tenantry.facts.facts import Where
from tenantry.facts.review import Review, Section, SharedDanger, sections, shared_dangers
from tenantry.kube.names import PLATFORM
from tenantry.messages.errors import Refused
from tenantry.messages.text import grouped, printable

_MOST_OF_VALUE = 4_000
_TEMPLATES = Environment(
    loader=PackageLoader("tenantry.cli"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    finalize=lambda value: value if isinstance(value, Markup) else printable(str(value)),
)


def as_html(reviews: Sequence[Review], base: str, refusals: Sequence[Refused]) -> str:
    """The page as one file, without a newline at the end; the same for the same change.

    Args: base: what was compared with; refusals: why `tenantry up` would refuse the change.
    """
    changed, equal = [review for review in reviews if review], [review for review in reviews if not review]
    style, script = (
        (files("tenantry.cli") / "templates" / name).read_text(encoding="utf-8") for name in ("page.css", "page.js")
    )
    return _TEMPLATES.get_template("page.html.j2").render(
        base=base,
        refusals=refusals,
        matrix=_Matrix(changed),
        objects=[line for review in changed for line in object_lines(review, _MOST_OF_VALUE)],
        equal=[review.environment for review in equal],
        policy=f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:;"
        " base-uri 'none'; form-action 'none'",
        # Both are part of Tenantry, and no value is put into them.
        style=Markup(style),
        script=Markup(script),
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


class _Block(NamedTuple):
    """A change as lines. number: of the change on this page."""

    number: int
    effect: Effect
    lines: list[Line]


class _Head(NamedTuple):
    """The columns of an environment, with a link and the clusters in which the same happens, and its unchanged clusters."""

    environment: str
    columns: list[tuple[str, list[str]]]
    unchanged: list[str]


_Spot = tuple[str, str, str]
"""A tenant, or "platform"; an environment; a cluster of it."""


class _Matrix:
    """The changes, and which of them each tenant has on each cluster. All links are ids of elements of the page, or "".

    links: by the number of a change, the ids of lists of changes that begin with it, and the changes of each list.
    """

    def __init__(self, reviews: Sequence[Review]) -> None:
        self._of = {review.environment: frozenset(review.of) for review in reviews}
        self._changes: dict[_Spot, set[int]] = defaultdict(set)
        self._lists: dict[str, str] = {}
        self.blocks: list[_Block] = []
        self.links: dict[int, dict[str, str]] = defaultdict(dict)
        self.sections = [(section.heading, list(self._section(section))) for section in sections(reviews)]
        shared = shared_dangers(reviews)
        dangers = [(danger, set(self._spots(danger.environments, danger.danger.where))) for danger in shared]
        self._dangerous = set[_Spot]().union(*(spots for _, spots in dangers))
        self.dangers = [(danger, self._link(spots or self._without_cluster(danger))) for danger, spots in dangers]
        owners = {owner for owner, *_ in (*self._changes, *self._dangerous)}
        self._owners = sorted(owners, key=lambda owner: (owner != PLATFORM, owner))
        self.heads = [self._head(review) for review in reviews]
        self.rows = []
        for owner in self._owners:
            spots = [(owner, head.environment, clusters[0]) for head in self.heads for _, clusters in head.columns]
            self.rows.append((self._link(spots), owner, list(map(self._cell, spots))))

    def _section(self, section: Section) -> Iterator[_Block]:
        for change in section.changes:
            lines = list(change_lines(change, section.total, _MOST_OF_VALUE))
            self.blocks.append(block := _Block(len(self.blocks), change.effect, lines))
            for spot in self._spots(section.environments, change.where):
                self._changes[spot].add(block.number)
            yield block

    def _spots(self, environments: Iterable[str], where: Where) -> Iterator[_Spot]:
        for subject, clusters in where.by_subject():
            for name in environments:
                yield from ((subject.owner, name, cluster) for cluster in clusters if cluster in self._of[name])

    def _without_cluster(self, danger: SharedDanger) -> Iterator[_Spot]:
        """Where the tenants of a danger change."""
        owners = {subject.owner for subject in danger.danger.where.subjects}
        return (spot for spot in self._changes if spot[0] in owners and spot[1] in danger.environments)

    def _head(self, review: Review) -> _Head:
        def column(cluster: str) -> list[_Spot]:
            return [(owner, review.environment, cluster) for owner in self._owners]

        def content(cluster: str) -> tuple[object, ...]:
            return tuple((frozenset(self._changes.get(spot, ())), spot in self._dangerous) for spot in column(cluster))

        nothing = tuple((frozenset[int](), False) for _ in self._owners)
        same = grouped(review.of, content)
        unchanged = same.pop(nothing, [])
        return _Head(review.environment, [(self._link(column(own[0])), own) for own in same.values()], unchanged)

    def _cell(self, spot: _Spot) -> tuple[str, str, str] | None:
        """A link, a text such as `~ 3` for changes in three lines, and the classes: the effect, which is the colour, and danger."""
        danger = "!" if spot in self._dangerous else ""
        blocks = [self.blocks[number] for number in self._changes.get(spot, ())]
        if not blocks:
            return ("dangers", danger, "danger") if danger else None
        effect = min((block.effect for block in blocks), key=list(Effect).index)
        lines = sum(
            max(len(block.lines) - 1, 1) for block in blocks
        )  # without the one that says where, unless it stands alone
        return self._link([spot]), f"{danger} {SIGNS[effect]} {lines}", f"{effect} {danger and 'danger'}"

    def _link(self, spots: Iterable[_Spot]) -> str:
        """The id that leads to the changes in these cells."""
        numbers = sorted({number for spot in spots for number in self._changes.get(spot, ())})
        if len(numbers) < 2:
            return f"c{numbers[0]}" if numbers else ""
        ids = " ".join(f"c{number}" for number in numbers)
        link = self._lists.setdefault(ids, f"l{len(self._lists)}")
        self.links[numbers[0]][link] = ids
        return link
