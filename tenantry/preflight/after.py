"""The gate of an environment: a change of an app waits until the environment before runs it and is ready."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from tenantry.cluster import connect
from tenantry.cluster.evidence import Contents, changed_apps, evidence_of
from tenantry.cluster.inventory import APP_KINDS, unmarked
from tenantry.cluster.proof import Question, ignored, not_proved, question, unknown, unproven, ways_on, without
from tenantry.cluster.reading import read_objects
from tenantry.fleet.fleet import Fleet
from tenantry.kube.objects import Manifest, ObjectId, object_id, readable_id
from tenantry.messages.errors import Problem, Refused, error, refuse, warning
from tenantry.plan.after import After
from tenantry.plan.plan import Plan, plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.ignoring import ignored as ignored_by
from tenantry.stacks.file import HERE, NAMESPACE, target_of

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


@dataclass(frozen=True, slots=True)
class Answer:
    """problem: an error if the run is refused, otherwise a warning; None: nothing stands against it.

    note: the apps that nothing is asked about; "" if there are none, or if the problem names them.
    """

    problem: Problem | None = None
    note: str = ""


class Mode(Enum):
    """What is done with the answer of the environment before."""

    RUN = "run"
    PREVIEW = "preview"
    """Nothing is changed, so nothing is refused."""
    IGNORE = "ignore"
    """The environment before is not asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run that is about to begin. project: where the stacks' files are."""

    plan: Plan
    project: Path
    mode: Mode = Mode.RUN
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def asks(self) -> bool:
        """Whether the environment before is asked at all."""
        return self.mode is not Mode.IGNORE and "after" not in ignored_by(self.plan.environment)


def ask(client: Client, fleet: Fleet, run: Run, there: Iterable[Manifest]) -> Answer:
    """Whether the apps that a run changes may change.

    Args:   client: of the run's management cluster. there: what it holds of the environment, with all reconcilers.
    Raises: Refused: reading is not allowed there.
    """
    after, planned = run.plan.after, run.plan
    if after is None:
        return Answer()
    changed = changed_apps(planned, planned.apps, _live(client, planned, there))
    if not changed:
        return Answer()
    names = list(dict.fromkeys(each.full_name for each in changed))
    if not run.asks:
        text = ignored(planned.environment, after, names)
        return Answer(
            warning("after-ignored", text, f"see what it runs: tenantry status --environment {after.environment}")
        )
    before = plan(fleet, after.environment)
    asked = question(planned, changed, before)
    note = without(after, asked.absent) if asked.absent else ""
    problem = _Gate(client, fleet, run, after, before).problem(asked)
    return Answer(problem, "" if problem else note)


def _live(client: Client, planned: Plan, there: Iterable[Manifest]) -> Mapping[ObjectId, Manifest]:
    """What the cluster has of the apps. Their reconcilers have been read already."""
    contents = Contents(planned)
    wanted = dict.fromkeys(object_id(part) for app in planned.apps for part in contents.of(app))
    known = {id: each for each in there if "spec" in each and (id := readable_id(each)) in wanted and id is not None}
    rest = [id for id in wanted if id.kind not in APP_KINDS]
    return {**known, **read_objects(client, planned.environment, rest)}


@dataclass(frozen=True, slots=True)
class _Gate:
    """One question to the environment before."""

    client: Client
    fleet: Fleet
    run: Run
    after: After
    before: Plan

    def problem(self, asked: Question) -> Problem | None:
        here, missing = self.run.plan.environment, dict(asked.unproven)
        try:
            if asked.proofs:
                missing |= self._from_cluster(asked.proofs)
        except Refused as refused:
            names = list(dict.fromkeys([*missing, *(proof.full_name for proof in asked.proofs)]))
            return self._problem(unknown(here, self.after, names, refused.message), self._reaching())
        if not missing:
            return None
        fix = ways_on(here, self.after, asked.different)
        return self._problem(not_proved(here, self.after, missing, asked.absent), fix)

    def _problem(self, message: str, fix: str) -> Problem:
        if self.run.mode is Mode.RUN:
            return error("not-proved", message, fix)
        return warning("not-proved", f"up would be refused now: {message}", fix)

    def _reaching(self) -> str:
        first = self.after.environment
        return (
            f"pulumi config set {NAMESPACE}:kubeconfig FILE --stack {first}, a file that may read what {first} has\n"
            f"       {ways_on(self.run.plan.environment, self.after, ())}"
        )

    def _from_cluster(self, proofs: Collection[PlannedApp]) -> dict[str, str]:
        """The apps that the management cluster does not prove. Raises: Refused: it cannot be asked."""
        with self._connected() as client:
            return unproven(
                evidence_of(client, self.before, proofs, self.run.now), self.before, self.after, self.run.now
            )

    @contextmanager
    def _connected(self) -> Iterator[Client]:
        if self.before.management == self.run.plan.management:
            yield self.client
            return
        reach = target_of(self.run.project, self.before.environment).reach
        if reach == HERE:
            raise Refused(f"environment '{self.before.environment}' names no kubeconfig in the settings of its stack")
        with connect.connected(reach) as client:
            refuse(unmarked(client, self.fleet, self.before))
            yield client
