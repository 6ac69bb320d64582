"""Compares running clusters with the plan of an environment, object by object and field by field."""

from __future__ import annotations

import http.client
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from tenantry.cluster.reading import APP_KINDS
from tenantry.cluster.states import states_of
from tenantry.guard.claims import KEPT_KEY, Claim, Kept, claimed, claims, format_kept
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, object_id
from tenantry.load import load_fleet, plan_one
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.flux_status import Readiness
from tests.e2e.clusters import KINDS, PATIENCE, eventually
from tests.e2e.project import Project
from tests.faults.api import Answer, Api

Objects = Mapping[ObjectId, Manifest]

ENVIRONMENT = "tenantry/environment"
MANAGER = "tenantry"
"""Who applies what is planned on the management cluster."""
INSTALLER = "helm-controller"
"""Who applies a baseline on a remote cluster; it adds labels of its own."""
_APPLIERS = {"Kustomization": "kustomize.toolkit.fluxcd.io", "HelmRelease": "helm.toolkit.fluxcd.io"}
"""Kind -> the prefix of the labels that Flux puts on what it applies, which name the object it did that for."""
Kinds = Sequence[tuple[str, str, str, str]]
_LISTED: Kinds = (("", "v1", "Namespace", "namespaces"), *KINDS)
_APPS: Kinds = tuple(each for each in KINDS if each[2] in APP_KINDS)
_RELEASE = "helm.sh/release.v1"
"""The type of the Secrets that Helm keeps its releases in."""
_SECRET = ("data", "stringData")
_QUANTITY = re.compile(r"(-?[0-9.]+)(m|[kMGTPE]i?)?")
_SUFFIXES = {"m": 1e-3} | {
    f"{letter}{binary}": float(base**power)
    for binary, base in (("", 1000), ("i", 1024))
    for power, letter in enumerate("kMGTPE", 1)
}


@dataclass(frozen=True, slots=True)
class Target:
    """What one cluster has to hold.

    planned: with every field that matters. tolerated: what may be there too, in whichever form.
    """

    cluster: str
    planned: Sequence[Manifest]
    manager: str
    tolerated: frozenset[ObjectId] = frozenset()


def differences(project: Project, environment: str) -> list[str]:
    """What the clusters that run hold other than the plan says, a line for each; none if all is as planned."""
    plan, remotes = planned = _planned(project, environment)
    apis = {cluster: Api(project.kubeconfig(cluster)) for cluster in (plan.management, *remotes)}
    return list(_differences(apis, planned))


def remains(project: Project, environment: str) -> list[str]:
    """What the clusters still hold of an environment that was destroyed, a line for each; its namespaces stay."""
    plan, remotes = _planned(project, environment)
    found: list[str] = []
    for cluster in (plan.management, *sorted(remotes)):
        live = listed(Api(project.kubeconfig(cluster)))
        namespaces = frozenset(each for each in live if each.kind == "Namespace")
        found += compared(Target(cluster, [], MANAGER, namespaces), live, environment)
        found += orphans(cluster, {id: each for id, each in live.items() if id not in namespaces}, {})
    return found


def identities(project: Project, environment: str) -> dict[tuple[str, ObjectId], str]:
    """The uid of every object of an environment, by cluster; it tells an object from a new one of the same name."""
    plan, remotes = _planned(project, environment)
    return {
        (cluster, id): manifest["metadata"]["uid"]
        for cluster in (plan.management, *sorted(remotes))
        for id, manifest in listed(Api(project.kubeconfig(cluster))).items()
        if (manifest["metadata"].get("labels") or {}).get(ENVIRONMENT) == environment
    }


