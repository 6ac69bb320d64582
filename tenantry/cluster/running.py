"""What an app has on its cluster: its objects with their states, and what belongs to them: pods, events, quotas.

It reads a handful of lists for each namespace, a page of each, and never the values of a Secret. It never writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from tenantry.cluster import requests
from tenantry.cluster.connect import Way, reached
from tenantry.cluster.health import State, Trouble, pod_trouble, state_of_object
from tenantry.kube.objects import Manifest, ObjectId, labels_of, readable_id
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.errors import Refused
from tenantry.messages.redact import without_credentials
from tenantry.messages.text import counted, grouped, listed, one_line
from tenantry.rollout.flux_status import Readiness, moment

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

WORKLOADS = (
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
)
AROUND = (
    *WORKLOADS,
    ("apps/v1", "ReplicaSet"),
    ("v1", "Pod"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "ResourceQuota"),
    ("v1", "LimitRange"),
    ("v1", "Event"),
)
"""API version and kind of what tells how the objects of an app are, in its namespaces."""
_FIELDS = {"Event": "type=Warning"}
_METADATA_ONLY = ("Secret", "ConfigMap")
_PAGE = 500
"""So many objects of a kind are read in a namespace."""
_NAMESPACES = 5
_LEVELS = 3
"""From a CronJob to a Job to a pod. Objects of a tenant can name each other as owners."""
_SINGLE = 100
"""So many objects of other kinds are read, one by one."""


_VARYING = re.compile(r"\"[^\"]*\"|[0-9]+")
"""What differs in messages of the same event: names of pods, and figures."""


class Event(NamedTuple):
    """A warning about an object. about: kind and name. at: when it came last (RFC 3339)."""

    about: str
    reason: str
    message: str
    at: str
    times: int


@dataclass(frozen=True, slots=True)
class Running:
    """objects: the app's, as they were read; None: it is missing. by_kind: everything in the namespaces, by kind.

    unread: what could not be read, as parts of sentences. user: as whom it was read; "": as the person who asked.
    """

    objects: Mapping[ObjectId, Manifest | None]
    by_kind: Mapping[str, Sequence[Manifest]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    user: str = ""

    def state_of(self, id: ObjectId) -> State:
        """The state of one of the app's objects; that of a workload has the reason of its pods."""
        manifest = self.objects[id]
        state = state_of_object(manifest)
        if manifest is None or (id.api_version, id.kind) not in WORKLOADS:
            return state
        if state.health is Readiness.READY or not (troubles := self.troubles(manifest)):
            return state
        pod, trouble = troubles[0]
        why = trouble.why if state.why.endswith(trouble.why) else f"{state.why}: {trouble.why}"
        health = Readiness.FAILED if trouble.lasts else state.health
        return State(health, why, self.since(pod, trouble) or state.since)

    def since(self, pod: Manifest, trouble: Trouble) -> str:
        """Since when a pod has a trouble, or when the last warning about the pod came; "" if nothing tells."""
        return trouble.since or next((event.at for event in self.events_about([pod])), "")

    def troubles(self, owner: Manifest) -> list[tuple[Manifest, Trouble]]:
        """The pods of a workload with what keeps each from being ready; what waiting does not cure comes first."""
        pods = [manifest for manifest in self.owned(owner) if manifest["kind"] == "Pod"]
        troubles = [(pod, trouble) for pod in pods if (trouble := pod_trouble(pod))]
        return sorted(troubles, key=lambda pair: (not pair[1].lasts, pair[1].reason == "Unschedulable"))

    def owned(self, owner: Manifest, levels: int = _LEVELS) -> list[Manifest]:
        """What a workload owns, down to its pods."""
        uid = mapping_at(owner, "metadata").get("uid")
        if not uid:
            return []
        below = [
            manifest
            for kind in ("ReplicaSet", "Job", "Pod", "PersistentVolumeClaim")
            for manifest in self.by_kind.get(kind, ())
            if uid
            in {
                reference.get("uid")
                for reference in mappings_in(mapping_at(manifest, "metadata").get("ownerReferences"))
            }
        ]
        if levels == 1:
            return below
        owners = (manifest for manifest in below if manifest["kind"] != "Pod")
        return [*below, *(deeper for manifest in owners for deeper in self.owned(manifest, levels - 1))]

    def events_about(self, objects: Iterable[Manifest]) -> list[Event]:
        """The warnings about some objects, the newest first; what an object repeats, once."""
        wanted = {
            (manifest["kind"], mapping_at(manifest, "metadata").get("namespace"), manifest["metadata"]["name"])
            for manifest in objects
        }
        events = []
        for manifest in self.by_kind.get("Event", ()):
            about = mapping_at(manifest, "involvedObject")
            if about and (about.get("kind"), about.get("namespace"), about.get("name")) in wanted:
                events.append(_event(about, manifest))
        events.sort(key=lambda event: event.at, reverse=True)
        repeated = grouped(events, lambda event: (event.reason, _VARYING.sub("", event.message)))
        return [alike[0] for alike in repeated.values()]


