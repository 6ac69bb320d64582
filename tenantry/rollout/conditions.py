"""What a change has to wait for besides readiness: that an earlier wave has soaked, that somebody approves, that a window opens.

A part that waits is held for the whole run: its objects stay as they are, and a later run goes on. Nothing here reads a cluster or
a clock.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from tenantry.kube.objects import ObjectId, Owner
from tenantry.messages.text import counted, grouped, listed
from tenantry.model.durations import duration
from tenantry.plan.plan import Plan
from tenantry.rollout.parts import Part, digests_of, parts_of
from tenantry.rollout.waves import Rollout, Wave, wave_name

_MOST = 5
_STAMP = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True)
class Mark:
    """Since when a part has been good with a content: UTC, to the second."""

    digest: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Approved:
    """One approval of what a part would become. group: of the user's, as which the user approved."""

    part: Part
    digest: str
    by: str
    group: str


@dataclass(frozen=True, slots=True)
class Known:
    """What decides about a run that begins at `now`.

    marks, approvals: None: nobody can read them, so that nothing counts as soaked or approved. runner: who runs the change, whose
    own approval does not count.
    """

    now: datetime
    marks: Mapping[Part, Mark] | None = field(default_factory=dict)
    approvals: Sequence[Approved] | None = ()
    runner: str = ""
    ignored: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Wait:
    """What somebody waits for. until: when it is over; None: nobody knows. approves: whether it waits for an approval."""

    reason: str
    until: datetime | None = None
    approves: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits: by object, and by part. parts: those that wait for their wave; clusters: those whose windows are shut."""

    objects: Mapping[ObjectId, Wait] = field(default_factory=dict)
    parts: Mapping[Part, Wait] = field(default_factory=dict)
    clusters: Mapping[str, Wait] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.objects)


def has_conditions(plan: Plan) -> bool:
    """Whether anything of a plan can wait for more than readiness."""
    return bool(plan.windows.clusters) or any(wave.soak or wave.groups for each in plan.rollouts for wave in each.waves)


def waiting(
    plan: Plan, changed: Collection[ObjectId], known: Known, going: Mapping[ObjectId, Owner] = MappingProxyType({})
) -> Waiting:
    """What of a change waits.

    changed: the planned objects that the clusters do not hold as planned. going: what is not planned any more, and whose it is. It
    goes at once, unless windows of its cluster are shut, or something of the same tenant waits there: that may take its place.
    """
    closed = {} if "windows" in known.ignored else plan.windows.shut_clusters(known.now)
    clusters = {name: Wait(str(each), each.until) for name, each in closed.items()}
    parts, owners = parts_of(plan), {planned.id: planned.owner for planned in plan.objects}
    mine: dict[Part, list[ObjectId]] = grouped((id for id in changed if id in parts), parts.__getitem__)
    digests = digests_of(plan, parts) if mine else {}
    by_part: dict[Part, Wait] = {}
    for rollout in plan.rollouts:
        judge = _Judge(rollout, digests, known)
        for part in sorted(each for each in mine if each.rollout == rollout.name):
            shut_out = [clusters.get(owners[id].cluster) for id in mine[part]]
            if before := next((each for each in by_part if each[::2] == part[::2]), None):
                by_part[part] = Wait(f"waits for {wave_name(rollout, rollout.waves[before.wave - 1])}")
            elif wait := judge.wait(part) or (shut_out[0] if all(shut_out) else None):
                by_part[part] = wait
    objects = {
        id: wait
        for id in changed
        if (wait := clusters.get(owners[id].cluster) or (by_part.get(parts[id]) if id in parts else None))
    }
    waiting_there = {owner: objects[id] for id, owner in owners.items() if id in objects and owner.cluster}
    for id, owner in going.items():
        if wait := clusters.get(owner.cluster) or waiting_there.get(owner):
            objects[id] = wait
    held = {(going.get(id) or owners[id]).cluster for id in objects}
    return Waiting(objects, by_part, {name: each for name, each in clusters.items() if name in held})


def unapproved(rollout: Rollout, wave: Wave, parts: Mapping[Part, str], known: Known) -> dict[Part, str]:
    """The parts of a wave that would change and nobody has approved. parts: with their digests."""
    judge = _Judge(rollout, parts, known)
    mine = {part: digest for part, digest in parts.items() if part[:2] == (rollout.name, wave.number)}
    return {part: digest for part, digest in mine.items() if judge.approval(part, wave)}


@dataclass(frozen=True, slots=True)
class _Judge:
    rollout: Rollout
    digests: Mapping[Part, str]
    known: Known

    def wait(self, part: Part) -> Wait | None:
        """What a part waits for before its wave begins with it."""
        earlier = () if "soak" in self.known.ignored else self.rollout.waves[: part.wave - 1]
        soaks = filter(None, (self._soak(part._replace(wave=wave.number), wave) for wave in earlier if wave.soak))
        wave = self.rollout.waves[part.wave - 1]
        if found := next(soaks, None):
            return found
        return self.approval(part, wave) if wave.groups and "approval" not in self.known.ignored else None

    def _soak(self, part: Part, wave: Wave) -> Wait | None:
        if part not in self.digests:
            return None  # it has nothing in that wave
        mark = (self.known.marks or {}).get(part)
        who = wave_name(self.rollout, wave)
        if mark is None or mark.digest != self.digests[part]:
            return Wait(f"{who} has not been good with it yet, and then soaks for {duration(wave.soak)}")
        until = mark.since + timedelta(seconds=wave.soak)
        return Wait(f"{who} soaks", until) if until > self.known.now else None

    def approval(self, part: Part, wave: Wave) -> Wait | None:
        for each in self.known.approvals or ():
            is_it = (each.part, each.digest) == (part, self.digests[part])
            if is_it and each.group in wave.groups and each.by != self.known.runner:
                return None
        if self.known.approvals is None:
            return Wait("the management cluster keeps no approvals yet: tenantry bootstrap NAME")
        return Wait(f"nobody of {listed(wave.groups)} has approved {wave_name(self.rollout, wave)}", approves=True)


def told(plan: Plan, found: Waiting, now: datetime) -> str:
    """What a run says of what waits."""
    one = len(found.objects) == 1
    what = "waits, and stays as it is" if one else "wait, and stay as they are"
    lines = [
        f"{counted(len(found.objects), 'object')} of environment '{plan.environment}' {what}",
        *lines_of(plan, found, now),
    ]
    approve = [approval_command(plan.environment, part) for part, wait in found.parts.items() if wait.approves]
    later = f"run the same command again later: tenantry up --environment {plan.environment}"
    fixes = "\n       ".join([*dict.fromkeys(approve), later])
    return "\n".join((*lines, f"  fix: {fixes}"))


def lines_of(plan: Plan, found: Waiting, now: datetime) -> list[str]:
    """Who waits for what, and until when: a line for each wave and reason."""
    rollouts = {each.name: each for each in plan.rollouts}
    by_wait = grouped(sorted(found.parts, key=lambda part: part[:2]), lambda part: (part[:2], found.parts[part]))
    lines = []
    for ((name, number), wait), parts in by_wait.items():
        wave = wave_name(rollouts[name], rollouts[name].waves[number - 1])
        subjects = listed((part.subject for part in parts), _MOST)
        lines.append(f"  {wave}: {subjects}: {wait.reason}{_until(wait, now)}")
    by_window = grouped(found.clusters, lambda name: found.clusters[name].reason)
    return [*lines, *(f"  {listed(names, _MOST)}: {reason}" for reason, names in by_window.items())]


def approval_command(environment: str, part: Part) -> str:
    """What to type to approve a wave."""
    whose = ("--rollout", part.rollout) if part.rollout else ()
    return shlex.join(("tenantry", "approve", environment, str(part.wave), *whose))


def _until(wait: Wait, now: datetime) -> str:
    if wait.until is None:
        return ""
    left = max(0, (wait.until - now).total_seconds())
    return f" until {wait.until.astimezone(UTC):{_STAMP}} ({duration(left)} more)"


def marked(
    known: Mapping[Part, Mark], parts: Iterable[Part], digests: Mapping[Part, str], now: datetime
) -> dict[Part, Mark]:
    """The marks after some parts have been good. What has the same content keeps its time; what is gone is left out."""
    good, moment = {*parts}, now.astimezone(UTC).replace(microsecond=0)
    found: dict[Part, Mark] = {}
    for part, digest in digests.items():
        before = known.get(part)
        if before and before.digest == digest:
            found[part] = before
        elif part in good:
            found[part] = Mark(digest, moment)
    return found


def written(marks: Mapping[Part, Mark]) -> list[str]:
    """As a ConfigMap holds them."""
    return [
        f"{part.wave} {each.digest} {each.since:{_STAMP}} {part.subject} {part.rollout}".rstrip()
        for part, each in sorted(marks.items())
    ]


def read_marks(lines: Iterable[str]) -> dict[Part, Mark]:
    """What is malformed proves nothing, and is left out."""
    found: dict[Part, Mark] = {}
    for line in lines:
        wave, digest, since, subject, rollout = (line.split(" ", 4) + [""] * 5)[:5]
        try:
            at = datetime.strptime(since, _STAMP).replace(tzinfo=UTC)
            found[Part(rollout, int(wave), subject)] = Mark(digest, at)
        except ValueError:
            continue
    return found
