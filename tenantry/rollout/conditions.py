"""What a change has to wait for besides readiness: that an earlier wave has soaked.

A part that waits is held for the whole run: its objects stay as they are, and a later run goes on. Nothing here reads a cluster or
a clock.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from tenantry.kube.objects import ObjectId, Owner
from tenantry.messages.text import counted, grouped, listed
from tenantry.model.durations import duration
from tenantry.plan.plan import Plan
from tenantry.rollout.parts import Part, digests_of, parts_of
from tenantry.rollout.waves import Rollout

_MOST = 5
_STAMP = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True, slots=True)
class Mark:
    """Since when a part has been good with a content: UTC, to the second."""

    digest: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Known:
    """What decides about a run that begins at `now`. marks: None: nobody can read them, so that nothing counts as soaked."""

    now: datetime
    marks: Mapping[Part, Mark] | None = field(default_factory=dict)
    ignored: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Wait:
    """What somebody waits for. until: when it is over; None: nobody knows."""

    reason: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits for its wave: by object, and by part."""

    objects: Mapping[ObjectId, Wait] = field(default_factory=dict)
    parts: Mapping[Part, Wait] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.objects)


def has_conditions(plan: Plan) -> bool:
    """Whether anything of a plan can wait for more than readiness."""
    return plan.rollout is not None and any(wave.soak for wave in plan.rollout.waves)


def waiting(
    plan: Plan, changed: Collection[ObjectId], known: Known, going: Mapping[ObjectId, Owner] = MappingProxyType({})
) -> Waiting:
    """What of a change waits.

    changed: the planned objects that the clusters do not hold as planned. going: what is not planned any more, and whose it is. It
    goes at once, unless something of the same tenant waits on its cluster: that may take its place.
    """
    if plan.rollout is None or "soak" in known.ignored:
        return Waiting()
    parts, owners = parts_of(plan), {planned.id: planned.owner for planned in plan.objects}
    mine = {parts[id] for id in changed if id in parts}
    digests = digests_of(plan, parts) if mine else {}
    by_part: dict[Part, Wait] = {}
    for part in sorted(mine):
        if before := next((each for each in by_part if each.subject == part.subject), None):
            by_part[part] = Wait(f"waits for {plan.rollout.name_of(plan.rollout.waves[before.wave - 1])}")
        elif wait := _soak(plan.rollout, part, digests, known):
            by_part[part] = wait
    objects = {id: by_part[parts[id]] for id in changed if id in parts and parts[id] in by_part}
    waiting_there = {owner: objects[id] for id, owner in owners.items() if id in objects and owner.cluster}
    objects |= {id: waiting_there[owner] for id, owner in going.items() if owner in waiting_there}
    return Waiting(objects, by_part)


def _soak(rollout: Rollout, part: Part, digests: Mapping[Part, str], known: Known) -> Wait | None:
    """What a part waits for before its wave begins with it."""
    for wave in rollout.waves[: part.wave - 1]:
        earlier = part._replace(wave=wave.number)
        if not wave.soak or earlier not in digests:
            continue  # it has nothing in that wave
        mark = (known.marks or {}).get(earlier)
        if mark is None or mark.digest != digests[earlier]:
            reason = f"{rollout.name_of(wave)} has not been good with it yet, and then soaks for {duration(wave.soak)}"
            return Wait(reason)
        until = mark.since + timedelta(seconds=wave.soak)
        if until > known.now:
            return Wait(f"{rollout.name_of(wave)} soaks", until)
    return None


def told(plan: Plan, found: Waiting, now: datetime) -> str:
    """What a run says of what waits."""
    one = len(found.objects) == 1
    what = "waits, and stays as it is" if one else "wait, and stay as they are"
    lines = [
        f"{counted(len(found.objects), 'object')} of environment '{plan.environment}' {what}",
        *lines_of(plan, found, now),
        f"  fix: run the same command again later: tenantry up --environment {plan.environment}",
    ]
    return "\n".join(lines)


def lines_of(plan: Plan, found: Waiting, now: datetime) -> list[str]:
    """Who waits for what, and until when: a line for each wave and reason."""
    if plan.rollout is None:
        return []
    by_wait = grouped(sorted(found.parts), lambda part: (part.wave, found.parts[part]))
    lines = []
    for (number, wait), parts in by_wait.items():
        wave = plan.rollout.name_of(plan.rollout.waves[number - 1])
        subjects = listed((part.subject for part in parts), _MOST)
        lines.append(f"  {wave}: {subjects}: {wait.reason}{until_text(wait.until, now)}")
    return lines


def until_text(until: datetime | None, now: datetime) -> str:
    """Such as: ` until 2026-01-31T12:00:00Z (30m more)`; "" if nobody knows."""
    if until is None:
        return ""
    left = max(0, (until - now).total_seconds())
    return f" until {until.astimezone(UTC):{_STAMP}} ({duration(left)} more)"


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
    return [f"{part.wave} {each.digest} {each.since:{_STAMP}} {part.subject}" for part, each in sorted(marks.items())]


def read_marks(lines: Iterable[str]) -> dict[Part, Mark]:
    """What is malformed proves nothing, and is left out."""
    found: dict[Part, Mark] = {}
    for line in lines:
        try:
            wave, digest, since, subject = line.split(" ")
            found[Part(int(wave), subject)] = Mark(digest, datetime.strptime(since, _STAMP).replace(tzinfo=UTC))
        except ValueError:
            continue
    return found
