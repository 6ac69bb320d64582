"""Notes a run that changes something in the environment's history, before its first change, and how it ended."""

from __future__ import annotations

import atexit
import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pulumi

from tenantry import __version__
from tenantry.cluster.drift import Difference
from tenantry.cluster.history import (
    Counts,
    Entry,
    Result,
    changes_by_tenant,
    digest_of,
    history_on,
    key_of,
    moment,
    note,
    text_of,
)
from tenantry.cluster.requests import user_of
from tenantry.cluster.waves import owners_of
from tenantry.compare.origin import origin_of
from tenantry.kube.objects import Manifest, ObjectId, Owner
from tenantry.messages.errors import Refused
from tenantry.plan.plan import Plan
from tenantry.rollout.ignoring import ignored
from tenantry.stacks.outcome import RUN, tell_entry

from .config import ClusterTarget
from .contact import connected

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


@dataclass
class Log:
    """The entry of one run. A run that changes nothing has none.

    plan: as the file says it. platform: the namespace of the history. directory: of the file. waits, partly: whether something
    stays as it is, because it has to wait, or because it failed or lacks something.
    """

    plan: Plan
    target: ClusterTarget
    platform: str
    stack: str
    directory: Path
    waits: bool = False
    partly: bool = False
    _key: str = ""
    _entry: Entry | None = None
    _differences: Sequence[Difference] = field(default_factory=tuple)
    _deleted: Sequence[Owner] = field(default_factory=tuple)

    def begin(self, client: Client, differences: Sequence[Difference], deleted: Iterable[Manifest]) -> None:
        """Note what the run sets out to change. A run that was begun again, as after a refresh, keeps its entry.

        Raises: Refused: this cannot be written. Nothing has been changed then.
        """
        self._differences, self._deleted = differences, [*owners_of(deleted).values()]
        if not self._differences and not self._deleted:
            return
        run, first = os.environ.get(RUN) or uuid4().hex[:8], next(iter(client.each()))
        there = history_on(client, self.platform, self.plan.environment)
        before = there.entries.get(there.of_run(run))
        changes = self._changes({each.id for each in differences})
        if before:
            changes = {
                **before.changes,
                **{name: each | before.changes.get(name, each) for name, each in changes.items()},
            }
        entry = replace(self.traced, began=moment(datetime.now(UTC)), user=user_of(first)[0], changes=changes)
        if before:
            entry = replace(entry, began=before.began)
        self._key, self._entry = key_of(entry, run), entry
        # A rollout that stops ends the process, from wherever it is.
        atexit.register(self._end, Result.FAILED)
        note(first, self.platform, self.plan.environment, self._key, entry)
        tell_entry(self.platform, self._key)

    @cached_property
    def traced(self) -> Entry:
        """The entry without what only a run knows that changes something."""
        passed_over = ignored(self.plan.environment)
        return Entry(
            began="",
            stack=self.stack,
            version=__version__,
            plan=digest_of(self.plan),
            ignored=passed_over.conditions,
            reason=passed_over.reason,
            without=tuple(sorted(self.target.without)),
            **asdict(origin_of(self.directory, os.environ)),
        )

    def told(self) -> str:
        """The run for the environment's record."""
        return text_of(replace(self._entry or self.traced, began=moment(datetime.now(UTC)), changes={}))

    def made(self, ids: Collection[ObjectId]) -> None:
        """The run has created and changed these, and of what it set out to change nothing else: `--target` left out the rest."""
        if self._entry:
            self._entry = replace(self._entry, changes=self._changes(ids))

    def end(self, *, complete: bool) -> None:
        """The program has done its part. complete: whether the engine could create and change everything."""
        if self.partly:
            self._end(Result.PARTLY)
        elif self.waits:
            self._end(Result.WAITING)
        else:
            self._end(Result.SUCCEEDED if complete and not self._deleted else Result.APPLIED)

    def _changes(self, ids: Collection[ObjectId]) -> dict[str, Counts]:
        made = [each for each in self._differences if each.id in ids]
        return changes_by_tenant(
            (each.planned.owner for each in made if each.live is None),
            (each.planned.owner for each in made if each.live is not None),
            self._deleted,
        )

    def _end(self, result: Result) -> None:
        entry, self._entry = self._entry, None
        if not entry:
            return
        atexit.unregister(self._end)
        try:
            with connected(self.target, self.plan) as client:
                first = next(iter(client.each()))
                note(first, self.platform, self.plan.environment, self._key, entry.ends(result, datetime.now(UTC)))
        except Refused as refused:
            with suppress(Exception):  # the engine may be gone
                pulumi.log.warn(f"the history of '{self.plan.environment}' does not say how this run ended: {refused}")
