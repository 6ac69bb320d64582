"""Whether the planned objects besides apps are there as planned, and ready: baselines, sources, charts, accounts, rights.

It reads nothing itself and never writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tenantry.cluster.drift import Difference
from tenantry.cluster.evidence import Contents
from tenantry.cluster.standing import Live, names_of, said_of, state_of
from tenantry.cluster.status import MISSING, PAUSED, AppStatus, Readiness, last_good
from tenantry.cluster.unreached import Standings
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, object_id, readable_id
from tenantry.messages.data import mapping_at
from tenantry.plan.engine_order import becomes_ready
from tenantry.plan.plan import Plan
from tenantry.plan.users import Users
from tenantry.rollout.waves import Wave


@dataclass(frozen=True, slots=True)
class ObjectStatus:
    """A planned object that is not as planned, and stands for no app.

    name:  what users call it besides its kind and name, such as `the baseline of rocky`; "" for most objects.
    since: since when it is not ready (RFC 3339); "" if that is not known.
    used:  of what clusters share, on how many of them it is used, in words.
    behind: as of `AppStatus`.
    """

    planned: KubeObject
    readiness: Readiness
    message: str
    name: str = ""
    since: str = ""
    wave: Wave | None = None
    used: str = ""
    behind: str = ""

    @property
    def id(self) -> ObjectId:
        return self.planned.id

    @property
    def full_name(self) -> str:
        """`the baseline of rocky on edge-1`, or kind and name."""
        return f"{self.name} on {self.planned.owner.cluster}" if self.name else str(self.id)


def object_statuses(plan: Plan, live: Iterable[Manifest]) -> Iterator[ObjectStatus]:
    """The baselines, sources and charts that are not ready.

    live: the environment's Kustomizations, HelmReleases, sources and charts; may hold other objects too.
    """
    found: Live = {id: manifest for manifest in live if (id := readable_id(manifest))}
    apps, names, standings = {app.id for app in plan.apps}, names_of(plan), Standings(plan, found)
    needs = standings.needs
    sources, users = {id for need in needs.values() for id in need.sources}, Users(plan)
    for planned in plan.objects:
        id = planned.id
        if id in apps or (id not in needs and id not in sources):
            continue
        behind = ""
        if id in needs:
            state, message, _, behind = standings.of(id)
        elif id in found:
            state, message = state_of(found[id]), said_of(found[id])
        else:
            state, message = Readiness.MISSING, MISSING
        if state is Readiness.READY or (found.get(id) and not becomes_ready(planned.manifest)):
            continue
        if state is Readiness.SUSPENDED:
            message = (
                PAUSED if mapping_at(planned.manifest, "spec").get("suspend") else "suspended by hand, not in the file"
            )
        since = last_good(found[id]) if id in found else ""
        yield ObjectStatus(
            planned, state, message, names.get(id, ""), since, plan.wave_of(id), users.in_words(id), behind
        )


_STAY = (Readiness.FAILED, Readiness.UNREACHABLE, Readiness.SUSPENDED)
"""What is told of an object that is not as planned either."""


class Compared:
    """What the differences between a plan and the cluster mean for the statuses of its apps and objects."""

    def __init__(self, plan: Plan, apps: Iterable[AppStatus], differences: Iterable[Difference]) -> None:
        self._plan, self._contents = plan, Contents(plan)
        self._differences: Mapping[ObjectId, Difference] = {difference.id: difference for difference in differences}
        waves: list[int] = []
        for status in apps:
            changed = status.readiness is not Readiness.READY or any(True for _ in self._of(status))
            if changed and (wave := plan.wave_of(status.app.id)):
                waves.append(wave.number)
        self._unfinished = min(waves, default=0)

    def app(self, status: AppStatus) -> AppStatus:
        """The status of an app whose object, source, chart or ConfigMap is perhaps not as planned."""
        difference = next(self._of(status), None)
        if difference is None or status.readiness is Readiness.SUSPENDED:
            return status
        if status.readiness is Readiness.MISSING:
            return replace(status, message=self._held_back(status.app.id) or status.message)
        state, message = self._told(difference, status.app.id)
        if status.readiness in (Readiness.FAILED, Readiness.UNREACHABLE):
            return replace(status, message=f"{status.message}; {message}")
        return replace(status, readiness=state, message=message)

    def objects(self, statuses: Iterable[ObjectStatus]) -> Iterator[ObjectStatus]:
        """The statuses of objects, and those of the others that are not as planned."""
        known = {each.id: each for each in statuses}
        apps, names, users = {app.id for app in self._plan.apps}, names_of(self._plan), Users(self._plan)
        for planned in self._plan.objects:
            status, difference = known.get(planned.id), self._differences.get(planned.id)
            if planned.id in apps or (status is None and difference is None):
                continue
            if status and (difference is None or status.readiness in _STAY):
                yield status
                continue
            assert difference
            state, message = self._told(difference, planned.id)
            yield ObjectStatus(
                planned,
                state,
                message,
                names.get(planned.id, ""),
                status.since if status else "",
                self._plan.wave_of(planned.id),
                users.in_words(planned.id),
            )

    def _of(self, status: AppStatus) -> Iterator[Difference]:
        ids = [status.app.id, *map(object_id, self._contents.of(status.app))]
        return (self._differences[id] for id in ids if id in self._differences)

    def _told(self, difference: Difference, id: ObjectId) -> tuple[Readiness, str]:
        """The state that a difference makes, and what to do. id: the object or app that is told of."""
        # What clusters share is in no wave, so nothing of it waits.
        held_back = self._held_back(id) if self._plan.wave_of(difference.id) else ""
        again = f"run `tenantry up --environment {self._plan.environment}`"
        if difference.live is None:
            missing = MISSING if id == difference.id else f"{difference.id} is {MISSING}"
            return Readiness.MISSING if id == difference.id else Readiness.OUTDATED, held_back or missing
        fields = str(difference).partition(": ")[2] if id == difference.id else str(difference)
        if difference.by:
            return Readiness.CHANGED, f"changed by hand: {fields}; {again}"
        return Readiness.OUTDATED, held_back or f"not applied yet: {fields}; a run may be under way, otherwise {again}"

    def _held_back(self, id: ObjectId) -> str:
        """Which wave an object waits for, if an earlier one has not arrived; else ""."""
        rollout, wave = self._plan.rollout, self._plan.wave_of(id)
        if rollout is None or wave is None or not self._unfinished or wave.number <= self._unfinished:
            return ""
        return f"waits for {rollout.name_of(wave)}: not applied yet"