def _event(about: Mapping[str, Any], manifest: Manifest) -> Event:
    series = mapping_at(manifest, "series")
    keys = ("lastTimestamp", "eventTime", "firstTimestamp")
    times = (series.get("lastObservedTime"), *map(manifest.get, keys))
    at = next((str(time) for time in times if time and moment(str(time))), "")
    count = series.get("count") or manifest.get("count") or 1
    text = str(manifest.get("message") or "").removeprefix("(combined from similar events): ")
    message, reason = one_line(without_credentials(text)), str(manifest.get("reason") or "")
    return Event(f"{about.get('kind')} {about.get('name')}", reason, message, at, int(count))


def inventory_of(reconciler: Manifest) -> tuple[ObjectId, ...] | None:
    """What Flux reports that it applied, in its order; None if it has no inventory.

    Source: the inventory of fluxcd/cli-utils: `namespace_name_group_kind`, with `__` for a colon in the name.
    """
    entries = value_at(reconciler, ("status", "inventory", "entries"))
    if not isinstance(entries, list):
        return None
    ids: list[ObjectId] = []
    for entry in mappings_in(entries):
        namespace, _, rest = str(entry.get("id") or "").partition("_")
        name, _, kind = rest.rpartition("_")
        name, _, group = name.rpartition("_")
        version = str(entry.get("v") or "")
        if name and kind:
            api_version = f"{group}/{version}" if group else version
            ids.append(ObjectId(api_version, kind, namespace, name.replace("__", ":")))
    return tuple(ids)


def read_app(
    hub: Client,
    way: Way,
    reconciler: ObjectId,
    wanted: Sequence[ObjectId] | None,
    namespaces: Iterable[str] = (),
) -> Running | Refused:
    """What an app has on its cluster, as `read_running`; or why the cluster could not be read. way: to the cluster."""
    try:
        with reached(hub, way) as (client, user, note):
            running = read_running(client, reconciler, wanted, namespaces)
    except Refused as refused:
        return refused
    return replace(running, unread=(*filter(None, (note,)), *running.unread), user=user)


def read_running(
    client: Client, reconciler: ObjectId, wanted: Sequence[ObjectId] | None, namespaces: Iterable[str] = ()
) -> Running:
    """What an app has on its cluster.

    Args:   wanted: what Flux says that it applied; None: it does not say. Workloads with Flux's labels in the namespaces are the
            app's, too: during a change, Flux does not name new ones yet. namespaces: where else the app has something.
    Raises: httpx2.RequestError: no answer.
    """
    places = [*dict.fromkeys([*(id.namespace for id in wanted or () if id.namespace), *namespaces])]
    lists = [(kind, place) for place in places[:_NAMESPACES] for kind in AROUND]
    read = requests.in_parallel(lambda pair: _list(client, *pair), lists)
    unread = _joined(failed for failed in read if isinstance(failed, Refused))
    if len(places) > _NAMESPACES:
        unread = (*unread, f"{counted(len(places) - _NAMESPACES, 'more namespace')}")
    by_kind: dict[str, list[Manifest]] = {}
    for (kind, _), manifests in zip(lists, read, strict=True):
        by_kind.setdefault(kind[1], []).extend([] if isinstance(manifests, Refused) else manifests)
    by_id = {id: manifest for manifest in chain.from_iterable(by_kind.values()) if (id := readable_id(manifest))}
    # The labels by which Flux marks everything that an object of it applies.
    group = reconciler.api_version.partition("/")[0]
    labels = {f"{group}/name": reconciler.name, f"{group}/namespace": reconciler.namespace}
    workloads = ((id, manifest) for id, manifest in by_id.items() if id[:2] in WORKLOADS)
    marked = (id for id, manifest in workloads if labels.items() <= labels_of(manifest).items())
    ids = dict.fromkeys([*(wanted or ()), *marked])
    single = [id for id in ids if id not in by_id]
    objects, refused = _single(client, single[:_SINGLE])
    if len(single) > _SINGLE:
        unread = (*unread, counted(len(single) - _SINGLE, "more object"))
    known: dict[ObjectId, Manifest | None] = {**by_id, **objects}
    return Running({id: known[id] for id in ids if id in known}, by_kind, (*unread, *_joined(refused)))


def _list(client: Client, kind: tuple[str, str], namespace: str) -> list[Manifest] | Refused:
    fields = _FIELDS.get(kind[1], "")
    try:
        return list(islice(requests.every(client, *kind, namespace=namespace, fields=fields), _PAGE))
    except Refused as refused:
        return refused


def _single(client: Client, ids: Sequence[ObjectId]) -> tuple[dict[ObjectId, Manifest | None], list[Refused]]:
    def one(id: ObjectId) -> Manifest | Refused | None:
        try:
            return requests.one(client, id, metadata_only=id.api_version == "v1" and id.kind in _METADATA_ONLY)
        except Refused as refused:
            return refused

    read = requests.in_parallel(one, ids)
    objects = {id: answer for id, answer in zip(ids, read, strict=True) if not isinstance(answer, Refused)}
    return objects, [answer for answer in read if isinstance(answer, Refused)]


def _joined(refused: Iterable[Refused]) -> tuple[str, ...]:
    """`events in rocky, limitranges in rocky: HTTP 403`"""
    pairs = (refusal.message.removeprefix("cannot read ").rpartition(": ") for refusal in refused)
    by_reason = grouped(pairs, lambda pair: pair[2])
    return tuple(f"{listed(sorted(what for what, *_ in alike), 4)}: {reason}" for reason, alike in by_reason.items())