def settled(
    project: Project,
    environment: str,
    meanwhile: Callable[[], None] = lambda: None,
    overwritten: re.Pattern[str] | None = None,
) -> None:
    """Wait until the clusters are as planned; a test fails with what is not.

    meanwhile: what a user would do while they are not. overwritten: the differences that an admission policy makes.
    """
    last: list[str] = []
    planned = _planned(project, environment)
    apis = {cluster: Api(project.kubeconfig(cluster)) for cluster in (planned[0].management, *planned[1])}

    def equal() -> bool:
        found = _unready(apis, planned[0]) or _differences(apis, planned)
        last[:] = [each for each in found if not (overwritten and overwritten.search(each))]
        if last:
            meanwhile()
        return not last

    try:
        eventually(equal, "the plan")
    except AssertionError:
        raise AssertionError("\n".join([f"after {PATIENCE} s the clusters are not as planned:", *last])) from None


def _planned(project: Project, environment: str) -> tuple[Plan, frozenset[str]]:
    """The plan with the stack's claim, and the remote clusters that are to be as it says."""
    fleet = load_fleet(project.fleet)
    claim = Claim(environment, f"tenantry/{environment}")
    plan = claimed(plan_one(fleet, environment), fleet.document.platform.namespace, claim)
    clusters = (name for name, each in fleet.clusters.items() if environment in each.environments)
    active = frozenset(name for name in clusters if fleet.clusters[name].state == "active") - {plan.management}
    return plan, active


def _unready(apis: Mapping[str, Api], plan: Plan) -> list[str]:
    """What is surely not as planned, asked with two requests; all the others take as long as Flux takes for an app."""
    try:
        return list(unready(plan, listed(apis[plan.management], _APPS)))
    except (OSError, http.client.HTTPException) as error:
        return [f"{plan.management}: does not answer: {error}"]


def _differences(apis: Mapping[str, Api], planned: tuple[Plan, frozenset[str]]) -> Iterator[str]:
    plan, remotes = planned
    live: dict[str, Objects] = {}
    for cluster in (plan.management, *sorted(remotes)):
        try:
            live[cluster] = listed(apis[cluster])
        except (OSError, http.client.HTTPException) as error:
            yield f"{cluster}: does not answer: {error}"
    hub = live.get(plan.management)
    if hub is None:
        return
    record = _record(plan, hub)
    yield from compared(_tolerating(on_management(_with(plan, record)), record), hub, plan.environment)
    yield from unready(plan, hub)
    for cluster, objects in live.items():
        if cluster != plan.management:
            yield from compared(_tolerating(on_remote(plan, cluster), record), objects, plan.environment)
        left = {each.namespace for each in record if each.cluster == cluster}
        rest = {id: each for id, each in objects.items() if id.kind != "Namespace" or id.name not in left}
        yield from orphans(cluster, rest, hub)


def _record(plan: Plan, hub: Objects) -> tuple[Kept, ...]:
    """The namespaces that the environment's claim records; these may be there."""
    claimed_by = (each for each in claims(hub.values()) if each.environment == plan.environment)
    return tuple(chain.from_iterable(each.kept for each in claimed_by))


def _with(plan: Plan, record: tuple[Kept, ...]) -> Plan:
    """The plan, with a claim that has the record."""
    claim, *rest = plan.objects
    data = {**claim.manifest["data"], **({KEPT_KEY: format_kept(record)} if record else {})}
    return replace(plan, objects=(replace(claim, manifest={**claim.manifest, "data": data}), *rest))


def _tolerating(target: Target, record: tuple[Kept, ...]) -> Target:
    kept = {ObjectId("v1", "Namespace", "", each.namespace) for each in record if each.cluster == target.cluster}
    return replace(target, tolerated=target.tolerated | kept)


def listed(api: Api, kinds: Kinds = _LISTED) -> dict[ObjectId, Manifest]:
    """All objects of the kinds that fleets yield. Raises: OSError: the server does not answer, or not as it should."""
    found: dict[ObjectId, Manifest] = {}
    for group, version, kind, plural in kinds:
        api_version = f"{group}/{version}" if group else version
        answer = _answer(api, f"/{'apis' if group else 'api'}/{api_version}/{plural}")
        # A remote cluster has none of Flux's kinds.
        if answer.message and answer.status != http.HTTPStatus.NOT_FOUND:
            raise OSError(f"{plural}: {answer.message}")
        for item in answer.body.get("items", ()):
            manifest = {**item, "apiVersion": api_version, "kind": kind}
            found[object_id(manifest)] = manifest
    return found


