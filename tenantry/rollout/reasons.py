"""Why objects of a change are blocked, and how a run and `status` say it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

from tenantry.kube.objects import ObjectId
from tenantry.messages.text import counted, grouped, listed
from tenantry.model.durations import duration

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


def format_summary(
    environment: str,
    blocked: Mapping[ObjectId, Reason],
    names: Mapping[ObjectId, str],
    lines: Mapping[ObjectId, str],
    now: datetime,
) -> str:
    """What a run says of everything that it holds: a line for each reason, with the objects that it blocks.

    names: of each object, what users call it, such as `rocky/web on edge-1`. lines: the line of each object, for the command that
    lets it through.
    """
    verb = "is" if len(blocked) == 1 else "are"
    text = [f"{counted(len(blocked), 'object')} of environment '{environment}' {verb} blocked and held"]
    for (kind, message, until), ids in grouped(blocked, lambda id: blocked[id][:3]).items():
        named = listed(list(dict.fromkeys(names.get(id, str(id)) for id in ids)), _MOST)
        text.append(f"  {kind}: {message}{format_until(until, now)}\n    {named}")
    by_kind = grouped(blocked, lambda id: blocked[id].kind)
    if decisive := next((kind for kind in _FIXES if kind in by_kind), None):
        line = next((lines[id] for id in by_kind[decisive] if id in lines), "TENANT/APP")
        text.append(f"  fix: {_FIXES[decisive].format(environment=environment, line=line)}")
    return "\n".join(text)
