"""The history of an environment: which runs changed it, from which commit, by whom, and how they ended.

It is a ConfigMap in the platform's namespace with an entry for each run, and not in Pulumi's state: a run that fails is in it, too,
and no time in it is a change for the next preview. It stays when the environment is destroyed. The oldest entries make room.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tenantry.cluster import requests
from tenantry.cluster.control import FIELD_MANAGER
from tenantry.kube.names import PLATFORM, digest
from tenantry.kube.objects import ObjectId, Owner
from tenantry.messages.data import mapping_at
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from tenantry.cluster.client import Client

_LABEL = "tenantry/history"
_MOST = 400_000
"""Bytes of all entries. A ConfigMap may have 1 MiB."""
_DIGITS = 16


class Result(StrEnum):
    """How a run ended, as far as somebody could note it."""

    RUNNING = "running"
    """Nobody noted an end, and no later run has begun."""
    APPLIED = "applied"
    """What it creates and changes has arrived. Pulumi deletes after the program has ended, and nobody noted how that went."""
    SUCCEEDED = "succeeded"
    WAITING = "waiting"
    """The same, except for what waits, for example for a window, and stays as it is."""
    PARTLY = "partly"
    """The same, except for what failed or lacks something, such as a value of a Secret, and stays as it is."""
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    """A signal or an answer ended it, or it was killed: a later run has begun, and nobody noted an end."""


class Counts(NamedTuple):
    """How many objects."""

    created: int = 0
    changed: int = 0
    deleted: int = 0

    def __or__(self, other: Counts) -> Counts:
        """The larger number of each."""
        return Counts(*map(max, self, other))


@dataclass(frozen=True, slots=True)
class Entry:
    """A run.

    stack: as `project/stack`. user: whom the management cluster saw. commit, edited, actor, pipeline: as in `Origin`.
    plan: its digest. ignored, reason: what was not waited for in an emergency. without: management clusters that were left out.
    changes: by tenant, and `platform`, what the run changed; of a run that failed, what it set out to change.
    """

    began: str
    stack: str
    verb: str = "up"
    result: str = Result.RUNNING
    ended: str = ""
    user: str = ""
    commit: str = ""
    edited: bool = False
    actor: str = ""
    pipeline: str = ""
    version: str = ""
    plan: str = ""
    ignored: tuple[str, ...] = ()
    reason: str = ""
    without: tuple[str, ...] = ()
    changes: Mapping[str, Counts] = field(default_factory=dict)

    def ends(self, result: Result, now: datetime) -> Entry:
        """The same run when it has ended."""
        return replace(self, result=str(result), ended=moment(now))

    @property
    def total(self) -> Counts:
        return Counts(*map(sum, zip(*self.changes.values(), strict=True))) if self.changes else Counts()


def moment(now: datetime) -> str:
    """As entries have times."""
    return f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def digest_of(plan: Plan) -> str:
    """A digest of all objects of a plan, without values of Secrets, which a plan does not have."""
    return digest({"objects": [each.manifest for each in plan.objects], "hubs": plan.hubs}, _DIGITS)


def changes_by_tenant(
    created: Iterable[Owner] = (), changed: Iterable[Owner] = (), deleted: Iterable[Owner] = ()
) -> dict[str, Counts]:
    """The numbers for each tenant, and for the platform, by whom the objects are for."""
    found: dict[str, list[int]] = {}
    for position, owners in enumerate((created, changed, deleted)):
        for owner in owners:
            found.setdefault(owner.tenant or PLATFORM, [0, 0, 0])[position] += 1
    return {name: Counts(*found[name]) for name in sorted(found)}


def key_of(entry: Entry, run: str) -> str:
    """The key of an entry, by which entries are in the order of time. run: tells runs of one second apart."""
    return f"{entry.began.replace(':', '')}-{run}"


@dataclass(frozen=True, slots=True)
class History:
    """entries: by key, the oldest first. unreadable: the keys of those that are malformed."""

    entries: Mapping[str, Entry]
    unreadable: tuple[str, ...] = ()

    def of_run(self, run: str) -> str:
        """The key of a run's entry; "" if it has none."""
        return next((key for key in self.entries if key.endswith(f"-{run}")), "")

    def newest_first(self, tenant: str = "") -> list[Entry]:
        """The runs that changed something of a tenant, or of `platform`; "": all. A stack has one run at a time."""
        found, later = list[Entry](), set[str]()
        for entry in reversed([*self.entries.values()]):
            was_killed = entry.result == Result.RUNNING and entry.stack in later
            later.add(entry.stack)
            if not tenant or tenant in entry.changes:
                found.append(replace(entry, result=str(Result.INTERRUPTED)) if was_killed else entry)
        return found


def history_on(client: Client, platform: str, environment: str) -> History:
    """What all management clusters of an environment have noted; the first that a run contacts notes it.

    Raises: Refused: reading is not allowed.
    """
    id = _id(platform, environment)
    texts: dict[str, str] = {}
    for each in client.each():
        texts |= {str(key): str(text) for key, text in mapping_at(requests.one(each, id) or {}, "data").items()}
    entries = dict(_entries(texts))
    return History(entries, tuple(sorted(texts.keys() - entries.keys())))


def note(client: Client, platform: str, environment: str, key: str, entry: Entry) -> None:
    """Write the entry of a run, and drop the oldest ones if there are too many. client: of one management cluster.

    Raises: Refused: writing is not allowed.
    """
    id, text = _id(platform, environment), text_of(entry)
    there = requests.one(client, id)
    kept = {str(each): str(old) for each, old in mapping_at(there or {}, "data").items()}
    content = {"data": {**dict.fromkeys(_dropped({**kept, key: text}, key)), key: text}}
    if there is None or requests.patched(client, id, content, manager=FIELD_MANAGER, dry_run=False) is None:
        metadata = {"name": id.name, "namespace": platform, "labels": {_LABEL: environment}}
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {key: text}}
        requests.written(client, id, manifest, manager=FIELD_MANAGER)


def text_of(entry: Entry) -> str:
    """An entry on one line, as `note` writes it."""
    return _form().dump_json(entry, exclude_defaults=True).decode()


def _id(platform: str, environment: str) -> ObjectId:
    return ObjectId("v1", "ConfigMap", platform, f"tenantry-{environment}.history")


def _dropped(texts: Mapping[str, str], new: str) -> Iterator[str]:
    """The oldest entries that are too many; never the new one."""
    size = sum(len(key) + len(text.encode()) for key, text in texts.items())
    for key in sorted(texts.keys() - {new}):
        if size <= _MOST:
            return
        size -= len(key) + len(texts[key].encode())
        yield key


def _entries(texts: Mapping[str, str]) -> Iterator[tuple[str, Entry]]:
    from pydantic import ValidationError

    for key in sorted(texts):
        try:
            yield key, _form().validate_json(texts[key])
        except ValidationError:
            continue


@cache
def _form() -> TypeAdapter[Entry]:
    # Whoever only plans or previews does not need it.
    from pydantic import TypeAdapter

    return TypeAdapter(Entry)
