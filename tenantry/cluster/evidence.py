"""Evidence that an environment runs what the file says: the objects of apps on its management cluster. It never writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tenantry.cluster.drift import compared
from tenantry.cluster.inventory import is_own, namespaces_of
from tenantry.cluster.reading import read_objects
from tenantry.guard.places import Places, whose
from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at
from tenantry.messages.text import grouped, one_line, printable
from tenantry.plan.after import PACE
from tenantry.plan.engine_order import Chains
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.flux_status import Readiness, moment, revision_of
from tenantry.rollout.readiness import (
    Live,
    Reconciler,
    inputs_of,
    is_cut_off,
    judge,
    reconcilers_of,
    since_of,
)

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


class Contents:
    """What the apps of a plan are made of."""

    def __init__(self, plan: Plan) -> None:
        self._chains = Chains(plan)
        self._objects = {planned.id: planned for planned in plan.objects}

    def chain_of(self, app: PlannedApp) -> tuple[Manifest, ...]:
        """Its source, its chart if there is one, and its reconciler, in this order."""
        return self._chains.of(app.id)

    def of(self, app: PlannedApp) -> tuple[Manifest, ...]:
        """The same after the ConfigMaps that the reconciler reads. Of Secrets, a plan does not know the values."""
        inputs = (self._objects.get(id) for id in inputs_of(self._objects[app.id]) if id.kind == "ConfigMap")
        return (*(planned.manifest for planned in inputs if planned), *self.chain_of(app))


def changed_apps(plan: Plan, apps: Iterable[PlannedApp], live: Live) -> list[PlannedApp]:
    """The apps that are new, or that a run would make something else: another version, source or setting."""
    contents = Contents(plan)
    return [app for app in apps if any(differs(part, live.get(object_id(part))) for part in contents.of(app))]


def differs(planned: Manifest, live: Manifest | None) -> bool:
    """Whether the live object has other content than the planned one. What the API server adds by itself is no difference."""
    return live is None or not is_own(planned, live) or any(_fields(planned, live, added=True))


_CONTENT = ("spec", "data", "binaryData")


def _fields(planned: Manifest, live: Manifest, *, added: bool) -> Iterator[str]:
    """The fields of the content that differ. added: also those that the live object alone has."""
    changed, extra = compared(planned, live)
    paths = (path for path in (*changed, *(extra if added else ())) if path[0] in _CONTENT)
    yield from dict.fromkeys(path[1] if path[1:] else path[0] for path in paths if not (path[1:] and path[1] in PACE))


MISSING = " does not exist"
_SHOWN = ("version", "ref", "chart", "path", "url")
"""Fields whose values a message repeats. Others may hold secrets."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """problem: why the app does not run on its cluster what the plan says; "" if it does and is ready.

    revision: what Flux applied. since: since when it runs and is ready (RFC 3339); "" if that is not known. is_planned: whether the
    management cluster has all that the app consists of as planned. is_unreachable: whether Flux gets no connection to its cluster.
    """

    app: PlannedApp
    problem: str
    revision: str = ""
    since: str = ""
    is_planned: bool = False
    is_unreachable: bool = False

    @property
    def runs(self) -> bool:
        """Whether the app runs what the plan says, and is ready."""
        return not self.problem

    def problem_after(self, soak: float, now: datetime) -> str:
        """The problem, or that the app has not been ready for so many seconds."""
        if self.problem or not soak:
            return self.problem
        started = moment(self.since)
        seconds = (now - started).total_seconds() if started else 0
        return (
            "" if started and seconds >= soak else f"ready for {max(0, int(seconds))} s, which is less than {soak:g} s"
        )


def evidence_of(client: Client, plan: Plan, apps: Iterable[PlannedApp], now: datetime) -> tuple[Evidence, ...]:
    """Whether apps run what the plan says, source, chart and settings alike, and are ready.

    Each object is read once. Raises: Refused: reading is not allowed.
    """
    contents, reconcilers, apps = Contents(plan), reconcilers_of(plan), tuple(apps)
    planned = {app.id: contents.of(app) for app in apps}
    wanted = dict.fromkeys(object_id(part) for parts in planned.values() for part in parts)
    live = read_objects(client, plan.environment, wanted)
    places = Places(namespaces_of(client)) if live else Places(())

    def evidence(app: PlannedApp) -> Evidence:
        reconciler = live.get(app.id)
        if reconciler is not None and not places.puts(reconciler, whose(reconciler)):
            problem = f"{app.id} is in a namespace that is not the place of such an object, so it proves nothing"
            return Evidence(app, problem)
        return judged(app, planned[app.id], reconcilers[app.id], live, now)

    return tuple(map(evidence, apps))


def judged(
    app: PlannedApp, planned: Sequence[Manifest], reconciler: Reconciler, live: Live, now: datetime | None = None
) -> Evidence:
    """The evidence of one app. planned: the ConfigMaps that it reads, its source, its chart if there is one, and its reconciler."""
    different = next(_differences(planned, live), "")
    problem = different or _not_ready(reconciler, live, now or datetime.now(UTC))
    live_app = live.get(app.id)
    if live_app is None:
        return Evidence(app, problem)
    revision = revision_of(mapping_at(live_app, "status"))
    since = since_of(reconciler, live).at
    return Evidence(app, problem, revision, since, is_planned=not different, is_unreachable=is_cut_off(live_app))


def _not_ready(reconciler: Reconciler, live: Live, now: datetime) -> str:
    """Why the newest content of an app is not ready; "" if it is."""
    standing = judge(reconciler, live, now)
    if standing.readiness is Readiness.READY:
        return one_line(standing.pending.message) if standing.pending else ""
    if standing.readiness is Readiness.SUSPENDED:
        return f"{reconciler.id} is suspended"
    message = one_line(standing.message)
    return f"{reconciler.id} is {standing.readiness}: {message}" if standing.cause == reconciler.id else message


def tolerated(plan: Plan, evidence: Iterable[Evidence]) -> frozenset[ObjectId]:
    """The apps that are not ready on their clusters, where these are no more than their waves tolerate.

    plan: of their environment. All that they consist of is as planned on the management cluster, and each is ready somewhere.
    """
    apps: set[ObjectId] = set()
    for of_app in grouped(evidence, lambda proof: proof.app.full_name).values():
        if not any(proof.runs for proof in of_app):
            continue
        unready = [proof for proof in of_app if not proof.runs and proof.is_planned and plan.wave_of(proof.app.id)]
        for wave, of_wave in grouped(unready, lambda proof: plan.wave_of(proof.app.id)).items():
            assert wave
            unreachable = {proof.app.cluster for proof in of_wave if proof.is_unreachable}
            failed = {proof.app.cluster for proof in of_wave if not proof.is_unreachable}
            if len(unreachable) <= wave.tolerate.unreachable and len(failed) <= wave.tolerate.failed:
                apps |= {proof.app.id for proof in of_wave}
    return frozenset(apps)


def _differences(planned: Sequence[Manifest], live: Live) -> Iterator[str]:
    """What of an app is not as planned."""
    for part in planned:
        id = object_id(part)
        current = live.get(id)
        if current is None:
            yield f"{id}{MISSING}"
        elif not is_own(part, current):
            yield f"{id} does not belong to this environment"
        elif part["kind"] == "ConfigMap":
            if differs(part, current):
                yield f"{id} has other data than the file says"
        else:
            for field in _fields(part, current, added=False):
                if field in _SHOWN:
                    before, after = (
                        format_value(mapping_at(manifest, "spec").get(field)) for manifest in (current, part)
                    )
                    yield f"{id} {printable(f'has {field} {before}, not {after}')}"
                else:
                    yield f"{id} has another {field} than the file says"


def format_value(value: Any) -> str:
    """Such as `branch main` for a ref."""
    if isinstance(value, Mapping):
        return " ".join(f"{key} {part}" for key, part in value.items())
    return "none" if value is None else str(value)
