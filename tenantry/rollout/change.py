"""What a run changes, line by line, how the clusters are, and why objects are blocked: what `blocked` is asked about, and answers.
Nothing here reads a cluster.

A line is one subject through the waves: an app such as `rocky/web` or `platform/dns`, or `rocky` and `platform` for what is of no
single app.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

from tenantry.kube.names import PLATFORM, app_name
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, Owner, labels_of, object_id, readable_id
from tenantry.messages.data import depth_of, mapping_at, mappings_in
from tenantry.messages.text import counted, grouped, listed
from tenantry.model.durations import duration
from tenantry.plan.engine_order import becomes_ready, is_reconciled
from tenantry.plan.objects.scope import APP_LABEL, CLUSTER_LABEL, TENANT_LABEL
from tenantry.plan.plan import Plan
from tenantry.rollout.readiness import Live, Reconciler, reconcilers_of
from tenantry.rollout.waves import subjects_of


class Place(NamedTuple):
    """Where a removed object belongs. wave: its number; 0: none."""

    subject: str
    wave: int
    owner: Owner


class Lines:
    """The lines of a plan.

    subjects: of each planned object; several for a source that several apps take.
    members: by subject and number of the wave, the clusters that count, with their reconcilers.
    empty: subjects and waves of which every cluster is paused or decommissioned, or every app suspended.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.objects = {planned.id: planned for planned in plan.objects}
        self.reconcilers = reconcilers_of(plan)
        self._waves = plan.rollout.by_cluster() if plan.rollout else {}
        self.subjects = subjects_of(plan.objects, {app.id: app.full_name for app in plan.apps})
        self.members: dict[tuple[str, int], dict[str, list[Reconciler]]] = defaultdict(dict)
        suspended: dict[tuple[str, int], set[str]] = defaultdict(set)
        for planned in plan.objects:
            wave, cluster = plan.wave_of(planned.id), planned.owner.cluster
            if wave is None or not cluster:
                continue
            counts = cluster in wave.clusters and (not is_reconciled(planned.id) or becomes_ready(planned.manifest))
            for subject in self.subjects[planned.id]:
                line = subject, wave.number
                if not counts:
                    suspended[line].add(cluster)
                elif is_reconciled(planned.id):
                    self.members[line].setdefault(cluster, []).append(self.reconcilers[planned.id])
                else:
                    self.members[line].setdefault(cluster, [])
        for line, clusters in suspended.items():
            for cluster in clusters:
                if not self.members[line].get(cluster):
                    self.members[line].pop(cluster, None)
        self.empty = {line for line in suspended if not self.members[line]}

    def name_of(self, id: ObjectId) -> str:
        """What users call an object: `rocky/web on edge-1`, or kind and name."""
        reconciler = self.reconcilers.get(id)
        return f"{reconciler.name} on {reconciler.owner.cluster}" if reconciler else str(id)

    def place_of(self, removed: Manifest) -> Place:
        """Where an object that is no longer planned belongs, as its labels say."""
        labels = labels_of(removed)
        tenant, cluster, app = (str(labels.get(key) or "") for key in (TENANT_LABEL, CLUSTER_LABEL, APP_LABEL))
        subject = app_name(tenant, app) if app else tenant or PLATFORM
        wave = self._waves.get(cluster)
        at_once = app and subject in self.plan.off
        return Place(subject, 0 if wave is None or at_once else wave.number, Owner(tenant, cluster))


FieldPath: TypeAlias = tuple[str, ...]
"""Keys from the top of an object to a field; a list counts as a whole."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A planned object that the cluster does not hold as planned. live: None: it is missing.

    changed: planned fields with other values. added: fields that somebody else set, and that the plan does not have. dropped: those
    that a run has set, and that the plan does not have any more.
    by: the field manager that wrote one of these last, if it is not Pulumi's; "" if nobody else did. at: when (RFC 3339).
    """

    planned: KubeObject
    live: Manifest | None
    changed: tuple[FieldPath, ...] = ()
    added: tuple[FieldPath, ...] = ()
    by: str = ""
    at: str = ""
    dropped: tuple[FieldPath, ...] = ()

    @property
    def id(self) -> ObjectId:
        return self.planned.id

    @property
    def is_state_alone(self) -> bool:
        """Whether it is paused or resumed, and nothing else changes."""
        return self.live is not None and {*self.fields} == {("spec", "suspend")}

    @property
    def fields(self) -> tuple[FieldPath, ...]:
        """All that differs."""
        return (*self.changed, *self.added, *self.dropped)

    @property
    def reachable(self) -> tuple[FieldPath, ...]:
        """The changed fields, or the first part of their paths that the live object does not have."""
        return tuple(dict.fromkeys(path[: depth_of(self.live, path) + 1] for path in self.changed))

    def __str__(self) -> str:
        """Such as `Kustomization rocky/web: spec.path, by kubectl-patch at 2026-01-31T12:00:00Z`. It repeats no values."""
        if self.live is None:
            return f"{self.id}: missing"
        fields = ", ".join(".".join(path) for path in self.fields)
        author = f", by {self.by} at {self.at}" if self.by else ""
        return f"{self.id}: {fields}{author}"


