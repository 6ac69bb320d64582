"""The order that Pulumi keeps, and the way from an app back to where its content comes from."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from tenantry.kube.objects import KubeObject, Manifest, ObjectId, is_of_flux
from tenantry.messages.data import mapping_at
from tenantry.model.durations import seconds_of
from tenantry.plan.objects.lifecycle import STATE_LABEL

if TYPE_CHECKING:
    from tenantry.plan.plan import Plan


WAIT = {"pulumi.com/waitFor": "condition=Ready"}
"""The annotation by which the provider waits after it has created or changed an object."""
_FETCHING = 60
"""Seconds that Flux may need to fetch the source, beside the object's own times; less where the object has less itself."""
_RECONCILERS = ("Kustomization", "HelmRelease")


def in_engine_order(objects: Iterable[KubeObject], awaited: Collection[ObjectId]) -> Iterator[KubeObject]:
    """The objects, with those that are awaited prepared for it.

    objects: dependencies come before what depends on them. An object that Flux does not reconcile would never become Ready, and
    one that leaves need not, so these are not awaited.
    """
    within: dict[ObjectId, int] = {}
    for each in objects:
        if not awaited or not is_reconciled(each.id):
            yield each
            continue
        # An object that nobody awaits is registered and left to Flux, so what Flux keeps waiting for it waits for both.
        before = (0 if other in awaited else within.get(other, 0) for other in each.depends_on)
        within[each.id] = _seconds(each.manifest["spec"]) + max(before, default=0)
        is_awaited = each.id in awaited and becomes_ready(each.manifest)
        yield _awaited(each, within[each.id]) if is_awaited else each


def is_reconciled(id: ObjectId) -> bool:
    return id.kind in _RECONCILERS and is_of_flux(id.api_version)


def order_of_files(objects: Iterable[KubeObject]) -> str | None:
    """What files cannot say of the order, for those who apply them otherwise; None: nothing is lost."""
    if not (awaited := [str(each.id) for each in objects if each.ready_within]):
        return None
    return f"only `tenantry up` to a cluster waits for these; apply what depends on them later: {', '.join(awaited)}"


def _awaited(planned: KubeObject, seconds: int) -> KubeObject:
    metadata = planned.manifest["metadata"]
    metadata = {**metadata, "annotations": {**metadata["annotations"], **WAIT}}
    return replace(planned, manifest={**planned.manifest, "metadata": metadata}, ready_within=seconds)


def becomes_ready(manifest: Manifest) -> bool:
    return not manifest["spec"].get("suspend") and STATE_LABEL not in manifest["metadata"].get("labels", {})


def _seconds(spec: Mapping[str, object]) -> int:
    """How long an object may take: an attempt that fails at once, and another one after the interval for retries."""
    timeout = seconds_of(str(spec["timeout"]))
    return math.ceil(timeout + _retry(spec) + min(timeout, _FETCHING))


def _retry(spec: Mapping[str, object]) -> float:
    install = spec.get("install")
    strategy = install.get("strategy", {}) if isinstance(install, dict) else spec
    return seconds_of(str(strategy.get("retryInterval") or "0s"))


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
