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
from tenantry.cluster.proof import Unproven, not_proved, question, unknown, unproven, ways_on, without
from tenantry.cluster.reading import read_objects
from tenantry.fleet.fleet import Fleet
from tenantry.kube.objects import Manifest, ObjectId, object_id, readable_id
from tenantry.messages.errors import Problem, Refused, error, refuse, warning
from tenantry.plan.plan import Plan, plan
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
    changed = [app for app in changed if app.full_name not in run.ignored]
    if not changed:
        return Answer()
    here, before = planned.environment, plan(fleet, after.environment)
    asked = question(planned, changed, before)
    apps = {name: Unproven(reason) for name, reason in asked.unproven.items()}
    try:
        if asked.proofs:
            with _management(client, fleet, run, before) as there:
                apps |= unproven(evidence_of(there, before, asked.proofs, run.now), before, after, run.now)
    except Refused as refused:
        names = list(dict.fromkeys([*apps, *(proof.full_name for proof in asked.proofs)]))
        fix = (
            f"pulumi config set {NAMESPACE}:kubeconfig FILE --stack {before.environment}, a file that may read what"
            f" {before.environment} has\n       {ways_on(here, after, (), ())}"
        )
        message = unknown(here, after, names, refused.message)
        return Answer((warning if run.preview else error)("not-proved", message, fix))
    if not apps:
        return Answer(note=without(after, asked.absent) if asked.absent else "")
    ready = f"ready for {after.soak}" if after.soak else "is ready"
    waits = f"waits until '{after.environment}' runs it{', ' if after.soak else ' and '}{ready}"
    reasons = {name: Reason(Kind.WAITING, f"{waits}: {app.reason}", app.until) for name, app in apps.items()}
    message = not_proved(here, after, {name: app.reason for name, app in apps.items()}, asked.absent)
    return Answer(warning("not-proved", message, ways_on(here, after, asked.different, list(apps))), reasons=reasons)


@contextmanager
def _management(client: Client, fleet: Fleet, run: Run, before: Plan) -> Iterator[Client]:
    """A client for the management cluster of the environment before. Raises: Refused: it cannot be asked."""
    if before.management == run.plan.management:
        yield client
        return
    reach = target_of(run.project, before.environment).reach
    if reach == HERE:
        raise Refused(f"environment '{before.environment}' names no kubeconfig in the settings of its stack")
    with connect.connected(reach) as there:
        refuse(unmarked(there, fleet, before))
        yield there


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
