"""A difference in each format of `tenantry diff`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tenantry.cli.diff.comment import as_markdown
from tenantry.cli.diff.sides import Limits, Sides
from tenantry.cli.diff.terminal import as_text
from tenantry.cli.diff.values import EVERYTHING, DisplayLimits
from tenantry.compare.diff import Diff, Status
from tenantry.compare.review import build
from tenantry.compare.review.model import Review
from tenantry.compare.review.parts import Planned
from tenantry.messages.errors import Refused

if TYPE_CHECKING:
    from tenantry.cli.documents import diff as documents


def as_names(diff: Diff) -> list[str]:
    """`+ dev Kustomization rocky/web`: a line for each object."""
    return [
        *(f"- {diff.environment} {each.id}" for each in diff.removed.objects),
        *(f"+ {diff.environment} {each.id}" for each in diff.added.objects),
        *(f"~ {diff.environment} {each.id}" for each in diff.changed),
    ]


FORMATS = ("text", "json", "markdown", "names", "environments", "html")


class Result:
    """A difference. refused: the reasons of a refusal, by environment."""

    def __init__(self, sides: Sides, diffs: Sequence[Diff], limits: Limits, *, everything: bool) -> None:
        self._sides = sides
        self._diffs = diffs
        self._limits = limits
        self._everything = everything
        self.refused: dict[str, tuple[Refused, ...]] = {
            diff.environment: limits.refusals(diff.environment) for diff in diffs
        }

    @property
    def refusals(self) -> list[Refused]:
        return [each for own in self.refused.values() for each in own]

    @cached_property
    def _review(self) -> Review:
        sides = self._sides
        before, after = Planned(sides.base.fleet, sides.before), Planned(sides.fleet, sides.after)
        return build.review(self._diffs, before, after)

    def shown(self, format: str, width: int | None) -> str | documents.Diff:
        """A text, or a document in JSON. Args: width: of the terminal; None: it is not for one."""
        limits = EVERYTHING if self._everything else DisplayLimits()
        match format:
            case "names":
                return "\n".join(name for each in self._diffs for name in as_names(each))
            case "environments":
                kept = (diff for diff in self._diffs if diff and diff.status is not Status.REMOVED)
                return "\n".join(each.environment for each in kept)
            case "json":
                return self.document()
            case "markdown":
                return as_markdown(self._review, self._sides.base.name, self._messages, limits)
            case "html":
                return self._as_html()
        return as_text(self._review, self._sides.base.name, limits, width)

    @property
    def _messages(self) -> list[str]:
        return [refusal.message for refusal in self.refusals]

    def _as_html(self) -> str:
        # It takes a while to import, and no other format needs it.
        from tenantry.cli.page.diff_page import diff_page
        from tenantry.cli.page.document import as_html

        sides = self._sides
        gone = sides.base.fleet.clusters if sides.base.fleet else {}
        clusters = {**sides.fleet.clusters, **{name: gone[name] for name in gone if name not in sides.fleet.clusters}}
        page = diff_page(self._review, sides.base.name, self.refusals, clusters, sides.before, sides.after)
        return as_html(page)

    def document(self) -> documents.Diff:
        """The document of `--output json`."""
        from tenantry.cli.diff.data import environment_document
        from tenantry.cli.documents import diff as documents

        reviews = {environment.environment: environment for environment in self._review.environments}
        environments = [
            environment_document(
                diff,
                reviews.get(diff.environment),
                self._limits.deletions(diff.environment),
                self.refused[diff.environment],
            )
            for diff in self._diffs
        ]
        base = documents.Base(name=self._sides.base.name, commit=self._sides.base.commit)
        return documents.Diff(base=base, environments=environments, unchanged=self._review.unchanged)
