"""`after`: a change of an app is blocked until the environment before runs it and is ready."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tenantry.cluster import connect
from tenantry.cluster.evidence import Contents, changed_apps, evidence_of
from tenantry.cluster.inventory import APP_KINDS, unmarked
from tenantry.cluster.proof import Question, Unproven, not_proved, question, unknown, unproven, ways_on, without
from tenantry.cluster.reading import read_objects
from tenantry.fleet.fleet import Fleet
from tenantry.kube.objects import Manifest, ObjectId, object_id, readable_id
from tenantry.messages.errors import Problem, Refused, error, refuse, warning
from tenantry.plan.after import After
from tenantry.plan.plan import Plan, plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.reasons import Kind, Reason
from tenantry.stacks.file import HERE, NAMESPACE, target_of

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


@dataclass(frozen=True, slots=True)
class Answer:
    """problem: an error if nobody can tell, otherwise a warning; None: nothing stands against it.

    note: the apps that nothing is asked about; "" if there are none, or if the problem names them.
    reasons: why apps are blocked, by their full names.
    """

    problem: Problem | None = None
    note: str = ""
    reasons: Mapping[str, Reason] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run that is about to begin.

    project: where the stacks' files are. preview: nothing is changed, so nothing is refused. ignored: the apps that nothing is
    asked about.
    """

    plan: Plan
    project: Path
    preview: bool = False
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    ignored: Collection[str] = ()


def ask(client: Client, fleet: Fleet, run: Run, manifests: Iterable[Manifest]) -> Answer:
    """Whether the apps that a run changes may change.

    Args:   client: of the run's management cluster. manifests: what it holds of the environment, with all reconcilers.
    Raises: Refused: reading is not allowed there.
    """
    after, planned = run.plan.after, run.plan
    if after is None:
        return Answer()
    changed = changed_apps(planned, planned.apps, _live(client, planned, manifests))
    if not changed:
        return Answer()
    changed = [app for app in changed if app.full_name not in run.ignored]
    before = plan(fleet, after.environment)
    asked = question(planned, changed, before)
    note = without(after, asked.absent) if asked.absent else ""
    gate = _Gate(client, fleet, run, after, before)
    problem, reasons = gate.problem(asked), {}
    if problem is None and gate.unproven:
        problem = gate.warning(asked)
        reasons = {name: gate.reason(app) for name, app in gate.unproven.items()}
    return Answer(problem, "" if problem else note, reasons)


def _live(client: Client, planned: Plan, manifests: Iterable[Manifest]) -> Mapping[ObjectId, Manifest]:
    """What the cluster has of the apps. Their reconcilers have been read already."""
    contents = Contents(planned)
    wanted = dict.fromkeys(object_id(part) for app in planned.apps for part in contents.of(app))
    known = {
        id: manifest
        for manifest in manifests
        if "spec" in manifest and (id := readable_id(manifest)) in wanted and id is not None
    }
    rest = [id for id in wanted if id.kind not in APP_KINDS]
    return {**known, **read_objects(client, planned.environment, rest)}


@dataclass(slots=True)
class _Gate:
    """One question to the environment before. unproven: why apps are not proved."""

    client: Client
    fleet: Fleet
    run: Run
    after: After
    before: Plan
    unproven: dict[str, Unproven] = field(default_factory=dict)

    def problem(self, asked: Question) -> Problem | None:
        """Ask. Returns: why nobody can tell; None: the answer is in `unproven`."""
        here = self.run.plan.environment
        self.unproven = {name: Unproven(reason) for name, reason in asked.unproven.items()}
        try:
            if asked.proofs:
                self.unproven |= self._from_cluster(asked.proofs)
        except Refused as refused:
            names = list(dict.fromkeys([*self.unproven, *(proof.full_name for proof in asked.proofs)]))
            message, fix = unknown(here, self.after, names, refused.message), self._reaching()
            return (warning if self.run.preview else error)("not-proved", message, fix)
        return None

    def warning(self, asked: Question) -> Problem:
        """What a preflight says of the apps that are not proved."""
        here = self.run.plan.environment
        reasons = {name: app.reason for name, app in self.unproven.items()}
        message = not_proved(here, self.after, reasons, asked.absent)
        return warning("not-proved", message, ways_on(here, self.after, asked.different, list(reasons)))

    def reason(self, unproven: Unproven) -> Reason:
        """Why an app is blocked."""
        soak = f", ready for {self.after.soak}" if self.after.soak else " and is ready"
        message = f"waits until '{self.after.environment}' runs it{soak}: {unproven.reason}"
        return Reason(Kind.WAITING, message, unproven.until)

    def _reaching(self) -> str:
        first = self.after.environment
        return (
            f"pulumi config set {NAMESPACE}:kubeconfig FILE --stack {first}, a file that may read what {first} has\n"
            f"       {ways_on(self.run.plan.environment, self.after, (), ())}"
        )

    def _from_cluster(self, proofs: Collection[PlannedApp]) -> dict[str, Unproven]:
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
