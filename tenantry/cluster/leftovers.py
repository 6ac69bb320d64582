"""Objects of an environment that the file does not plan, that nobody's state knows, or that cannot make progress by themselves; and
role bindings in tenants' namespaces that the fleet did not make.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from tenantry.cluster import requests
from tenantry.cluster.reading import APP_KINDS
from tenantry.cluster.requests import every
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.settings import tenant_settings
from tenantry.guard.claims import CLAIM_LABEL, Kept
from tenantry.guard.places import Places, whose
from tenantry.kube.objects import Manifest, ObjectId, group_of, holds_data, labels_of, object_id, readable_id
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted, lines_of, listed, one_line
from tenantry.plan.objects.lifecycle import is_given_up
from tenantry.plan.objects.scope import APP_LABEL, MANAGED_BY, TENANT_LABEL
from tenantry.plan.plan import Plan
from tenantry.rollout.flux_status import condition, message_of, ready_of

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


def leftovers(plan: Plan, owned: Iterable[Manifest]) -> list[ObjectId]:
    """The environment's objects that are neither planned nor being deleted, and that a run removes.

    owned: their metadata. Claims are not part of a plan, and are left out.
    """
    return sorted(set(_unplanned(plan, (manifest for manifest in owned if not _is_retained(manifest)))))


def remains(plan: Plan, owned: Iterable[Manifest]) -> list[ObjectId]:
    """As `leftovers`, those that no run removes: they can hold data, and nobody off-boarded them."""
    return sorted(set(_unplanned(plan, filter(_is_retained, owned))))


def _unplanned(plan: Plan, owned: Iterable[Manifest]) -> Iterator[ObjectId]:
    planned = {item.id for item in plan.objects}
    ids = (readable_id(manifest) for manifest in owned if is_leftover(manifest))
    yield from (id for id in ids if id and id not in planned)


def is_leftover(manifest: Manifest) -> bool:
    """Whether an object that is not planned is not being deleted, and is no claim, which a stack keeps for itself."""
    return not manifest["metadata"].get("deletionTimestamp") and CLAIM_LABEL not in labels_of(manifest)


def _is_retained(manifest: Manifest) -> bool:
    id = readable_id(manifest)
    return bool(id and holds_data(group_of(id.api_version), id.kind)) and not is_given_up(manifest)


def format_undeclared(environment: str, undeclared: Iterable[ObjectId]) -> str:
    """A message about `leftovers` with a fix on a second line; "" if there are none."""
    ids = list(undeclared)
    if not ids:
        return ""
    are, them = ("is", "it") if len(ids) == 1 else ("are", "them")
    return (
        f"{counted(len(ids), 'object')} of environment '{environment}' on its management cluster {are} not in the file:"
        f" {listed(ids)}\n"
        f"  fix: `tenantry up` removes {them} if its stack's state has {them}. Objects that remain after it were created by an"
        " interrupted run: run `tenantry up` with the file of that run, then with this one. Those in a tenant's namespace can also"
        " be the tenant's own, with copied labels: ask the tenant"
    )


def format_retained(retained: Iterable[ObjectId], kept: Iterable[Kept]) -> str:
    """The same about `remains`, without what is in the namespaces that a claim records."""
    known = {namespace.namespace for namespace in kept}
    ids = [id for id in retained if (id.name if id.kind == "Namespace" else id.namespace) not in known]
    if not ids:
        return ""
    are, them = ("is", "it") if len(ids) == 1 else ("are", "them")
    return (
        f"{counted(len(ids), 'object')} with data on the management cluster {are} not in the file: {listed(ids)}\n"
        f"  fix: declare {them} again; no run deletes {them} without 'state: offboarding'"
    )


def format_kept(environment: str, kept: Iterable[Kept]) -> str:
    """A message about the namespaces that the claims record; "" if there are none."""
    kept = sorted(kept)
    if not kept:
        return ""
    places = (f"'{entry.namespace}' on {entry.cluster} ({entry.owner}, since {entry.since})" for entry in kept)
    hold, are = ("holds", "is") if len(kept) == 1 else ("hold", "are")
    return (
        f"{counted(len(kept), 'namespace')} of environment '{environment}' {hold} data and {are} no longer in the file:"
        f" {listed(places)}\n"
        "  fix: declare the tenant again with 'adopt: true' to go on with its data, and with 'state: offboarding' too to delete"
        " it for good"
    )


_RECONCILERS = ("Kustomization", "HelmRelease")
_PAUSE = 1.0


class Orphans(NamedTuple):
    """proven: a run has to delete them by itself. others: a tenant can have made them."""

    proven: list[Manifest]
    others: list[Manifest]


def orphans(unplanned: Iterable[Manifest], places: Places, is_in_state: Callable[[ObjectId], bool]) -> Orphans:
    """Those of an environment's unplanned objects that no run of Pulumi deletes; what can hold data stays, and is left out.

    Args: places: labels count only where the fleet puts such objects. is_in_state: whether Pulumi deletes an object.
    """
    proven: list[Manifest] = []
    others: list[Manifest] = []
    for manifest in unplanned:
        id, owner = readable_id(manifest), whose(manifest)
        if id is None or holds_data(group_of(id.api_version), id.kind) or not is_leftover(manifest):
            continue
        if not MANAGED_BY.items() <= labels_of(manifest).items() or is_in_state(id):
            continue
        place = places.tenants(manifest)
        if place is None:
            proven += [manifest] if id.kind not in _RECONCILERS or places.puts(manifest, owner) else []
        elif owner == place.whose:
            others.append(manifest)
    return Orphans(proven, others)


def delete(client: Client, orphaned: Sequence[Manifest], seconds: float) -> None:
    """Delete orphans in the order of a teardown: first apps, then baselines, then what these need, each gone before the next.

    Raises: Refused: the server does not allow it, or Flux has not cleaned up in time.
    """
    end = time.monotonic() + seconds

    def metadata(id: ObjectId) -> Manifest | None:
        return requests.one(client, id, metadata_only=True)

    for group in _in_order(orphaned):
        uids = {object_id(manifest): str(manifest["metadata"].get("uid", "")) for manifest in group}
        requests.in_parallel(lambda item: requests.deleted(client, *item), uids.items())
        while remaining := [manifest for manifest in requests.in_parallel(metadata, uids) if manifest]:
            if time.monotonic() > end:
                ids = listed(object_id(manifest) for manifest in remaining)
                raise Refused(
                    f"Flux has not cleaned up in {seconds:g} s what an interrupted run had created: {ids}",
                    "look at why with `tenantry status`, then run the same command again",
                )
            time.sleep(_PAUSE)


def _in_order(manifests: Iterable[Manifest]) -> Iterator[list[Manifest]]:
    ranked: dict[int, list[Manifest]] = {}
    for manifest in manifests:
        rank = (1 if APP_LABEL in labels_of(manifest) else 2) if manifest["kind"] in _RECONCILERS else 3
        ranked.setdefault(rank, []).append(manifest)
    yield from (ranked[rank] for rank in sorted(ranked))


def stuck(manifests: Iterable[Manifest], places: Places | None) -> Iterator[str]:
    """A message, with a fix on a second line, for each stuck Kustomization or HelmRelease that is where the fleet puts it.

    places: None: not known, so that the labels of all objects are believed.
    """
    for manifest in manifests:
        id, owner = readable_id(manifest), whose(manifest)
        if id is None or id.kind not in APP_KINDS or not owner.cluster:
            continue
        if places is not None and not places.puts(manifest, owner):
            continue
        if since := manifest["metadata"].get("deletionTimestamp"):
            yield _deleting(manifest, owner.cluster, since)
        elif _lost_track(manifest):
            yield _lost_release(manifest, owner.cluster)


def _deleting(manifest: Manifest, cluster: str, since: str) -> str:
    ready = ready_of(manifest)
    message = one_line(message_of(ready)) if ready.get("status") == "False" else ""
    wait = "wait until Flux has cleaned up, then run `tenantry up` again"
    give_up = (
        f". If '{cluster}' is gone for good: restore the removed entries in the file, set 'state: decommissioned' on '{cluster}',"
        " run `tenantry up`, then remove the entries again"
    )
    remote = "kubeConfig" in mapping_at(manifest, "spec")
    return (
        f"{_named(manifest, cluster)} has been deleting since {since}; waiting for Flux to clean up on"
        f" {cluster}{f': {message}' if message else ''}\n  fix: {wait}{give_up if remote else ''}"
    )


def _lost_track(manifest: Manifest) -> bool:
    """Whether a release is installed correctly, but its status does not say so and is not about to."""
    status = mapping_at(manifest, "status")
    return (
        value_at(status, ("history", 0, "status")) == "deployed"
        and status.get("observedGeneration") == manifest["metadata"].get("generation")
        and condition(status, "Ready").get("reason") == "Progressing"
        and not condition(status, "Reconciling")
        and not condition(status, "Released")
        and not mapping_at(manifest, "spec").get("suspend")
    )


def _lost_release(manifest: Manifest, cluster: str) -> str:
    metadata = manifest["metadata"]
    return (
        f"{_named(manifest, cluster)} is installed, but Flux lost track of the release and will never report it ready; what"
        f" depends on it waits\n  fix: flux reconcile helmrelease {metadata['name']} --namespace {metadata['namespace']} --force"
    )


def _named(manifest: Manifest, cluster: str) -> str:
    labels = labels_of(manifest)
    tenant, app = labels.get(TENANT_LABEL), labels.get(APP_LABEL)
    what = f"app '{app}'" if app else "the baseline"
    owner = f"{what} of tenant '{tenant}'" if tenant else f"add-on '{app}'"
    return f"{object_id(manifest)} ({owner} on {cluster})"


_OWN = "tenantry"
"""The names of the bindings of roles begin so, and the admission policies keep everybody else from such names."""


class Rights(NamedTuple):
    """roles: of the tenant and of its owners on one cluster. bindings: the names of those that the fleet makes there."""

    tenant: str
    roles: frozenset[str]
    bindings: frozenset[str]


def rights_by_cluster(fleet: Fleet, plan: Plan) -> defaultdict[str, dict[str, Rights]]:
    """Who has which roles in the tenants' namespaces, by cluster and namespace, as the file says."""
    rights: defaultdict[str, dict[str, Rights]] = defaultdict(dict)
    bindings = _planned_bindings(plan)
    for tenant, cluster, namespaces in ((place.tenant, place.cluster, place.namespaces) for place in plan.placements):
        settings = tenant_settings(fleet, tenant, plan.environment, cluster)
        roles = frozenset((settings.role, *(owner.role for owner in settings.owners)))
        for namespace in namespaces:
            rights[cluster][namespace] = Rights(tenant, roles, frozenset(bindings[cluster, namespace]))
    return rights


