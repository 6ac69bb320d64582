"""Commands of kubectl and flux that a fix or a report names, quoted for a shell: names can come from files of others."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from typing import Any

from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.text import grouped
from tenantry.plan.bootstrap import MARKER


def chart_patch(planned: KubeObject) -> str:
    """Gives an existing HelmRelease the `chartRef` of the plan in place of its `spec.chart`.

    Server-side apply cannot remove a field that somebody else set. Helm sees the same release with the same chart and
    values, so it upgrades nothing. helm-controller removes the HelmChart that it generated for `spec.chart`.
    """
    spec = {"chart": None, "chartRef": planned.manifest["spec"]["chartRef"]}
    return _merge(planned.id, {"spec": spec})


def mark(platform: str, cluster: str, *options: str) -> str:
    """Gives the marker of a cluster another name. Args: platform: the platform's namespace; options: of kubectl."""
    return _merge(ObjectId("v1", "ConfigMap", platform, MARKER), {"data": {"cluster": cluster}}, *options)


def suspend(id: ObjectId) -> str:
    """Stops Flux from reconciling an object, also from cleaning up when the object is deleted."""
    return f"flux suspend {_of_flux(id)}"


def resume(id: ObjectId) -> str:
    """Has Flux reconcile an object again."""
    return f"flux resume {_of_flux(id)}"


def reconcile(id: ObjectId, *, with_source: bool = False) -> str:
    """Has Flux reconcile an object now, and waits for that. with_source: after fetching its source."""
    return f"flux reconcile {_of_flux(id)}{' --with-source' if with_source else ''}"


def leave_alone(ids: Iterable[ObjectId]) -> tuple[str, ...]:
    """Has Kustomizations neither apply nor prune objects: a command for each namespace.

    The field manager is neither kubectl nor Pulumi: both Flux and Pulumi take off what kubectl has written.
    """
    commands = []
    inside = grouped(ids, lambda id: id.namespace or (id.name if id.kind == "Namespace" else ""))
    for namespace, alike in inside.items():
        place = ("--namespace", namespace) if namespace else ()
        words = (*place, *(f"{id.kind.lower()}/{id.name}" for id in alike), f"{RECONCILE}=disabled")
        commands.append(f"kubectl annotate --overwrite --field-manager tenantry-adoption {shlex.join(words)}")
    return tuple(commands)


RECONCILE = "kustomize.toolkit.fluxcd.io/reconcile"
"""The annotation with which Kustomizations leave an object as it is."""


def describe(id: ObjectId) -> str:
    """Shows what an object is, with its state and its events."""
    return f"kubectl describe {shlex.join(named(id))}"


def named(id: ObjectId) -> tuple[str, ...]:
    """How kubectl calls an object."""
    return (id.kind.lower(), id.name, *(("--namespace", id.namespace) if id.namespace else ()))


def _merge(id: ObjectId, patch: dict[str, Any], *options: str) -> str:
    words = ("patch", *named(id), *options, "--type", "merge", "--patch", json.dumps(patch))
    return f"kubectl {shlex.join(words)}"


_FLUX_WORDS = {
    "GitRepository": ("source", "git"),
    "OCIRepository": ("source", "oci"),
    "HelmRepository": ("source", "helm"),
    "HelmChart": ("source", "chart"),
    "Bucket": ("source", "bucket"),
}
"""Kinds that the flux command calls otherwise."""


def _of_flux(id: ObjectId) -> str:
    words = _FLUX_WORDS.get(id.kind, (id.kind.lower(),))
    return shlex.join((*words, id.name, "--namespace", id.namespace))
