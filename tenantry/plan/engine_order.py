"""What is applied only when something else is ready, where an app's content comes from, and what it follows.

An app that follows a branch or a range of versions changes without a run of `tenantry up`, and so without waves.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tenantry.kube.objects import KubeObject, Manifest, ObjectId, is_of_flux
from tenantry.messages.data import mapping_at
from tenantry.plan.objects.lifecycle import STATE_LABEL
from tenantry.plan.objects.scope import RECONCILERS
from tenantry.plan.planned_apps import PlannedApp

if TYPE_CHECKING:
    from tenantry.plan.plan import Plan


def in_engine_order(objects: Iterable[KubeObject], awaited: Collection[ObjectId]) -> Iterator[KubeObject]:
    """The objects, with those marked that are awaited.

    An object that Flux does not reconcile would never become Ready, and one that leaves need not, so these are not awaited.
    """
    for object in objects:
        is_awaited = object.id in awaited and is_reconciled(object.id) and becomes_ready(object.manifest)
        yield replace(object, awaited=True) if is_awaited else object


def is_reconciled(id: ObjectId) -> bool:
    return id.kind in RECONCILERS and is_of_flux(id.api_version)


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
        chain: list[Manifest] = []
        at: tuple[str, str, str] | None = (id.kind, id.namespace, id.name)
        while at and (manifest := self._by_name.get(at)):
            chain.insert(0, manifest)
            at = reference_of(manifest, id.namespace)
        return tuple(chain)


def reference_of(manifest: Manifest, namespace: str) -> tuple[str, str, str] | None:
    """Kind, namespace and name of what an object takes its content from, if it takes it from another one."""
    spec = mapping_at(manifest, "spec")
    reference: Mapping[str, str] = mapping_at(spec, "chartRef") or mapping_at(spec, "sourceRef")
    if not reference:
        return None
    return reference["kind"], reference.get("namespace", namespace), reference["name"]


_EXACT = re.compile(r"v?[0-9]+\.[0-9]+\.[0-9]+([-+][-+.0-9A-Za-z]+)?")


def bypass(app: PlannedApp, chains: Chains) -> str:
    """What of an app Flux follows by itself, such as `branch main`; "" if each of its changes stands in the file.

    chains: those of the plan that holds the app.
    """
    source, *charts = chains.of(app.id)[:-1] or ({},)
    spec: dict[str, Any] = mapping_at(dict(source), "spec")
    ref = spec.get("ref") or {}
    match source.get("kind"):
        case "HelmRepository" if charts:
            version = str(charts[0]["spec"].get("version", "*"))
            return "" if _EXACT.fullmatch(version) else f"versions {version} of its chart"
        case "GitRepository" if not (ref.get("commit") or ref.get("tag")):
            return _moving(ref) or f"branch {ref.get('branch', 'master')}"
        case "OCIRepository" if not (
            ref.get("digest") or (ref.get("tag") not in (None, "latest") and not ref.get("semver"))
        ):
            return _moving(ref) or "tag latest"
        case "Bucket":
            return f"bucket {spec.get('bucketName', '')}"
    return ""


def _moving(ref: Mapping[str, str]) -> str:
    if ref.get("name"):
        return f"ref {ref['name']}"
    return f"versions {ref['semver']}" if ref.get("semver") else ""


def following(*plans: Plan) -> list[str]:
    """The full names of the apps of the first plan that follow something by themselves, in any of some plans."""
    chains = [(plan.apps, Chains(plan)) for plan in plans]
    followers = {app.full_name for apps, of_plan in chains for app in apps if bypass(app, of_plan)}
    return [name for name in dict.fromkeys(app.full_name for app in plans[0].apps) if name in followers]