@dataclass(frozen=True)
class Change:
    """What a run has yet to apply.

    changed: in the order of the plan, without what this run has applied. removed: what is no longer planned, and what it is now.
    """

    lines: Lines
    changed: Mapping[ObjectId, Difference]
    removed: Mapping[ObjectId, Manifest] = field(default_factory=dict)

    @property
    def plan(self) -> Plan:
        return self.lines.plan


def change_of(lines: Lines, differences: Iterable[Difference]) -> Change:
    """What a run would change, if it removes nothing."""
    return Change(lines, {difference.id: difference for difference in differences})


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """How the clusters are.

    live: the Flux objects: those that decide about the change, as they have just been read.
    refused: what the API server refuses, and Secrets without a value. before: apps that the environment before does not show yet.
    uses: what an object depends on, as the state says. asked: when this run asked Flux to reconcile a repository. left_out: what
    the engine was told to leave alone, as by `--target`. is_foreign: whether it is of another environment, in which a run asks Flux
    for nothing.
    """

    live: Live
    refused: Mapping[ObjectId, str] = field(default_factory=dict)
    before: Mapping[str, Reason] = field(default_factory=dict)
    uses: Callable[[ObjectId], Collection[ObjectId]] = lambda _: ()
    asked: Mapping[ObjectId, datetime] = field(default_factory=dict)
    left_out: Collection[ObjectId] = ()
    is_foreign: bool = False


class Ignoring(NamedTuple):
    """What somebody does not wait for.

    waves, after: the lines that wait for no wave, and for no environment before. through: the last wave to change; None: all.
    """

    waves: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    through: int | None = None


NOTHING = Ignoring()


def reconcilers_in(change: Change, applied: Iterable[ObjectId] = ()) -> list[Reconciler]:
    """The reconcilers that decide about a change: those of its lines, and what its objects depend on."""
    lines, ids = change.lines, (*change.changed, *applied)
    subjects = {subject for id in ids for subject in lines.subjects[id]}
    needed = {needed for id in ids for needed in (id, *lines.objects[id].depends_on)}
    return [
        reconciler
        for id, reconciler in lines.reconcilers.items()
        if id in needed or not subjects.isdisjoint(lines.subjects[id])
    ]


def wanted_of(change: Change, applied: Iterable[ObjectId] = ()) -> frozenset[ObjectId]:
    """The Flux objects, configs and Secrets that have to be read to decide about a change."""
    return frozenset(
        id
        for reconciler in reconcilers_in(change, applied)
        for id in (reconciler.id, *reconciler.sources, *reconciler.inputs, *(before.id for before in reconciler.after))
    )


_MOST = 5
_STAMP = "%Y-%m-%dT%H:%M:%SZ"


class Kind(StrEnum):
    """What lifts a reason."""

    PROGRESSING = "progressing"
    """Flux, or this run: the run waits for it."""
    DELETING = "deleting"
    """The deletions at the end of this run: the next run goes on."""
    NOT_REQUESTED = "not requested"
    """A run without `--through`, or with a later wave."""
    WAITING = "waiting"
    """Time: a soak, or the environment before. A later run goes on."""
    FAILED = "failed"
    """A person: something has failed, is missing or was refused."""


