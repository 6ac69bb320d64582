"""What an app has on its cluster: its objects with their states, and what belongs to them: pods, events, quotas.

It reads a handful of lists for each namespace, a page of each, and never the values of a Secret. It never writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from tenantry.cluster import requests
from tenantry.cluster.health import Health, State, Trouble, pod_trouble, state_of_object
from tenantry.cluster.reach import Connect, Way, connected, reached
from tenantry.kube.objects import Manifest, ObjectId, labels_of, readable_id
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.errors import Refused
from tenantry.messages.redact import without_credentials
from tenantry.messages.text import counted, grouped, listed, one_line
from tenantry.rollout.flux_status import moment

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
        """The state of one of the app's objects; that of a workload tells what its pods say."""
        if id not in self.objects:
            return State(Health.UNKNOWN, "it was not read")
        found = self.objects[id]
        state = state_of_object(found)
        if found is None or (id.api_version, id.kind) not in WORKLOADS:
            return state
        if id.kind == "CronJob":
            return next(filter(None, map(self._failed_job, self._latest_jobs(found))), state)
        if state.health is Health.READY:
            return state
        trouble = next(iter(self.troubles(found)), None)
        if trouble is None:
            return state
        said = trouble[1].why if state.why.endswith(trouble[1].why) else f"{state.why}: {trouble[1].why}"
        health = Health.FAILED if trouble[1].lasts else state.health
        return State(health, said, self.since(*trouble) or state.since)

    def since(self, pod: Manifest, trouble: Trouble) -> str:
        """Since when a pod has a trouble, or when the last warning about the pod came; "" if nothing tells."""
        return trouble.since or next((each.at for each in self.events_about([pod])), "")

    def states(self) -> dict[ObjectId, State]:
        """The state of each of the app's objects."""
        return {id: self.state_of(id) for id in self.objects}

    def troubles(self, owner: Manifest) -> list[tuple[Manifest, Trouble]]:
        """The pods of a workload with what keeps each from being ready; what waiting does not cure comes first."""
        pods = [each for each in self.owned(owner) if each["kind"] == "Pod"]
        found = [(pod, trouble) for pod in pods if (trouble := pod_trouble(pod))]
        return sorted(found, key=lambda each: (not each[1].lasts, each[1].reason == "Unschedulable"))

    def owned(self, owner: Manifest, levels: int = _LEVELS) -> list[Manifest]:
        """What a workload owns, down to its pods."""
        uid = mapping_at(owner, "metadata").get("uid")
        below = [
            each
            for kind in ("ReplicaSet", "Job", "Pod", "PersistentVolumeClaim")
            for each in self.by_kind.get(kind, ())
            if uid and uid in {reference.get("uid") for reference in _owners(each)}
        ]
        if levels == 1:
            return below
        return [*below, *(deeper for each in below if each["kind"] != "Pod" for deeper in self.owned(each, levels - 1))]

    def events_about(self, objects: Iterable[Manifest]) -> list[Event]:
        """The warnings about some objects, the newest first; what an object repeats, once."""
        wanted = {
            (each["kind"], mapping_at(each, "metadata").get("namespace"), each["metadata"]["name"]) for each in objects
        }
        found = [
            (about, each)
            for each in self.by_kind.get("Event", ())
            if (about := mapping_at(each, "involvedObject"))
            and (about.get("kind"), about.get("namespace"), about.get("name")) in wanted
        ]
        events = sorted((_event(about, each) for about, each in found), key=lambda each: each.at, reverse=True)
        return [
            same[0] for same in grouped(events, lambda each: (each.reason, _VARYING.sub("", each.message))).values()
        ]

    def _latest_jobs(self, cron: Manifest) -> list[Manifest]:
        jobs = [each for each in self.owned(cron) if each["kind"] == "Job"]
        return sorted(jobs, key=lambda each: str(each["metadata"].get("creationTimestamp")), reverse=True)[:1]

    def _failed_job(self, job: Manifest) -> State | None:
        state = state_of_object(job)
        return (
            State(Health.FAILED, f"its last job failed: {state.why}", state.since)
            if state.health is Health.FAILED
            else None
        )


def _owners(found: Manifest) -> list[dict[str, Any]]:
    return mappings_in(mapping_at(found, "metadata").get("ownerReferences"))


def _event(about: Mapping[str, Any], found: Manifest) -> Event:
    series = mapping_at(found, "series")
    times = (
        series.get("lastObservedTime"),
        found.get("lastTimestamp"),
        found.get("eventTime"),
        found.get("firstTimestamp"),
    )
    at = next((str(each) for each in times if each and moment(str(each))), "")
    count = series.get("count") or found.get("count") or 1
    told = str(found.get("message") or "").removeprefix("(combined from similar events): ")
    said = one_line(without_credentials(told))
    return Event(f"{about.get('kind')} {about.get('name')}", str(found.get("reason") or ""), said, at, int(count))