_NOT_YET = (http.HTTPStatus.TOO_MANY_REQUESTS, http.HTTPStatus.SERVICE_UNAVAILABLE)


def _answer(api: Api, path: str) -> Answer:
    """A server that has just begun wants to be asked again."""

    def ask() -> Answer | None:
        answer = api.ask("GET", path)
        return None if answer.status in _NOT_YET else answer

    return eventually(ask, f"{path} to be listed")


def on_management(plan: Plan) -> Target:
    return Target(plan.management, [each.manifest for each in plan.objects], MANAGER)


def on_remote(plan: Plan, cluster: str) -> Target:
    """What the baselines of a remote cluster install there; a suspended one may be behind."""
    of_cluster = [each for each in plan.objects if each.owner.cluster == cluster]
    suspended = [each for each in of_cluster if each.manifest.get("spec", {}).get("suspend")]
    tolerated = frozenset(object_id(each) for release in suspended for each in _installed(release))
    planned = [manifest for each in of_cluster if each not in suspended for manifest in _installed(each)]
    return Target(cluster, planned, INSTALLER, tolerated)


def _installed(planned: KubeObject) -> Sequence[Manifest]:
    """What a baseline's release installs; nothing for any other object."""
    manifest = planned.manifest
    if planned.id.kind != "HelmRelease" or "tenantry/app" in manifest["metadata"]["labels"]:
        return ()
    objects: Sequence[Manifest] = manifest["spec"]["values"]["objects"]
    return objects


def compared(target: Target, live: Objects, environment: str) -> Iterator[str]:
    """What a cluster lacks, has otherwise, or has too much, of what carries the environment's label."""
    wanted = {object_id(manifest): manifest for manifest in target.planned}
    for id, manifest in wanted.items():
        if id not in live:
            yield f"{target.cluster}: {id} is missing"
        else:
            found = chain(unlike(manifest, live[id]), unplanned_fields(manifest, live[id], target.manager))
            yield from (f"{target.cluster}: {id}: {each}" for each in found)
    for id, manifest in live.items():
        ours = (manifest["metadata"].get("labels") or {}).get(ENVIRONMENT) == environment
        if (ours or id in wanted) and "deletionTimestamp" in manifest["metadata"]:
            kept = ", ".join(manifest["metadata"].get("finalizers", ())) or "nothing"
            yield f"{target.cluster}: {id} is in deletion, kept by {kept}"
        elif ours and id not in wanted and id not in target.tolerated:
            yield f"{target.cluster}: {id} is not planned"


def unlike(planned: Manifest, live: Manifest) -> Iterator[str]:
    """The planned fields that an object has otherwise; of a Secret's values it counts that there are some."""
    if planned["kind"] != "Secret":
        yield from _unlike(planned, live, "")
        return
    yield from _unlike({key: value for key, value in planned.items() if key not in _SECRET}, live, "")
    if not live.get("data"):
        yield "data is empty"


