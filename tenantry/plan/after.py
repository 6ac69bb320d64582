"""The gate of an environment: its changes wait until the environment before it runs them; and a digest of each app's content."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from tenantry.fleet.fleet import Fleet
from tenantry.flux.references import renamed
from tenantry.flux.schemas import kinds
from tenantry.kube.names import digest
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, labels_of
from tenantry.messages.data import mapping_at
from tenantry.messages.text import grouped
from tenantry.model import After as Declared
from tenantry.model.durations import seconds_of
from tenantry.plan.engine_order import Chains
from tenantry.plan.objects.scope import SOURCE_LABEL
from tenantry.plan.planned_apps import PlannedApp

if TYPE_CHECKING:
    from tenantry.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class After:
    """environment: the one before. soak: how long it has to have been ready, as written; "": ready is enough."""

    environment: str
    soak: str = ""

    @property
    def seconds(self) -> float:
        return seconds_of(self.soak)

    def __str__(self) -> str:
        """As a value in a difference: `dev`, or `dev (soak 1h)`."""
        return f"{self.environment} (soak {self.soak})" if self.soak else self.environment


def after_of(fleet: Fleet, environment: str) -> After | None:
    """The gate of an environment; None: it has none."""
    declared = fleet.environments[environment].after
    if isinstance(declared, Declared):
        return After(declared.environment, declared.soak or "")
    return After(declared) if declared else None


def format_gate(after: After) -> str:
    """Such as: changes of apps wait until dev runs them and has been ready for 1h."""
    ready = f"has been ready for {after.soak}" if after.soak else "is ready"
    return f"changes of apps wait until {after.environment} runs them and {ready}"


PACE = ("interval", "timeout", "retryInterval", "suspend", "dependsOn")
"""Fields of a spec that say when Flux applies something, not what."""
_PLACE = ("kubeConfig", "serviceAccountName", "sourceRef", "chartRef", "targetNamespace", "storageNamespace")
_ACTIONS = ("install", "upgrade", "rollback", "uninstall", "test")
"""Parts of a HelmRelease with times of their own."""
_K = TypeVar("_K", bound=Hashable)
_DIGITS = 16


def contents_by(plan: Plan, key: Callable[[PlannedApp], _K]) -> dict[_K, str]:
    """A digest of the content of apps that have the same key, such as those of a wave.

    Clusters with the same content count once, so one more of them changes no digest.
    """
    chains, objects = Chains(plan), {planned.id: planned for planned in plan.objects}
    digests: dict[_K, str] = {}
    for name, same in grouped(plan.apps, key).items():
        parts = {digest({"objects": list(_parts(app, chains.of(app.id), objects))}, _DIGITS) for app in same}
        digests[name] = digest({"variants": sorted(parts)}, _DIGITS)
    return digests


def _parts(app: PlannedApp, chain: Sequence[Manifest], objects: Mapping[ObjectId, KubeObject]) -> Iterator[Any]:
    for manifest in chain:
        yield {"kind": manifest["kind"], **_decisive(app, manifest, objects)}


def _decisive(app: PlannedApp, manifest: Manifest, objects: Mapping[ObjectId, KubeObject]) -> dict[str, Any]:
    """The fields of a spec that decide, with what it refers to instead of names."""
    kind, spec, namespace = manifest["kind"], dict(manifest.get("spec") or {}), manifest["metadata"]["namespace"]
    if kind in kinds():
        spec = renamed(kind, spec, lambda of, name: _referred(ObjectId("v1", of, namespace, name), objects))
    kept = {key: value for key, value in spec.items() if key not in (*PACE, *_PLACE)}
    if kind == "GitRepository" and isinstance(kept.get("include"), list):
        kept["include"] = [_included(included, manifest, objects) for included in kept["include"]]
    for action in _ACTIONS:
        if isinstance(kept.get(action), dict):
            kept[action] = _without_pace(kept[action])
    if kept.get("releaseName", "").endswith(f"-{app.name}"):
        kept["releaseName"] = app.name
    return kept


def _included(entry: dict[str, Any], manifest: Manifest, objects: Mapping[ObjectId, KubeObject]) -> dict[str, Any]:
    """What a Git source includes, with the included source by its key, as its object is called otherwise in each environment."""
    name = str(mapping_at(entry, "repository").get("name"))
    source = objects.get(ObjectId(manifest["apiVersion"], manifest["kind"], manifest["metadata"]["namespace"], name))
    labels = labels_of(source.manifest) if source else {}
    return {**entry, "repository": {"name": labels.get(SOURCE_LABEL, name)}}


def _without_pace(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_pace(part) for key, part in value.items() if key not in PACE}
    return value


def _referred(id: ObjectId, objects: Mapping[ObjectId, KubeObject]) -> str:
    """What stands for a Secret or ConfigMap: of a ConfigMap of the file its data, of a Secret its name and its keys."""
    planned = objects.get(id)
    if planned and planned.secret:
        return " ".join((planned.secret.path[-1], *planned.secret.keys, planned.secret.registry))
    if planned and id.kind == "ConfigMap":
        return digest({"data": planned.manifest.get("data")}, _DIGITS)
    # Beside the kubeconfigs of remote clusters, the name begins with the namespace of its author. The keys have no dots.
    return id.name.rpartition(".")[2]
