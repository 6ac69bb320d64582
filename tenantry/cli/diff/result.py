"""A comparison in each format of `tenantry diff`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tenantry.cli.diff.markdown import as_markdown
from tenantry.cli.diff.sides import Limits, Sides
from tenantry.cli.diff.text import as_text
from tenantry.cli.diff.values import EVERYTHING, DisplayLimits
from tenantry.cli.failures import Failure, described
from tenantry.facts.objects import Status
from tenantry.facts.review import Review, review
from tenantry.messages.errors import Refused

FORMATS = ("text", "json", "markdown", "environments", "html")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The result for programs. max_deletions: how many removals of a kind a run may do; refusals: both by environment."""

    base: Mapping[str, str | None]
    environments: tuple[Review, ...]
    max_deletions: Mapping[str, int | str | None] = field(default_factory=dict)
    refusals: Mapping[str, tuple[Failure, ...]] = field(default_factory=dict)


class Result:
    """A comparison, and why `tenantry up` would refuse it."""

    def __init__(self, sides: Sides, limits: Limits, *, everything: bool) -> None:
        self._sides, self._limits, self._everything = sides, limits, everything
        self.refused = {name: limits.refusals(name) for name in dict.fromkeys((*sides.after, *sides.before))}

    @property
    def refusals(self) -> list[Refused]:
        return [each for own in self.refused.values() for each in own]

    @cached_property
    def reviews(self) -> tuple[Review, ...]:
        """The reviews of all environments."""
        return review(self._sides.base.fleet, self._sides.fleet, self._sides.before, self._sides.after)

    @property
    def is_different(self) -> bool:
        return any(self.reviews)

    def text(self, format: str, width: int | None) -> str:
        """Every format but JSON. Args: width: of the terminal; None: it is not for one."""
        limits, base = EVERYTHING if self._everything else DisplayLimits(), self._sides.base.name
        match format:
            case "environments":
                there = (each for each in self.reviews if each and each.status is not Status.REMOVED)
                return "\n".join(each.environment for each in there)
            case "markdown":
                return as_markdown(self.reviews, base, [each.message for each in self.refusals], limits)
            case "html":
                # It takes a while to import, and no other format needs it.
                from tenantry.cli.page import as_html

                return as_html(self.reviews, base, self.refusals, everything=self._everything)
        return as_text(self.reviews, base, limits, width)

    def document(self) -> Document:
        """What `--output json` prints."""
        return Document(
            base={"name": self._sides.base.name, "commit": self._sides.base.commit or None},
            environments=self.reviews,
            max_deletions={each.environment: self._limits.deletions(each.environment) for each in self.reviews},
            refusals={name: tuple(map(described, own)) for name, own in self.refused.items() if own},
        )
