"""Commands of kubectl and flux that a fix or a report names, quoted for a shell: names can come from files of others.

context: the context of the kubeconfig; empty: the current one.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from typing import Any

from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.text import grouped
from tenantry.plan.bootstrap import MARKER


def chart_patch(planned: KubeObject, context: str = "") -> str:
    """Gives an existing HelmRelease the `chartRef` of the plan in place of its `spec.chart`.

    Server-side apply cannot remove a field that somebody else set. Helm sees the same release with the same chart and
    values, so it upgrades nothing. helm-controller removes the HelmChart that it generated for `spec.chart`.
    """
    spec = {"chart": None, "chartRef": planned.manifest["spec"]["chartRef"]}
    return _merge(planned.id, {"spec": spec}, context)


def mark(platform: str, cluster: str, context: str = "") -> str:
    """Gives the marker of a cluster another name. Args: platform: the platform's namespace."""
    return _merge(ObjectId("v1", "ConfigMap", platform, MARKER), {"data": {"cluster": cluster}}, context)


def suspend(id: ObjectId, context: str = "") -> str:
    """Stops Flux from reconciling an object, also from cleaning up when the object is deleted."""
    return f"flux suspend {_of_flux(id, context)}"


def resume(id: ObjectId, context: str = "") -> str:
    """Has Flux reconcile an object again."""
    return f"flux resume {_of_flux(id, context)}"


def reconcile(id: ObjectId, context: str = "", *, with_source: bool = False) -> str:
    """Has Flux reconcile an object now, and waits for that. with_source: after fetching its source."""
    return f"flux reconcile {_of_flux(id, context)}{' --with-source' if with_source else ''}"


def leave_alone(ids: Iterable[ObjectId], context: str = "") -> tuple[str, ...]:
    """Has Kustomizations neither apply nor prune objects: a command for each namespace.

    The field manager is neither kubectl nor Pulumi: both Flux and Pulumi take off what kubectl has written.
    """
    inside = grouped(ids, lambda id: id.namespace or (id.name if id.kind == "Namespace" else ""))
    return tuple(
        "kubectl annotate --overwrite --field-manager tenantry-adoption"
        f" {shlex.join((*_place(namespace, context), *(f'{id.kind.lower()}/{id.name}' for id in alike), f'{RECONCILE}=disabled'))}"
        for namespace, alike in inside.items()
    )


RECONCILE = "kustomize.toolkit.fluxcd.io/reconcile"
"""The annotation with which Kustomizations leave an object as it is."""


def get(id: ObjectId, context: str = "") -> str:
    """Shows what an object holds: of a namespace what is in it, of a Secret its keys alone."""
    if id.kind == "Namespace":
        kinds = "configmaps,secrets,persistentvolumeclaims,pods,services"
        return f"kubectl get {shlex.join((kinds, '--namespace', id.name, *_context(context)))}"
    if id.kind == "Secret":
        return describe(id, context)
    return f"kubectl get {_named(id, context)} --output yaml"


def describe(id: ObjectId, context: str = "") -> str:
    """Shows what an object is, with its state and its events."""
    return f"kubectl describe {_named(id, context)}"


def _merge(id: ObjectId, patch: dict[str, Any], context: str) -> str:
    return f"kubectl patch {_named(id, context)} --type merge --patch {shlex.quote(json.dumps(patch))}"


_FLUX_WORDS = {
    "GitRepository": ("source", "git"),
    "OCIRepository": ("source", "oci"),
    "HelmRepository": ("source", "helm"),
    "HelmChart": ("source", "chart"),
    "Bucket": ("source", "bucket"),
}
"""Kinds that the flux command calls otherwise."""


def _of_flux(id: ObjectId, context: str) -> str:
    words = _FLUX_WORDS.get(id.kind, (id.kind.lower(),))
    return shlex.join((*words, id.name, "--namespace", id.namespace, *_context(context)))


def _named(id: ObjectId, context: str) -> str:
    return shlex.join((id.kind.lower(), id.name, *_place(id.namespace or "", context)))


def _place(namespace: str, context: str) -> tuple[str, ...]:
    return (*(("--namespace", namespace) if namespace else ()), *_context(context))


def _context(context: str) -> tuple[str, ...]:
    return ("--context", context) if context else ()
