"""Commands of kubectl and flux that a fix or a report names, quoted for a shell: names can come from files of others.

context: the context of the kubeconfig; empty: the current one.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from typing import Any

from tenantry.kube.objects import KubeObject, Manifest, ObjectId
from tenantry.messages.text import grouped
from tenantry.plan.bootstrap import MARKER


def chart_patch(planned: KubeObject, context: str = "") -> str:
    """Gives an existing HelmRelease the `chartRef` of the plan in place of its `spec.chart`.

    Server-side apply cannot remove a field that somebody else set. Helm sees the same release with the same chart and
    values, so it upgrades nothing. helm-controller removes the HelmChart that it generated for `spec.chart`.
    """
    spec = {"chart": None, "chartRef": planned.manifest["spec"]["chartRef"]}
    return _merge(planned.id, {"spec": spec}, context)


def chart_patch_back(planned: KubeObject, chart: dict[str, Any], context: str = "") -> str:
    """Gives a HelmRelease the `spec.chart` that it had, in place of `chartRef`."""
    return _merge(planned.id, {"spec": {"chart": chart, "chartRef": None}}, context)


def source_patch(planned: KubeObject, old: Manifest | None = None, context: str = "") -> str:
    """Gives an existing app the reference to its source that the plan has, or the old one, with a namespace or without."""
    key = "sourceRef" if planned.id.kind == "Kustomization" else "chartRef"
    reference = (old or planned.manifest)["spec"][key]
    return _merge(planned.id, {"spec": {key: {"namespace": None, **reference}}}, context)


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


def leave_alone(ids: Iterable[ObjectId], context: str = "", *, back: bool = False) -> tuple[str, ...]:
    """Has Kustomizations neither apply nor prune objects, or takes that back: a command for each namespace.

    The field manager is neither kubectl nor Pulumi: both Flux and Pulumi take off what kubectl has written.
    """
    note = f"{RECONCILE}-" if back else f"{RECONCILE}=disabled"
    inside = grouped(ids, lambda id: id.namespace or (id.name if id.kind == "Namespace" else ""))
    return tuple(
        "kubectl annotate --overwrite --field-manager tenantry-adoption"
        f" {shlex.join((*_place(namespace, context), *(f'{id.kind.lower()}/{id.name}' for id in alike), note))}"
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


def create_namespace(name: str, context: str = "") -> str:
    """Creates a namespace."""
    return f"kubectl create namespace {shlex.join((name, *_context(context)))}"


def copy_secret_key(namespace: str, name: str, key: str, to: str, context: str = "") -> str:
    """Copies one value of a Secret to a Secret of the same name in another namespace, without showing or storing it."""
    write = ("secret", "generic", name, "--namespace", to, *_context(context), f"--from-file={key}=/dev/stdin")
    return f"{_value_of(namespace, name, key, context)} | kubectl create {shlex.join(write)}"


def server_of_kubeconfig(namespace: str, name: str, key: str, context: str = "") -> str:
    """Shows the addresses of the API servers in a kubeconfig, and nothing else of it."""
    return f"{_value_of(namespace, name, key, context)} | grep server:"


def _value_of(namespace: str, name: str, key: str, context: str) -> str:
    template = f"go-template={{{{index .data {json.dumps(key)} | base64decode}}}}"
    read = ("secret", name, "--namespace", namespace, *_context(context), "--output", template)
    return f"kubectl get {shlex.join(read)}"


def users_of_sources(context: str = "") -> str:
    """Shows which source each object of Flux reads."""
    columns = {
        "KIND": ".kind",
        "NAMESPACE": ".metadata.namespace",
        "NAME": ".metadata.name",
        "SOURCE": ".spec.sourceRef.name",
        "CHART-SOURCE": ".spec.chart.spec.sourceRef.name",
        "CHART": ".spec.chartRef.name",
    }
    output = f"custom-columns={','.join(f'{name}:{path}' for name, path in columns.items())}"
    kinds = "kustomizations,helmreleases,helmcharts"
    return f"kubectl get {shlex.join((kinds, '--all-namespaces', '--output', output, *_context(context)))}"


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
