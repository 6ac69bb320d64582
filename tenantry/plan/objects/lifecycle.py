"""How the states of clusters, tenants and apps change their objects on the management cluster, and which objects outlive them.

What can hold data stays on its cluster whatever removes the objects around it, until somebody sets `state: offboarding`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from tenantry.kube.objects import KubeObject, Manifest, group_of, holds_data, labels_of, marked
from tenantry.model import ClusterState, State
from tenantry.plan.objects.scope import RECONCILERS

STATE_LABEL = "tenantry/state"
"""The guard lets a run remove objects with this label: an earlier run announced their removal, so it is intended."""

LEAVING = "tenantry/leaving"
"""An annotation of a tenant's namespace on the management cluster: the apps there that were given up, separated by commas.

The guard believes it, because a tenant can change the labels of its apps' objects, and never its Namespace.
"""

KEEP = {"helm.sh/resource-policy": "keep"}
"""The annotation with which Helm leaves an object on the cluster when its release is uninstalled or no longer contains it."""
UNPRUNED = {"kustomize.toolkit.fluxcd.io/prune": "disabled"}
"""The label or annotation with which Flux leaves an object on the cluster that a Kustomization no longer contains."""

REMOVING = "removing"
"""The state that announces a removal which leaves what can hold data."""
_OFFBOARDING = "offboarding"
_MARKS = (_OFFBOARDING, REMOVING)
"""The states that announce a removal, the one that prevails first."""


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """suspended: Flux does not reconcile the object, and does not contact the cluster to delete it.

    leaving: why a run may remove the object; "" if it may not.
    """

    suspended: bool = False
    leaving: str = ""

    @property
    def keeps_data(self) -> bool:
        """Whether what can hold data stays on the cluster. What is on a decommissioned cluster stays."""
        return self.leaving != _OFFBOARDING


def lifecycle(cluster: ClusterState, *owners: State) -> Lifecycle:
    """The lifecycle of an object on a cluster in this state; owners: the states of its tenant and app.

    What a tenant or an app says of its data prevails over what its cluster says.
    """
    if cluster == "decommissioned":
        return Lifecycle(suspended=True, leaving="decommissioned")
    leaving = next((mark for states in (owners, (cluster,)) for mark in _MARKS if mark in states), "")
    return Lifecycle(cluster == "paused" or "paused" in owners, leaving)


def in_state(planned: KubeObject, state: Lifecycle) -> KubeObject:
    """The object in a state.

    A HelmRelease that is deleted while suspended keeps what it installed. A Kustomization needs `deletionPolicy: Orphan` for that.
    """
    manifest, retained = planned.manifest, _is_kept(planned.manifest, state)
    if retained and not UNPRUNED.items() <= manifest["metadata"].get("labels", {}).items():
        # A Kustomization may have applied it before.
        manifest = marked(manifest, annotations=UNPRUNED)
    if state.suspended and planned.id.kind in RECONCILERS:
        is_orphaned = planned.id.kind == "Kustomization" and state.leaving == "decommissioned"
        policy = {"deletionPolicy": "Orphan"} if is_orphaned else {}
        manifest = {**manifest, "spec": {**manifest["spec"], **policy, "suspend": True}}
    if state.leaving and not (state.leaving == REMOVING and is_given_up(manifest)):
        manifest = given_up(manifest, state.leaving)
    changed = manifest is not planned.manifest or retained
    return replace(planned, manifest=manifest, retained=retained) if changed else planned


def kept_by_helm(manifests: Iterable[Manifest], state: Lifecycle) -> list[Manifest]:
    """The manifests of a release in a state; Helm keeps those that can hold data."""
    return [marked(manifest, annotations=KEEP) if _is_kept(manifest, state) else manifest for manifest in manifests]


def with_kept_definitions(planned: KubeObject, state: Lifecycle) -> KubeObject:
    """The Kustomization or HelmRelease of an add-on, with a patch so that the CustomResourceDefinitions it applied outlive it.

    The author's own patches come first.
    """
    if not state.keeps_data:
        return planned
    spec = planned.manifest["spec"]
    if planned.id.kind == "HelmRelease":
        added = {"postRenderers": [*spec.get("postRenderers", ()), {"kustomize": {"patches": [_definitions(KEEP)]}}]}
    else:
        added = {"patches": [*spec.get("patches", ()), _definitions(UNPRUNED)]}
    return replace(planned, manifest={**planned.manifest, "spec": {**spec, **added}})


def _definitions(annotations: Mapping[str, str]) -> Manifest:
    """A patch of Kustomize that annotates all CustomResourceDefinitions. The target decides which, and not the name."""
    lines = "".join(f"    {key}: {value}\n" for key, value in annotations.items())
    api, kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
    patch = f"apiVersion: {api}\nkind: {kind}\nmetadata:\n  name: all\n  annotations:\n{lines}"
    return {"target": {"kind": kind}, "patch": patch}


def _is_kept(manifest: Manifest, state: Lifecycle) -> bool:
    given_up_itself = manifest["metadata"].get("labels", {}).get(STATE_LABEL) == _OFFBOARDING
    return holds_data(group_of(manifest["apiVersion"]), manifest["kind"]) and state.keeps_data and not given_up_itself


def is_marked(manifest: Manifest) -> bool:
    """Whether an earlier run has announced that an object goes, with its data or without."""
    return STATE_LABEL in labels_of(manifest)


def is_given_up(manifest: Manifest) -> bool:
    """Whether an earlier run has given up an object with the data that it can hold."""
    return bool(labels_of(manifest).get(STATE_LABEL, REMOVING) != REMOVING)


def given_up(manifest: Manifest, leaving: str) -> Manifest:
    """The manifest with a label that says why its object may be removed."""
    return marked(manifest, labels={STATE_LABEL: leaving})


def with_given_up_apps(namespace: KubeObject, apps: Iterable[KubeObject]) -> KubeObject:
    """A tenant's Namespace that names those of its apps that were given up. apps: objects in the namespace."""
    names = sorted(app.id.name for app in apps if app.id.kind in RECONCILERS and STATE_LABEL in labels_of(app.manifest))
    if not names or STATE_LABEL in labels_of(namespace.manifest):
        return namespace
    return replace(namespace, manifest=marked(namespace.manifest, annotations={LEAVING: ",".join(names)}))
