"""Namespaces that would go while Flux still has something of an app in them.

A baseline on a remote cluster is updated before any app is deleted, because the engine deletes last. The tenant's rights in
the namespace would go first then, and the app could never be cleaned up. On the management cluster the engine deletes the
namespace itself, after its apps; there only an app that stays, and moves out in the same run, would come too late.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.errors import Refused
from tenantry.kube import Manifest, ObjectId
from tenantry.plan import Plan


def installed_in(manifest: Manifest) -> frozenset[str]:
    """The namespaces that Flux has applied something in for a Kustomization or HelmRelease; none if it is suspended."""
    inventory: Mapping[str, Any] = (manifest.get("status") or {}).get("inventory") or {}
    if (manifest.get("spec") or {}).get("suspend"):
        return frozenset()
    # An entry is `<namespace>_<name>_<group>_<kind>`.
    return frozenset(entry["id"].partition("_")[0] for entry in inventory.get("entries") or ()) - {""}


def check_occupied(
    plan: Plan,
    apps: Mapping[ObjectId, tuple[str, str, str, bool]],
    installed: Mapping[ObjectId, frozenset[str]],
    leaving: frozenset[tuple[str, str, str]],
) -> None:
    """Args: apps: identity -> (tenant, cluster, app, _). leaving: (tenant, cluster, namespace) that are there and not planned.

    Raises: Refused: an app is in the way.
    """
    for (tenant, cluster, namespace), names in _occupants(plan, apps, installed, leaving).items():
        listed = ", ".join(f"'{name}'" for name in names)
        raise Refused(
            f"namespace '{namespace}' of tenant '{tenant}' would leave {cluster} before what is installed there (app {listed}),"
            " and Flux could not clean up any more",
            "keep the namespace for one `pulumi up` in which these apps are removed or moved, and remove it when they are gone"
            " from there",
        )


def _occupants(
    plan: Plan,
    apps: Mapping[ObjectId, tuple[str, str, str, bool]],
    installed: Mapping[ObjectId, frozenset[str]],
    leaving: frozenset[tuple[str, str, str]],
) -> dict[tuple[str, str, str], list[str]]:
    """The apps that are in the way, by what would leave; a placement that goes as a whole goes in order."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for place, name in sorted(_pairs(plan, apps, installed)):
        if place in leaving:
            found.setdefault(place, []).append(name)
    return found


def _pairs(
    plan: Plan, apps: Mapping[ObjectId, tuple[str, str, str, bool]], installed: Mapping[ObjectId, frozenset[str]]
) -> Iterator[tuple[tuple[str, str, str], str]]:
    placed = {(each.tenant, each.cluster) for each in plan.placements}
    planned = {each.id for each in plan.apps}
    for id, (tenant, cluster, app, _) in apps.items():
        if (tenant, cluster) in placed and (cluster != plan.management or id in planned):
            yield from (((tenant, cluster, namespace), app) for namespace in installed.get(id, ()))
