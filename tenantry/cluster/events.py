"""Kubernetes' events about Flux objects, as the management cluster keeps them, by default for an hour. It never writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal

from tenantry.cluster import requests
from tenantry.cluster.status import flux_text, moment, one_line
from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.data import mapping_at
from tenantry.messages.text import grouped

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_FEW = 32
"""The events of so many objects of a namespace are read one by one; of more, those of the whole namespace are."""


@dataclass(frozen=True, slots=True)
class Event:
    """Events that say the same about an object. count: how many. first, last: when (RFC 3339); "" if it is not known."""

    id: ObjectId
    type: Literal["Normal", "Warning"]
    reason: str
    message: str
    count: int
    first: str
    last: str


def events_of(client: Client, ids: Iterable[ObjectId]) -> list[Event]:
    """The events about objects, the oldest first. Raises: Refused: reading is not allowed."""
    ids = list(ids)
    if len(hubs := list(client.each())) > 1:
        parts = (events_of(each, [id for id in ids if id.hub == each.hub]) for each in hubs)
        return sorted(chain.from_iterable(parts), key=lambda event: event.last)

    def of_namespace(found: tuple[str, str]) -> list[Manifest]:
        namespace, fields = found
        return list(requests.every(client, "v1", "Event", namespace=namespace, fields=fields))

    wanted: list[tuple[str, str]] = []
    for namespace, there in grouped(ids, lambda id: id.namespace).items():
        each = [f"involvedObject.kind={id.kind},involvedObject.name={id.name}" for id in there]
        wanted += [(namespace, fields) for fields in (each if len(each) <= _FEW else [""])]
    known = {(id.kind, id.namespace, id.name): id for id in ids}
    read = chain.from_iterable(requests.in_parallel(of_namespace, wanted))
    unique = {str(mapping_at(manifest, "metadata").get("uid")): manifest for manifest in read}
    said = (event for manifest in unique.values() if (event := _event(manifest, known)))
    joined = grouped(said, lambda event: (event.id, event.type, event.reason, event.message))
    return sorted(map(_joined, joined.values()), key=lambda event: event.last)


def _event(manifest: Manifest, known: dict[tuple[str, str, str], ObjectId]) -> Event | None:
    about, metadata = mapping_at(manifest, "involvedObject"), mapping_at(manifest, "metadata")
    id = known.get((str(about.get("kind")), str(about.get("namespace")), str(about.get("name"))))
    if id is None:
        return None
    series = mapping_at(manifest, "series")
    count = series.get("count") or manifest.get("count")
    first = manifest.get("firstTimestamp") or manifest.get("eventTime") or metadata.get("creationTimestamp")
    last = series.get("lastObservedTime") or manifest.get("lastTimestamp") or first
    return Event(
        id,
        "Warning" if manifest.get("type") == "Warning" else "Normal",
        one_line(str(manifest.get("reason") or "")),
        one_line(flux_text(str(manifest.get("message") or ""))),
        count if isinstance(count, int) and count > 0 else 1,
        *(str(time) if moment(str(time)) else "" for time in (first, last)),
    )


def _joined(alike: list[Event]) -> Event:
    first, *_ = alike
    times = sorted(filter(None, chain.from_iterable((each.first, each.last) for each in alike)))
    count = sum(each.count for each in alike)
    return Event(first.id, first.type, first.reason, first.message, count, *(times[:1] or [""]), *(times[-1:] or [""]))


def news(before: Iterable[Event], now: Iterable[Event]) -> Iterator[Event]:
    """What a later reading has that an earlier one had not, or less often."""
    counts = {(event.id, event.reason, event.message): (event.count, event.last) for event in before}
    for event in now:
        if counts.get((event.id, event.reason, event.message)) != (event.count, event.last):
            yield event
