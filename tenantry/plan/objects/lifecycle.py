"""How the states of clusters, tenants and apps change their objects on the management cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tenantry.kube.objects import KubeObject, Manifest
from tenantry.model import ClusterState, State

STATE_LABEL = "tenantry/state"
"""The guard lets a run remove objects with this label: an earlier run announced their removal, so it is intended."""

_FLUX = ("Kustomization", "HelmRelease")


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """suspended: Flux does not reconcile the object, and does not contact the cluster to delete it.

    leaving: why a run may remove the object; "" if it may not.
    """

    suspended: bool = False
    leaving: str = ""


def lifecycle(cluster: ClusterState, *owners: State) -> Lifecycle:
    """The lifecycle of an object on a cluster in this state; owners: the states of its tenant and app."""
    if cluster == "decommissioned":
        return Lifecycle(suspended=True, leaving="decommissioned")
    leaving = "offboarding" if "offboarding" in owners else ""
    return Lifecycle(cluster == "paused" or "paused" in owners, leaving)


def in_state(planned: KubeObject, state: Lifecycle) -> KubeObject:
    """The object in a state.

    A HelmRelease that is deleted while suspended keeps what it installed. A Kustomization needs `deletionPolicy: Orphan` for that.
    """
    manifest = planned.manifest
    if state.suspended and planned.id.kind in _FLUX:
        spec = _suspended(manifest["spec"], planned.id.kind, orphan=state.leaving == "decommissioned")
        manifest = {**manifest, "spec": spec}
    if state.leaving:
        manifest = given_up(manifest, state.leaving)
    return replace(planned, manifest=manifest) if state.suspended or state.leaving else planned


def given_up(manifest: Manifest, leaving: str) -> Manifest:
    """The manifest with a label that says why its object may be removed."""
    metadata = manifest["metadata"]
    return {**manifest, "metadata": {**metadata, "labels": {**metadata["labels"], STATE_LABEL: leaving}}}


def _suspended(spec: Mapping[str, Any], kind: str, *, orphan: bool) -> dict[str, Any]:
    policy = {"deletionPolicy": "Orphan"} if orphan and kind == "Kustomization" else {}
    return {**spec, **policy, "suspend": True}
