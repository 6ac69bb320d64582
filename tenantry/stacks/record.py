"""The record of a successful run: which content each app of an environment has, and since when it is known to be ready.

A run leaves it in a ConfigMap beside the stack's claim and in the stack's outputs, if the gate of another environment names this
one. It is evidence for those who cannot read the management cluster. What it does not say counts as not proven.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum

from tenantry.fleet.fleet import Fleet
from tenantry.guard.claims import RECORD_LABEL, Claim
from tenantry.kube.objects import KubeObject, Owner
from tenantry.messages.text import printable
from tenantry.plan.after import Content, after_of, contents
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL, MANAGED_BY
from tenantry.plan.plan import Plan

OUTPUT = "record"
"""The name of the stack's output."""
_FORMAT = "1"
_MOST = 950_000
"""Bytes of a record. A ConfigMap may have 1 MiB."""


class State(StrEnum):
    """What a run knows of an app at its end."""

    READY = "ready"
    UNREADY = "unready"
    """The run waited for it, and saw it not ready somewhere: that was tolerated, or somebody has suspended it."""
    UNSEEN = "unseen"
    """The run waited for nothing of it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One app. since: since when it has had this content in this state (RFC 3339). words: its version, for messages."""

    digest: str
    since: str
    state: State
    words: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """entries: by app, such as `rocky/web` or `platform/dns`."""

    environment: str
    entries: Mapping[str, Entry] = field(default_factory=dict)

    @property
    def data(self) -> dict[str, str]:
        """As a ConfigMap and a stack's outputs hold it: one line for each app."""
        lines = (f"{app} {each.digest} {each.since} {each.state} {each.words}" for app, each in self.entries.items())
        apps = "".join(f"{line.rstrip()}\n" for line in lines)
        return {"format": _FORMAT, "environment": self.environment, "apps": apps}

    @property
    def fits(self) -> bool:
        """Whether a ConfigMap can hold it: at least 4,000 apps."""
        return len(self.data["apps"].encode()) <= _MOST


def is_awaited(fleet: Fleet, environment: str) -> bool:
    """Whether the gate of another environment names this one."""
    gates = (after_of(fleet, each) for each in fleet.environments)
    return any(gate.environment == environment for gate in gates if gate)


def record_of(
    plan: Plan,
    before: Record | None,
    now: datetime,
    states: Mapping[str, State] | None = None,
) -> Record:
    """The record after a run. What has not changed keeps its time.

    Args: states: of the apps that the run waited for, by name.
    """
    known, states = before.entries if before else {}, states or {}
    moment = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    found = {
        app: _entry(content, known.get(app), moment, states.get(app, State.UNSEEN))
        for app, content in sorted(contents(plan).items())
    }
    return Record(plan.environment, found)


def expected(plan: Plan, before: Record | None, now: datetime, awaited: Iterable[str]) -> Record:
    """The record after a run in which all goes well. An app that does not change stays as it is, also if it is not ready.

    Args: awaited: the apps that the run will wait for, by name.
    """
    known = contents(plan)
    unready = {
        app
        for app, each in (before.entries if before else {}).items()
        if each.state is State.UNREADY and app in known and known[app].digest == each.digest
    }
    states = {app: State.UNREADY if app in unready else State.READY for app in awaited}
    return record_of(plan, before, now, states)


def _entry(content: Content, before: Entry | None, moment: str, state: State) -> Entry:
    if before and (before.digest, before.state) == (content.digest, state):
        return replace(before, words=content.words)
    return Entry(content.digest, moment, state, content.words)


def record_object(platform: str, claim: Claim, record: Record) -> KubeObject:
    """What the stack keeps in the platform's namespace of its management cluster."""
    metadata = {
        "name": claim.record,
        "namespace": platform,
        "labels": {**MANAGED_BY, ENVIRONMENT_LABEL: record.environment, RECORD_LABEL: record.environment},
    }
    return KubeObject({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": record.data}, Owner())


def read(data: Mapping[str, object]) -> Record | None:
    """The record in the data of a ConfigMap or of an output; None: there is none that this version understands."""
    if data.get("format") != _FORMAT:
        return None
    return Record(str(data.get("environment")), dict(_entries(str(data.get("apps", "")))))


def _entries(text: str) -> Iterator[tuple[str, Entry]]:
    """The lines of a text. One that is malformed proves nothing, and is left out."""
    for line in text.splitlines():
        match line.split(" ", 4):
            case [app, digest, since, ("ready" | "unready" | "unseen") as state, *words] if _time(since):
                yield app, Entry(digest, since, State(state), printable("".join(words)))


def problem_of(record: Record, app: str, digest: str, soak: float, now: datetime) -> str:
    """Why the record does not prove that an app with this content has been ready for so many seconds; "" if it does."""
    name, entry = record.environment, record.entries.get(app)
    if entry is None:
        return f"is not in the record of '{name}': run `tenantry up --environment {name}`"
    if entry.digest != digest:
        other = f" ({entry.words})" if entry.words else ""
        return f"had other content{other} in the last successful run: run `tenantry up --environment {name}`"
    if entry.state is State.UNSEEN:
        return (
            f"is in no wave of '{name}', so its record says nothing of readiness: give '{name}' a rollout, or run where its"
            " management cluster can be read"
        )
    if entry.state is State.UNREADY:
        return f"was not ready everywhere at the end of the last run: run `tenantry up --environment {name}` again"
    started = _time(entry.since)
    seconds = (now - started).total_seconds() if started else 0
    if seconds < soak:
        return f"recorded as ready for {max(0, int(seconds))} s, which is less than {soak:g} s"
    return ""


def _time(text: str) -> datetime | None:
    """None: it is not a time with a zone."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else None
