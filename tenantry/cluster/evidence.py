"""Evidence that an environment runs what the file says: the objects of apps on its management cluster. It never writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tenantry.cluster.failures import is_cut_off
from tenantry.cluster.inventory import is_own, namespaces_of
from tenantry.cluster.reading import read_objects
from tenantry.cluster.standing import Live, inputs_of
from tenantry.cluster.status import (
    Readiness,
    condition,
    digest_of,
    message_of,
    moment,
    one_line,
    readiness,
    revision_of,
    since_of,
)
from tenantry.flux.schemas import kinds, schema_of
from tenantry.guard.places import Places, whose
from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.data import ABSENT, mapping_at, mappings_in, value_at
from tenantry.messages.text import grouped, printable
from tenantry.plan.after import PACE
from tenantry.plan.engine_order import Chains
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


_WITHOUT_SPEC = ("data", "binaryData")


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
        found = (self._objects.get(id) for id in inputs_of(self._objects[app.id]) if id.kind == "ConfigMap")
        return (*(each.manifest for each in found if each), *self.chain_of(app))


def changed_apps(plan: Plan, apps: Iterable[PlannedApp], live: Live) -> list[PlannedApp]:
    """The apps that are new, or that a run would make something else: another version, source or setting."""
    contents = Contents(plan)
    return [app for app in apps if any(differs(each, live.get(object_id(each))) for each in contents.of(app))]


def differs(planned: Manifest, live: Manifest | None) -> bool:
    """Whether the live object has other content than the planned one. What the API server adds by itself is no difference."""
    if live is None or not is_own(planned, live):
        return True
    if "spec" not in planned:
        return any((planned.get(key) or {}) != (live.get(key) or {}) for key in _WITHOUT_SPEC)
    schema = schema_of(planned["kind"]).spec if planned["kind"] in kinds() else {}
    return not _alike(_content(planned), _content(live), schema)


def _content(manifest: Manifest) -> dict[str, Any]:
    return {key: value for key, value in mapping_at(manifest, "spec").items() if key not in PACE}


def _alike(planned: Any, live: Any, schema: Mapping[str, Any]) -> bool:
    """Whether two values mean the same. schema: Flux's, with the defaults that an API server adds."""
    if planned is ABSENT:
        return bool(live == schema.get("default", ABSENT))
    if isinstance(planned, Mapping) and isinstance(live, Mapping):
        known = schema.get("properties", {})
        return all(
            _alike(planned.get(key, ABSENT), live.get(key, ABSENT), known.get(key, {})) for key in {*planned, *live}
        )
    if isinstance(planned, list) and isinstance(live, list):
        items = schema.get("items", {})
        return len(planned) == len(live) and all(
            _alike(one, other, items) for one, other in zip(planned, live, strict=True)
        )
    return bool(planned == live)


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


def evidence_of(client: Client, plan: Plan, apps: Iterable[PlannedApp]) -> tuple[Evidence, ...]:
    """Whether apps run what the plan says, source, chart and settings alike, and are ready.

    Each object is read once. Raises: Refused: reading is not allowed.
    """
    contents, apps = Contents(plan), tuple(apps)
    planned = {app.id: contents.of(app) for app in apps}
    wanted = dict.fromkeys(object_id(part) for parts in planned.values() for part in parts)
    live = read_objects(client, plan.environment, wanted)
    places = Places(namespaces_of(client)) if live else Places(())

    def evidence(app: PlannedApp) -> Evidence:
        found = live.get(app.id)
        if found is not None and not places.puts(found, whose(found)):
            return Evidence(
                app, f"{app.id} is in a namespace that is not the place of such an object, so it proves nothing"
            )
        return judged(app, planned[app.id], [live.get(object_id(each)) for each in planned[app.id]])

    return tuple(map(evidence, apps))


def judged(app: PlannedApp, planned: Sequence[Manifest], live: Sequence[Manifest | None]) -> Evidence:
    """The evidence of one app.

    Args: planned, live: the ConfigMaps that it reads, its source, its chart if there is one, and its reconciler, in this order.
    """
    different = next(_differences(planned, live), "")
    problem = different or next(_not_ready(planned, live), "")
    reconciler = live[-1]
    if reconciler is None:
        return Evidence(app, problem)
    status = mapping_at(reconciler, "status")
    times = [since_of(reconciler, condition(status, "Ready")), *map(_fetched, live[:-1])]
    since = max((time for time in times if moment(time)), default="", key=lambda each: moment(each) or datetime.min)
    return Evidence(
        app,
        problem,
        revision_of(status),
        since if since_of(reconciler, condition(status, "Ready")) else "",
        is_planned=not different,
        is_unreachable=is_cut_off(reconciler),
    )


