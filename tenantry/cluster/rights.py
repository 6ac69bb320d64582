"""Role bindings in tenants' namespaces that the fleet did not make: they stay in effect, whatever the tenant's role is now."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from tenantry.cluster.requests import every
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.settings import tenant_settings
from tenantry.kube.objects import Manifest
from tenantry.messages.data import mappings_in, value_at
from tenantry.messages.text import counted, lines_of, listed
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

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
