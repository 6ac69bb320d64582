"""Commands of kubectl and flux that a fix or a report names, quoted for a shell: names can come from files of others.

context: the context of the kubeconfig; empty: the current one.
"""

from __future__ import annotations

import json
import shlex
from typing import Any

from tenantry.kube.objects import KubeObject, ObjectId


def chart_patch(planned: KubeObject, context: str = "") -> str:
    """Gives an existing HelmRelease the `chartRef` of the plan in place of its `spec.chart`.

    Server-side apply cannot remove a field that somebody else set. Helm sees the same release with the same chart and
    values, so it upgrades nothing. helm-controller removes the HelmChart that it generated for `spec.chart`.
    """
    return _patch(planned.id, {"chart": None, "chartRef": planned.manifest["spec"]["chartRef"]}, context)


def no_prune(id: ObjectId, context: str = "") -> str:
    """Lets an existing Kustomization of Flux go without what it applied."""
    return _patch(id, {"prune": False}, context)


def suspend(id: ObjectId, context: str = "") -> str:
    """Stops Flux from reconciling an object, also from cleaning up when the object is deleted."""
    return f"flux suspend {_named(id, context)}"


def delete(id: ObjectId, context: str = "") -> str:
    """Deletes an object."""
    return f"kubectl delete {_named(id, context)}"


def _patch(id: ObjectId, spec: dict[str, Any], context: str) -> str:
    return f"kubectl patch {_named(id, context)} --type merge --patch {shlex.quote(json.dumps({'spec': spec}))}"


def _named(id: ObjectId, context: str) -> str:
    namespace = ("--namespace", id.namespace) if id.namespace else ()
    return shlex.join((id.kind.lower(), id.name, *namespace, *(("--context", context) if context else ())))
