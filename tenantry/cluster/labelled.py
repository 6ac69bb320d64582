"""What stands for apps on a management cluster, by the labels of the objects alone: for when the file is invalid or not there.

Labels are claims: a tenant can write any labels in its own namespaces. An object counts where the fleet puts such objects, as the
guard judges it, and where no other object makes the same claim. It never writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from tenantry.cluster import requests
from tenantry.cluster.apps import Selection
from tenantry.cluster.drift import is_pulumi, managers_of
from tenantry.cluster.inventory import APP_KINDS, apps_of, namespaces_of
from tenantry.flux.schemas import kinds, schema_of
from tenantry.guard.places import Places, Whose, label, whose
from tenantry.kube.names import PLATFORM, app_name
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, Owner, labels_of, object_id
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import declared, grouped, listed
from tenantry.plan.engine_order import reference_of
from tenantry.plan.objects.scope import APP_LABEL, ENVIRONMENT_LABEL, MANAGED_BY
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


class LeftOut(NamedTuple):
    """An object, or several, whose labels claim to be an app, and why that is not believed."""

    said: Whose
    app: str
    message: str


class Labelled(NamedTuple):
    """plan: the objects that are believed, in the form of a plan; `spec.suspend` is in it only where the fleet's file set it.

    Its `management` is "" if no object says the name of the management cluster.
    """

    plan: Plan
    left_out: tuple[LeftOut, ...]

    def left_out_of(self, named: Selection) -> list[str]:
        """What is not believed of a selection. It may name add-ons by their tenant `platform`."""
        found = ((each, {each.said.tenant, each.said.tenant or PLATFORM}) for each in self.left_out)
        return [
            each.message
            for each, tenants in found
            if any(named.names(tenant, each.app, each.said.cluster) for tenant in tenants)
        ]


def labelled(client: Client, environment: str) -> Labelled:
    """What an environment's labels are on. Raises: Refused: there is no such object, or reading is not allowed."""
    found = [each for each in apps_of(client, environment) if MANAGED_BY.items() <= labels_of(each).items()]
    if not found:
        raise _nothing(client, environment)
    places = Places(namespaces_of(client))
    reconcilers, left_out = _believed(found, places)
    sources = [each for each in _sources(client, environment, reconcilers) if _is_placed(each, places)]
    objects = [*map(_as_planned, sources), *_with_dependencies(reconcilers)]
    names = {whose(each).cluster for each in reconcilers if "kubeConfig" not in mapping_at(each, "spec")}
    apps = tuple(_app(each) for each in reconcilers if APP_LABEL in labels_of(each))
    return Labelled(Plan(environment, (min(names, default=""),), tuple(objects), (), apps), tuple(left_out))


def _nothing(client: Client, environment: str) -> Refused:
    """Why there is nothing, with the environments that there are."""

    def of_kind(kind: str) -> list[Manifest]:
        return list(requests.every(client, APP_KINDS[kind], kind, selector=ENVIRONMENT_LABEL, metadata_only=True))

    there = {whose(each).environment for each in chain.from_iterable(requests.in_parallel(of_kind, APP_KINDS))}
    message = f"no object on {client.config.cluster.server} has the labels of an app of environment '{environment}'"
    other = "name the management cluster with --kubeconfig and --context"
    fix = f"{declared('name one of these', environment, there)}; or {other}" if there - {""} else other
    return Refused(message, fix, code=UNKNOWN_NAME)


def _believed(found: Iterable[Manifest], places: Places) -> tuple[list[Manifest], list[LeftOut]]:
    """The objects that count, and the claims that do not."""
    reconcilers: list[Manifest] = []
    left_out: list[LeftOut] = []
    for (said, app), claims in grouped(found, lambda each: (whose(each), label(labels_of(each), APP_LABEL))).items():
        placed = [each for each in claims if said.cluster and _is_placed(each, places)]
        where = f"{app_name(said.tenant, app) if app else f'the baseline of {said.tenant}'} on {said.cluster}"
        for each in claims:
            if app and each not in placed:
                message = f"{object_id(each)} has the labels of {where}, but is not where Tenantry puts that"
                left_out.append(LeftOut(said, app, message))
        if app and len(placed) > 1:
            several = listed(sorted(map(object_id, placed)))
            left_out.append(
                LeftOut(said, app, f"{several} all have the labels of {where}: only the file tells which it is")
            )
        else:
            reconcilers += placed
    return reconcilers, left_out


