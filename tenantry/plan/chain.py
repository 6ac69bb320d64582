"""From an app back to where its content comes from: the reconciler, its chart, its source."""

from __future__ import annotations

from collections.abc import Mapping

from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.data import mapping_at
from tenantry.plan.plan import Plan


class Chains:
    """Looks up what the Flux objects of a plan refer to."""

    def __init__(self, plan: Plan) -> None:
        self._by_name = {(each.id.kind, each.id.namespace, each.id.name): each.manifest for each in plan.objects}

    def of(self, id: ObjectId) -> tuple[Manifest, ...]:
        """The planned source, the chart if there is one, and the Kustomization or HelmRelease itself, in this order."""
        found: list[Manifest] = []
        at: tuple[str, str, str] | None = (id.kind, id.namespace, id.name)
        while at and (manifest := self._by_name.get(at)):
            found.insert(0, manifest)
            at = _reference(manifest, id.namespace)
        return tuple(found)


def _reference(manifest: Manifest, namespace: str) -> tuple[str, str, str] | None:
    """What an object takes its content from, if it takes it from another one."""
    spec = mapping_at(manifest, "spec")
    reference: Mapping[str, str] = mapping_at(spec, "chartRef") or mapping_at(spec, "sourceRef")
    if manifest["kind"] == "ExternalArtifact" or not reference:
        return None
    return reference["kind"], reference.get("namespace", namespace), reference["name"]