def _planned_bindings(plan: Plan) -> dict[tuple[str, str], set[str]]:
    """The names of the fleet's own bindings, by cluster and namespace. Those of remotes stand in the values of baselines."""
    apps = {app.id for app in plan.apps}
    names: dict[tuple[str, str], set[str]] = defaultdict(set)
    for planned in plan.objects:
        if planned.id in apps:
            continue
        installed = mappings_in(value_at(planned.manifest, ("spec", "values", "objects")))
        for manifest in chain([planned.manifest], installed):
            if manifest["kind"] == "RoleBinding":
                names[planned.owner.cluster, manifest["metadata"]["namespace"]].add(manifest["metadata"]["name"])
    return names


def foreign_bindings(client: Client, rights: Mapping[str, Rights]) -> dict[str, list[Manifest]]:
    """By tenant, the bindings on a cluster that give rights which nobody of the tenant may give today.

    Of a tenant in which nobody has the role `admin`, these are all that the fleet did not make: people and Flux cannot make
    bindings there. Otherwise they are those that give `cluster-admin`, and of a tenant that has it, none.
    Raises: Refused: the bindings may not be read.
    """
    found: dict[str, list[Manifest]] = defaultdict(list)
    for binding in every(client, "rbac.authorization.k8s.io/v1", "RoleBinding") if rights else ():
        there = rights.get(binding["metadata"]["namespace"])
        name = binding["metadata"]["name"]
        if there is None or name in there.bindings or name.startswith(_OWN) or "cluster-admin" in there.roles:
            continue
        role = binding["roleRef"]
        if "admin" not in there.roles or (role["kind"], role["name"]) == ("ClusterRole", "cluster-admin"):
            found[there.tenant].append(binding)
    return dict(sorted(found.items()))


