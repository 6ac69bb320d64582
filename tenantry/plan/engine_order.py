"""What is applied only when something else is ready, and the way from an app back to where its content comes from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tenantry.kube.objects import KubeObject, Manifest, ObjectId, is_of_flux
from tenantry.messages.data import mapping_at
from tenantry.plan.objects.lifecycle import STATE_LABEL

if TYPE_CHECKING:
    from tenantry.plan.plan import Plan


_RECONCILERS = ("Kustomization", "HelmRelease")


def in_engine_order(objects: Iterable[KubeObject], awaited: Collection[ObjectId]) -> Iterator[KubeObject]:
    """The objects, with those marked that are awaited.

    An object that Flux does not reconcile would never become Ready, and one that leaves need not, so these are not awaited.
    """
    for object in objects:
        is_awaited = object.id in awaited and is_reconciled(object.id) and becomes_ready(object.manifest)
        yield replace(object, awaited=True) if is_awaited else object


def is_reconciled(id: ObjectId) -> bool:
    return id.kind in _RECONCILERS and is_of_flux(id.api_version)


def order_of_files(objects: Iterable[KubeObject]) -> str | None:
    """What files cannot say of the order, for those who apply them otherwise; None: nothing is lost."""
    if not (awaited := [str(object.id) for object in objects if object.awaited]):
        return None
    return f"only `tenantry up` to a cluster waits for these; apply what depends on them later: {', '.join(awaited)}"


def becomes_ready(manifest: Manifest) -> bool:
    return not manifest["spec"].get("suspend") and STATE_LABEL not in manifest["metadata"].get("labels", {})


class Chains:
    """Looks up what the Flux objects of a plan refer to."""

    def __init__(self, plan: Plan) -> None:
        self._by_name = {
            (planned.id.kind, planned.id.namespace, planned.id.name): planned.manifest for planned in plan.objects
        }

    def of(self, id: ObjectId) -> tuple[Manifest, ...]:
        """The planned source, the chart if there is one, and the Kustomization or HelmRelease itself, in this order."""
        found: list[Manifest] = []
        at: tuple[str, str, str] | None = (id.kind, id.namespace, id.name)
        while at and (manifest := self._by_name.get(at)):
            found.insert(0, manifest)
            at = reference_of(manifest, id.namespace)
        return tuple(found)


def reference_of(manifest: Manifest, namespace: str) -> tuple[str, str, str] | None:
    """Kind, namespace and name of what an object takes its content from, if it takes it from another one."""
    spec = mapping_at(manifest, "spec")
    reference: Mapping[str, str] = mapping_at(spec, "chartRef") or mapping_at(spec, "sourceRef")
    if not reference:
        return None
    return reference["kind"], reference.get("namespace", namespace), reference["name"]