class Reason(NamedTuple):
    """Why an object is blocked.

    until: when it is lifted, UTC; None: not known. cause: another object that decides; None: the object itself, a wave or the
    environment before.
    wave: the wave that the message is about; 0: none.
    """

    kind: Kind
    message: str
    until: datetime | None = None
    cause: ObjectId | None = None
    wave: int = 0

    def needed(self, id: ObjectId) -> Reason:
        """The reason of what needs this object."""
        first_line = self.message.partition("\n")[0]
        return self if self.cause else self._replace(cause=id, message=f"needs {id}: {first_line}")


def worst(reasons: Iterable[Reason]) -> Reason | None:
    """The reason that takes longest to lift; None: there is none."""
    order = [*Kind]
    return max(reasons, key=lambda reason: order.index(reason.kind), default=None)


def format_until(until: datetime | None, now: datetime) -> str:
    """Such as: ` until 2026-01-31T12:00:00Z (30m more)`; "" if it is not known."""
    if until is None:
        return ""
    left = max(0, (until - now).total_seconds())
    return f" until {until.astimezone(UTC):{_STAMP}} ({duration(left)} more)"


_FIXES = {
    Kind.FAILED: "repair it, then run the same command again; or revert the change; or set 'state: paused' for that cluster or app;"
    " or in an emergency let one line through: tenantry up {environment} --ignore waves {line}",
    Kind.WAITING: "run the same command again later: tenantry up {environment}",
    Kind.DELETING: "run the same command again; `tenantry up {environment}` begins a run for each wave by itself",
}
"""By kind of reason, what to do. The first that a run has decides."""


def format_summary(lines: Lines, blocked: Mapping[ObjectId, Reason], now: datetime) -> str:
    """What a run says of everything that it holds: a line for each reason, with the objects that it blocks.

    What is blocked for the same reason as an app is not named beside it.
    """
    apps = {id: reason for id, reason in blocked.items() if id in lines.reconcilers}
    reported, environment = {reason[:2] for reason in apps.values()}, lines.plan.environment
    shown = {id: reason for id, reason in blocked.items() if id in apps or reason[:2] not in reported}
    verb = "is" if len(shown) == 1 else "are"
    text = [f"{counted(len(shown), 'object')} of environment '{environment}' {verb} blocked and held"]
    for (kind, message, until), ids in grouped(shown, lambda id: shown[id][:3]).items():
        named = listed(list(dict.fromkeys(map(lines.name_of, ids))), _MOST)
        text.append(f"  {kind}: {message}{format_until(until, now)}\n    {named}")
    by_kind = grouped(shown, lambda id: shown[id].kind)
    if decisive := next((kind for kind in _FIXES if kind in by_kind), None):
        line = next((lines.subjects[id][0] for id in by_kind[decisive] if id in lines.subjects), "TENANT/APP")
        text.append(f"  fix: {_FIXES[decisive].format(environment=environment, line=line)}")
    return "\n".join(text)


# --- what an object uses as it lives now -----------------------------------------------------------------------------

Target: TypeAlias = tuple[str, str, str]
"""Kind, namespace and name."""


def used_by(live: Manifest, removed: Mapping[Target, Manifest]) -> Iterator[ObjectId]:
    """What an object refers to, and what that refers to, as far as it is among removed objects."""
    seen: set[Target] = set()
    rest = [live]
    while rest:
        manifest = rest.pop()
        if (own := readable_id(manifest)) is None:
            continue
        spec = mapping_at(manifest, "spec")
        account = ("ServiceAccount", own.namespace, str(spec.get("serviceAccountName")))
        targets = _references(own.kind, spec, own.namespace)
        for target in (("Namespace", "", own.namespace), account, *targets):
            if target in removed and target not in seen:
                seen.add(target)
                yield object_id(removed[target])
                rest.append(removed[target])


def _references(kind: str, spec: Mapping[str, Any], namespace: str) -> Iterator[Target]:
    """All that the fields of a spec refer to, apart from the values of a chart. A reference without a kind is to a Secret."""
    for key, value in spec.items():
        if key == "values":
            continue
        inside = [value] if isinstance(value, dict) else mappings_in(value)
        default = {"repository": "GitRepository", "dependsOn": kind}.get(key, "Secret")
        for reference in inside:
            if key.endswith(("Ref", "From")) or key in ("repository", "dependsOn"):
                place = str(reference.get("namespace") or namespace)
                yield str(reference.get("kind", default)), place, str(reference.get("name"))
            else:
                yield from _references(kind, reference, namespace)