def format_bindings(found: Mapping[str, Sequence[Manifest]]) -> Iterator[tuple[str, str]]:
    """For each tenant a message, and what to type about the first binding."""
    for tenant, bindings in found.items():
        metadata = bindings[0]["metadata"]
        message = (
            f"{counted(len(bindings), 'role binding')} in namespaces of tenant '{tenant}' {'is' if len(bindings) == 1 else 'are'}"
            f" not Tenantry's and {'stays' if len(bindings) == 1 else 'stay'} in effect, whatever the tenant's role is"
            f"\n{lines_of(map(_described, bindings))}"
        )
        fix = "if nobody needs it, and once Tenantry's own bindings exist: kubectl delete rolebinding"
        yield message, f"{fix} {metadata['name']} --namespace {metadata['namespace']}"


def _described(binding: Manifest) -> str:
    """rocky/own: Role deployer for User jane, ServiceAccount rocky/robot"""
    metadata, role = binding["metadata"], binding["roleRef"]
    subjects = [
        f"{subject['kind']} {'/'.join(filter(None, (subject.get('namespace'), subject['name'])))}"
        for subject in binding.get("subjects") or ()
    ]
    return (
        f"{metadata['namespace']}/{metadata['name']}: {role['kind']} {role['name']} for {listed(subjects) or 'nobody'}"
    )