def _is_placed(manifest: Manifest, places: Places) -> bool:
    """Whether an object can be the fleet's where it is. In a tenant's namespace, an app has the name that the file gives it."""
    said, there = whose(manifest), places.tenants(manifest)
    if manifest["kind"] not in APP_KINDS:
        return there is None or said == there.whose
    named = there is None or object_id(manifest).name == label(labels_of(manifest), APP_LABEL)
    return named and places.puts(manifest, said)


def _sources(client: Client, environment: str, reconcilers: Iterable[Manifest]) -> Iterator[Manifest]:
    """The sources and charts that objects refer to, and those of these charts. One list for each kind."""
    selector, read = f"{ENVIRONMENT_LABEL}={environment}", dict[tuple[str, str, str], Manifest]()

    def of_kind(kind: str) -> list[Manifest]:
        return list(requests.every(client, schema_of(kind).api_version, kind, selector=selector))

    asked: set[str] = set()
    wanted = set(_references(reconcilers))
    while wanted:
        new = {kind for kind, *_ in wanted if kind in kinds()} - asked
        asked |= new
        for each in chain.from_iterable(requests.in_parallel(of_kind, sorted(new))):
            id = object_id(each)
            read[id.kind, id.namespace, id.name] = each
        found = [read.pop(each) for each in sorted(wanted) if each in read]
        yield from found
        wanted = set(_references(found))


def _references(manifests: Iterable[Manifest]) -> Iterator[tuple[str, str, str]]:
    for each in manifests:
        if reference := reference_of(each, object_id(each).namespace):
            yield reference


def _with_dependencies(reconcilers: Iterable[Manifest]) -> Iterator[KubeObject]:
    """Baselines first. An app depends on what its object names, and on its baseline."""
    baselines = {
        owner: object_id(each)
        for each in reconcilers
        if APP_LABEL not in labels_of(each) and (owner := _owner(each)).tenant
    }
    for each in sorted(reconcilers, key=lambda manifest: APP_LABEL in labels_of(manifest)):
        id = object_id(each)
        named = (
            ObjectId(id.api_version, id.kind, str(other.get("namespace") or id.namespace), str(other.get("name")))
            for other in mappings_in(mapping_at(each, "spec").get("dependsOn"))
        )
        baseline = baselines.get(_owner(each))
        yield _as_planned(each, (*named, *([baseline] if baseline and baseline != id else [])))


def _as_planned(manifest: Manifest, depends_on: tuple[ObjectId, ...] = ()) -> KubeObject:
    """The object as the file has it, as far as the object itself says."""
    if mapping_at(manifest, "spec").get("suspend") and not is_paused_by_file(manifest):
        spec = {key: value for key, value in manifest["spec"].items() if key != "suspend"}
        manifest = {**manifest, "spec": spec}
    return KubeObject(manifest, _owner(manifest), depends_on)


def is_paused_by_file(suspended: Manifest) -> bool:
    """Whether the file may be what suspends an object: a run has set the field, or nobody says who has."""
    managers = list(managers_of(suspended, ("spec", "suspend")))
    return not managers or any(map(is_pulumi, managers))


def _owner(manifest: Manifest) -> Owner:
    said = whose(manifest)
    return Owner(said.tenant, said.cluster)


def _app(manifest: Manifest) -> PlannedApp:
    said = whose(manifest)
    name = label(labels_of(manifest), APP_LABEL)
    return PlannedApp(tenant=said.tenant, cluster=said.cluster, name=name, id=object_id(manifest), at=())