def tolerated(plan: Plan, evidence: Iterable[Evidence]) -> frozenset[ObjectId]:
    """The apps that are not ready on their clusters, where these are no more than their waves tolerate.

    plan: of their environment. All that they consist of is as planned on the management cluster, and each is ready somewhere.
    """
    found: set[ObjectId] = set()
    for every in grouped(evidence, lambda each: each.app.full_name).values():
        if not any(each.runs for each in every):
            continue
        bad = [each for each in every if not each.runs and each.is_planned and plan.wave_of(each.app.id)]
        for wave, mine in grouped(bad, lambda each: plan.wave_of(each.app.id)).items():
            assert wave
            lost, failed = (
                {each.app.cluster for each in mine if each.is_unreachable is is_lost} for is_lost in (True, False)
            )
            if len(lost) <= wave.tolerate.unreachable and len(failed) <= wave.tolerate.failed:
                found |= {each.app.id for each in mine}
    return frozenset(found)


def _differences(planned: Sequence[Manifest], live: Sequence[Manifest | None]) -> Iterator[str]:
    """What of an app is not as planned."""
    for wanted, found in zip(planned, live, strict=True):
        name = _name(wanted)
        if found is None:
            yield f"{name}{MISSING}"
        elif not is_own(wanted, found):
            yield f"{name} does not belong to this environment"
        elif wanted["kind"] != "ConfigMap":
            yield from (f"{name} {each}" for each in _other_settings(wanted, found))
        elif differs(wanted, found):
            yield f"{name} has other data than the file says"


def _not_ready(planned: Sequence[Manifest], live: Sequence[Manifest | None]) -> Iterator[str]:
    for wanted, found in zip(planned, live, strict=True):
        if found and wanted["kind"] != "ConfigMap":
            yield from (f"{_name(wanted)} {each}" for each in _unready(found))
    yield from _not_arrived(live)


def _name(planned: Manifest) -> str:
    return f"{planned['kind']} {planned['metadata']['namespace']}/{planned['metadata']['name']}"


def _other_settings(planned: Manifest, live: Manifest) -> Iterator[str]:
    there = mapping_at(live, "spec")
    for key, value in mapping_at(planned, "spec").items():
        if key in PACE or _contains(there.get(key), value):
            continue
        if key in _SHOWN:
            yield printable(f"has {key} {value_in_words(there.get(key))}, not {value_in_words(value)}")
        else:
            yield f"has another {key} than the file says"


def _contains(live: Any, planned: Any) -> bool:
    """Whether a live value is the planned one. API servers add defaults to mappings."""
    if isinstance(planned, Mapping) and isinstance(live, Mapping):
        return all(_contains(live.get(key), value) for key, value in planned.items())
    if isinstance(planned, list) and isinstance(live, list):
        return len(planned) == len(live) and all(map(_contains, live, planned))
    return bool(live == planned)


def value_in_words(value: Any) -> str:
    """Such as `branch main` for a ref."""
    if isinstance(value, Mapping):
        return " ".join(f"{key} {each}" for key, each in value.items())
    return "none" if value is None else str(value)


def _unready(live: Manifest) -> Iterator[str]:
    if live["kind"] == "HelmRepository" and value_at(live, ("spec", "type")) == "oci":
        return  # Flux does not reconcile these: it reads them when it fetches a chart
    ready = condition(mapping_at(live, "status"), "Ready")
    state = readiness(live, ready)
    if state is not Readiness.READY:
        message = one_line(message_of(ready))
        yield f"is {state}: {message}" if message and state is not Readiness.SUSPENDED else f"is {state}"


def _not_arrived(live: Sequence[Manifest | None]) -> Iterator[str]:
    """Whether Flux has applied what it fetched last."""
    *_, content, reconciler = (None, *live)
    fetched = value_at(content, ("status", "artifact", "revision"), "")
    status = mapping_at(reconciler, "status")
    if not fetched or not content:
        return
    applied = revision_of(status)
    if status.get("history") and content["kind"] != "HelmChart":
        # The version of a chart from an OCI artifact is not the artifact's revision, but Flux keeps its digest.
        applied = str(value_at(status, ("history", 0, "ociDigest")) or status.get("lastAttemptedRevisionDigest") or "")
        fetched = digest_of(fetched) if applied else applied
    if applied != fetched:
        yield printable(f"applied {applied or 'nothing'}, and {fetched} has been fetched")


def _fetched(source: Manifest | None) -> str:
    """Since when a source, a chart or a ConfigMap is what it is."""
    if source is not None and source["kind"] == "ConfigMap":
        managers = mappings_in(mapping_at(source, "metadata").get("managedFields"))
        return max((time for manager in managers if isinstance(time := manager.get("time"), str)), default="")
    found = value_at(source, ("status", "artifact", "lastUpdateTime"), "")
    return found if isinstance(found, str) else ""