def inventory_of(reconciler: Manifest) -> tuple[ObjectId, ...] | None:
    """What Flux reports that it applied, in its order; None if it has no inventory.

    Source: the inventory of fluxcd/cli-utils: `namespace_name_group_kind`, with `__` for a colon in the name.
    """
    entries = value_at(reconciler, ("status", "inventory", "entries"))
    if not isinstance(entries, list):
        return None
    found: list[ObjectId] = []
    for entry in mappings_in(entries):
        namespace, _, rest = str(entry.get("id") or "").partition("_")
        name, _, kind = rest.rpartition("_")
        name, _, group = name.rpartition("_")
        version = str(entry.get("v") or "")
        if name and kind:
            api_version = f"{group}/{version}" if group else version
            found.append(ObjectId(api_version, kind, namespace, name.replace("__", ":")))
    return tuple(found)


class Asked(NamedTuple):
    """What `read_running` is asked of an app, and the way to its cluster."""

    way: Way
    reconciler: ObjectId
    wanted: Sequence[ObjectId] | None
    namespaces: tuple[str, ...] = ()


def read_all(hub: Client, asked: Iterable[Asked], connect: Connect = connected) -> list[Running | Refused]:
    """What each app has on its cluster, in the same order, or why the cluster could not be read."""
    asked = list(asked)

    def of_cluster(group: tuple[Way, list[Asked]]) -> dict[ObjectId, Running | Refused]:
        way, apps = group
        try:
            with reached(hub, way, connect) as there:
                notes = (there.note,) if there.note else ()
                read = {app.reconciler: read_running(there.client, *app[1:]) for app in apps}
                return {
                    id: replace(found, unread=(*notes, *found.unread), user=there.user) for id, found in read.items()
                }
        except Refused as refused:
            return {app.reconciler: refused for app in apps}

    found = requests.in_parallel(of_cluster, grouped(asked, lambda each: each.way).items())
    by_app = {id: each for group in found for id, each in group.items()}
    return [by_app[each.reconciler] for each in asked]


def flux_labels(reconciler: ObjectId) -> dict[str, str]:
    """The labels by which Flux marks everything that an object of it applies."""
    group = reconciler.api_version.partition("/")[0]
    return {f"{group}/name": reconciler.name, f"{group}/namespace": reconciler.namespace}


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
    read = requests.in_parallel(lambda each: _list(client, *each), lists)
    unread = _joined(failed for failed in read if isinstance(failed, Refused))
    if len(places) > _NAMESPACES:
        unread = (*unread, f"{counted(len(places) - _NAMESPACES, 'more namespace')}")
    by_kind: dict[str, list[Manifest]] = {}
    for (kind, _), found in zip(lists, read, strict=True):
        by_kind.setdefault(kind[1], []).extend([] if isinstance(found, Refused) else found)
    there = {id: each for found in by_kind.values() for each in found if (id := readable_id(each))}
    labels = flux_labels(reconciler)
    marked = (id for id, each in there.items() if id[:2] in WORKLOADS and labels.items() <= labels_of(each).items())
    ids = dict.fromkeys([*(wanted or ()), *marked])
    single = [id for id in ids if id not in there]
    objects, refused = _each(client, single[:_SINGLE])
    if len(single) > _SINGLE:
        unread = (*unread, counted(len(single) - _SINGLE, "more object"))
    known: dict[ObjectId, Manifest | None] = {**there, **objects}
    return Running({id: known[id] for id in ids if id in known}, by_kind, (*unread, *_joined(refused)))


def _list(client: Client, kind: tuple[str, str], namespace: str) -> list[Manifest] | Refused:
    fields = _FIELDS.get(kind[1], "")
    try:
        return list(islice(requests.every(client, *kind, namespace=namespace, fields=fields), _PAGE))
    except Refused as refused:
        return refused


def _each(client: Client, ids: Sequence[ObjectId]) -> tuple[dict[ObjectId, Manifest | None], list[Refused]]:
    def one(id: ObjectId) -> Manifest | Refused | None:
        try:
            return requests.one(client, id, metadata_only=id.api_version == "v1" and id.kind in _METADATA_ONLY)
        except Refused as refused:
            return refused

    read = requests.in_parallel(one, ids)
    objects = {id: found for id, found in zip(ids, read, strict=True) if not isinstance(found, Refused)}
    return objects, [found for found in read if isinstance(found, Refused)]


def _joined(refused: Iterable[Refused]) -> tuple[str, ...]:
    """`events in rocky, limitranges in rocky: HTTP 403`"""
    by_reason = grouped(refused, lambda each: each.message.rpartition(": ")[2])
    return tuple(
        f"{listed(sorted(each.message.removeprefix('cannot read ').rpartition(': ')[0] for each in same), 4)}: {reason}"
        for reason, same in by_reason.items()
    )
