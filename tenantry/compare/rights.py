"""Who gets `cluster-admin` in tenants' namespaces, as far as two plans differ in it.

A ClusterRole's name says nothing of its rules, so `cluster-admin` is the only role whose rights are known here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tenantry.fleet.rules.frames import CLUSTER_ADMIN
from tenantry.kube.objects import KubeObject, Manifest
from tenantry.messages.data import mapping_at
from tenantry.plan.plan import Plan

_OF_FLUX = "system:serviceaccount:"


class ClusterAdmin(NamedTuple):
    """Somebody with `cluster-admin` in a tenant's namespaces on a cluster."""

    tenant: str
    cluster: str
    who: str


def new_admins(before: Plan, after: Plan) -> tuple[ClusterAdmin, ...]:
    """Those that only the second plan has, each once."""
    there = set(_admins(before))
    return tuple(each for each in dict.fromkeys(_admins(after)) if each not in there)


def newly_allowed(before: Plan, after: Plan) -> tuple[str, ...]:
    """The tenants that only the second plan allows to give `cluster-admin`, whether they do or not."""
    there = set(_allowed(before))
    return tuple(each for each in dict.fromkeys(_allowed(after)) if each not in there)


def _allowed(plan: Plan) -> Iterator[str]:
    return (each.tenant for each in plan.placements if each.cluster_admin)


def _admins(plan: Plan) -> Iterator[ClusterAdmin]:
    apps = {each.id for each in plan.apps}
    for each in plan.objects:
        if each.owner.tenant and each.id not in apps:
            for binding in _bindings(each):
                for subject in binding.get("subjects", ()):
                    yield ClusterAdmin(each.owner.tenant, each.owner.cluster, _in_words(subject))


def _bindings(planned: KubeObject) -> Iterator[Manifest]:
    """The bindings to `cluster-admin` that an object is, or that it installs as the baseline of a remote cluster."""
    objects = mapping_at(dict(planned.manifest), "spec", "values").get("objects", ())
    for manifest in (planned.manifest, *objects):
        if manifest["kind"] == "RoleBinding" and manifest["roleRef"]["name"] == CLUSTER_ADMIN:
            yield manifest


def _in_words(subject: dict[str, Any]) -> str:
    kind, name = subject["kind"], subject["name"]
    if kind == "ServiceAccount":
        return f"service account {subject['namespace']}/{name}"
    return "its apps" if kind == "User" and name.startswith(_OF_FLUX) else f"{kind.lower()} '{name}'"
