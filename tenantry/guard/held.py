"""What a management cluster holds of an environment, according to the fleet's labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.plan.objects.lifecycle import STATE_LABEL
from tenantry.plan.objects.scope import APP_LABEL, CLUSTER_LABEL, ENVIRONMENT_LABEL, TENANT_LABEL


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldApp:
    """A Kustomization or HelmRelease of an app, or of an add-on if the tenant is "".

    leaving: an earlier run has given it up. suspended: Flux leaves it alone, and not because its cluster was given up.
    installed: the namespaces on the cluster that Flux has applied something in for it.
    """

    tenant: str
    cluster: str
    name: str
    leaving: bool = False
    suspended: bool = False
    installed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The objects on the cluster.

    namespaces: (tenant, cluster, namespace) -> leaving. kubeconfigs: cluster -> its kubeconfig's (namespace, name).
    strangers: objects that are not the environment's. frozen: (tenant, cluster) with a suspended baseline.
    """

    namespaces: Mapping[tuple[str, str, str], bool]
    apps: Mapping[ObjectId, HeldApp]
    kubeconfigs: Mapping[str, tuple[str, str]]
    strangers: frozenset[ObjectId] = frozenset()
    frozen: frozenset[tuple[str, str]] = frozenset()


def held(manifests: Iterable[Manifest], environment: str) -> Held:
    """What Namespaces, Kustomizations and HelmReleases of an environment stand for; of others only who they are."""
    namespaces: dict[tuple[str, str, str], bool] = {}
    apps: dict[ObjectId, HeldApp] = {}
    kubeconfigs: dict[str, tuple[str, str]] = {}
    strangers: set[ObjectId] = set()
    frozen: set[tuple[str, str]] = set()
    for manifest in manifests:
        labels = manifest["metadata"].get("labels") or {}
        tenant, cluster, app = (labels.get(key, "") for key in (TENANT_LABEL, CLUSTER_LABEL, APP_LABEL))
        if labels.get(ENVIRONMENT_LABEL) != environment:
            strangers.add(object_id(manifest))
            continue
        if not cluster:
            continue
        leaving, suspended = STATE_LABEL in labels, _is_suspended(manifest)
        if app:
            apps[object_id(manifest)] = HeldApp(
                tenant=tenant,
                cluster=cluster,
                name=app,
                leaving=leaving,
                suspended=suspended,
                installed=_installed_in(manifest),
            )
        elif tenant:
            namespaces |= {(tenant, cluster, name): leaving or gone for name, gone in _namespaces(manifest)}
            frozen |= {(tenant, cluster)} if suspended else set()
        if reference := _kubeconfig(manifest):
            kubeconfigs[cluster] = reference
    return Held(
        namespaces=namespaces,
        apps=apps,
        kubeconfigs=kubeconfigs,
        strangers=frozenset(strangers),
        frozen=frozenset(frozen),
    )


def _is_suspended(manifest: Manifest) -> bool:
    """By the fleet or by hand; what a cluster that is given up leaves behind, it is meant to."""
    decommissioned = (manifest["metadata"].get("labels") or {}).get(STATE_LABEL) == "decommissioned"
    return bool((manifest.get("spec") or {}).get("suspend")) and not decommissioned


def _installed_in(manifest: Manifest) -> frozenset[str]:
    """Namespaces in its inventory. Empty if it is suspended: then Flux cleans up nothing."""
    inventory: Mapping[str, Any] = (manifest.get("status") or {}).get("inventory") or {}
    if (manifest.get("spec") or {}).get("suspend"):
        return frozenset()
    # An entry is `<namespace>_<name>_<group>_<kind>`.
    return frozenset(entry["id"].partition("_")[0] for entry in inventory.get("entries") or ()) - {""}


def _namespaces(manifest: Manifest) -> list[tuple[str, bool]]:
    """Those that an object is or, as a baseline's release, installs; and whether each by itself was given up."""
    if manifest["kind"] == "Namespace":
        return [(manifest["metadata"]["name"], False)]
    objects = ((manifest.get("spec") or {}).get("values") or {}).get("objects")
    installed = objects if isinstance(objects, list) else []
    found = (each["metadata"] for each in installed if isinstance(each, dict) and each.get("kind") == "Namespace")
    return [(each["name"], STATE_LABEL in (each.get("labels") or {})) for each in found]


def _kubeconfig(manifest: Manifest) -> tuple[str, str] | None:
    references: Mapping[str, Any] = (manifest.get("spec") or {}).get("kubeConfig") or {}
    named = references.get("secretRef") or references.get("configMapRef")
    return (manifest["metadata"]["namespace"], named["name"]) if named else None