def _unlike(planned: Any, live: Any, path: str) -> Iterator[str]:
    if isinstance(planned, Mapping) and isinstance(live, Mapping):
        for key, value in planned.items():
            # What is empty or off, the server may leave out.
            if key in live or value:
                yield from _unlike(value, live.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(planned, list) and isinstance(live, list) and len(planned) == len(live):
        # The server may have put defaults into each entry.
        for index, pair in enumerate(zip(planned, live, strict=True)):
            yield from _unlike(*pair, f"{path}[{index}]")
    elif planned != live and (_quantity(planned) is None or _quantity(planned) != _quantity(live)):
        yield f"{path} is {live!r}, planned is {planned!r}"


def _quantity(value: Any) -> float | None:
    """What a Kubernetes quantity amounts to, however it is written; None for anything else."""
    match = None if isinstance(value, bool) else _QUANTITY.fullmatch(str(value))
    try:
        return float(match[1]) * _SUFFIXES.get(match[2], 1.0) if match else None
    except ValueError:  # several points
        return None


def unplanned_fields(planned: Manifest, live: Manifest, manager: str) -> Iterator[str]:
    """What the manager of the planned fields has set besides, as after an edit that did not reach the server whole."""
    for entry in live["metadata"].get("managedFields", ()):
        if (entry["manager"], entry["operation"], entry.get("subresource")) == (manager, "Apply", None):
            fields = entry["fieldsV1"]
            mine = fields if manager == MANAGER else {key: each for key, each in fields.items() if key != "f:metadata"}
            yield from _besides(mine, planned, "", "data" if planned["kind"] == "Secret" else None)


def _besides(fields: Mapping[str, Any], planned: Any, path: str, hidden: str | None) -> Iterator[str]:
    """hidden: the field whose content no plan holds."""
    for key, below in fields.items():
        name = key.removeprefix("f:")
        # Entries of lists have other prefixes; the lists themselves are compared whole.
        if name == key or not isinstance(planned, Mapping) or (not path and name == hidden):
            continue
        if name not in planned:
            yield f"{path}{name} is set, and not planned"
        else:
            yield from _besides(below, planned[name], f"{path}{name}.", hidden)


def unready(plan: Plan, hub: Objects) -> Iterator[str]:
    """Apps and baselines that Flux does not call ready in the form they have now, unless they wait for a suspended one."""
    reconciled = [each for each in plan.objects if each.id.kind in APP_KINDS]
    apps = tuple(
        PlannedApp(tenant=each.owner.tenant, cluster=each.owner.cluster, name=each.id.name, id=each.id, at=())
        for each in reconciled
    )
    excused = _held_back(reconciled)
    for each in states_of(replace(plan, apps=apps), hub.values(), datetime.now(UTC)).values():
        off = each.stands_for and each.readiness is not Readiness.READY
        if off and each.id in hub and each.id not in excused:
            yield f"{plan.management}: {each.id} is {each.readiness}: {each.message}"


def _held_back(planned: Iterable[KubeObject]) -> set[ObjectId]:
    """What is suspended, and what depends on that by Flux's own rule."""
    found: set[ObjectId] = set()
    for each in planned:  # dependencies come first in a plan
        spec = each.manifest["spec"]
        needed = (
            ObjectId(each.id.api_version, each.id.kind, other.get("namespace", each.id.namespace), other["name"])
            for other in spec.get("dependsOn", ())
        )
        if spec.get("suspend") or any(other in found for other in needed):
            found.add(each.id)
    return found


def orphans(cluster: str, live: Objects, hub: Objects) -> Iterator[str]:
    """What Flux has applied, or Helm noted down, for an object that is no longer on the management cluster.

    What Helm was told to keep stays.
    """
    releases = {_release(each) for id, each in hub.items() if id.kind == "HelmRelease"}
    for id, manifest in live.items():
        labels = manifest["metadata"].get("labels") or {}
        if (manifest["metadata"].get("annotations") or {}).get("helm.sh/resource-policy") == "keep":
            continue
        if manifest.get("type") == _RELEASE and (id.namespace, labels["name"]) not in releases:
            yield f"{cluster}: {id} is of Helm release {id.namespace}/{labels['name']}, which is gone"
        for kind, prefix in _APPLIERS.items():
            name, namespace = labels.get(f"{prefix}/name"), labels.get(f"{prefix}/namespace", "")
            if name and ObjectId(APP_KINDS[kind], kind, namespace, name) not in hub:
                yield f"{cluster}: {id} was applied for {kind} {namespace}/{name}, which is gone"


def _release(manifest: Manifest) -> tuple[str, str]:
    """Where Helm keeps what a HelmRelease has installed, and as what."""
    spec, id = manifest["spec"], object_id(manifest)
    return spec.get("storageNamespace", id.namespace), spec.get("releaseName", id.name)
