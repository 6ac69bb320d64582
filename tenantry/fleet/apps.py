"""An app or add-on on one cluster, and its source: levels merged, placeholders filled in, what its author leaves out added.

The plan makes objects from `EffectiveApp.data`, and `fleet.placed` traces the same data back to the file. So what is
explained is what is planned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer, merge, origin, with_whole
from tenantry.fleet.settings import (
    TIMES,
    TenantSettings,
    filled_once,
    layers_of,
    overrides,
    resolved_once,
    variables_of,
    variables_of_app,
)
from tenantry.flux.schemas import schema_of
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path
from tenantry.messages.placeholders import Scalar, Variables, fill
from tenantry.model import AppOverride, Helm, Kustomize, Source
from tenantry.model.flux import Metadata
from tenantry.source.parsed_file import without_override

Action: TypeAlias = Literal["install", "upgrade"]
ACTIONS: tuple[Action, ...] = ("install", "upgrade")
"""The Helm actions that can fail. Each has its own strategy."""

_SCALED = {"target": {"kind": "Deployment|StatefulSet"}, "paths": ["/spec/replicas"]}
_INJECTED = {
    "target": {"kind": "APIService|CustomResourceDefinition|.*WebhookConfiguration"},
    "paths": [
        "/spec/caBundle",
        "/spec/conversion/webhook/clientConfig/caBundle",
        # A pointer has no wildcard. Flux skips those that lead nowhere.
        *(f"/webhooks/{number}/clientConfig/caBundle" for number in range(10)),
    ],
}
OF_OTHERS: list[dict[str, Any]] = [_SCALED]
"""Fields that other controllers write after Helm, so that Flux does not undo it: autoscalers write the replicas."""
OF_OTHERS_IN_ADDONS = [_SCALED, _INJECTED]
"""The same for an add-on: injectors such as cert-manager's write CA bundles.

Source: fluxcd.io/flux/components/helm/helmreleases, "Drift detection"; `kind` is a regular expression.
"""
REPLACED = {"crds": "CreateReplace"}
"""What an upgrade of an add-on does with the chart's CRDs. Flux's own default leaves them as the first version had them."""

NO_METADATA = Metadata()
_NO_SETTINGS = TenantSettings()
MERGED = frozenset(AppOverride.model_fields) - {"when", "source"}
"""The keys of an app that overrides can set, too, but for an add-on's source, which has layers of its own."""


@dataclass(frozen=True, slots=True)
class EffectiveApp:
    """One app on one cluster.

    block: as the author writes it; the same object on all clusters where it is equal, without a chart's values.
    layers: trace a value back to the file. data: as of `completed`, with the values.
    settings: of its tenant, or of the platform; an app takes over their times.
    """

    name: str
    block: Kustomize | Helm
    depends_on: tuple[str, ...]
    layers: tuple[Layer, ...]
    data: dict[str, Any]
    settings: TenantSettings = field(default_factory=TenantSettings)
    metadata: Metadata = NO_METADATA

    @property
    def kind(self) -> Literal["kustomize", "helm"]:
        return "kustomize" if isinstance(self.block, Kustomize) else "helm"

    @property
    def retried(self) -> tuple[Action, ...]:
        """The actions of a release that are tried again after `settings.retryInterval`. A release has no such key of its own."""
        if isinstance(self.block, Kustomize):
            return ()
        written = self.block.flux
        silent = (action for action in ACTIONS if "strategy" not in written.get(action, {}))
        return tuple(action for action in silent if _strategy(self.block, action) == "RetryOnFailure")

    def origin(self, *path: str | int) -> Path:
        """Where in the document the app's value at `path` stands."""
        return origin(self.layers, path)


def completed(block: Kustomize | Helm, settings: TenantSettings, *, is_addon: bool) -> dict[str, Any]:
    """A block in the keys of the file, with what its author does not set: times, strategies, what belongs to others.

    Args: is_addon: what the platform installs has other defaults than what a tenant does.
    """
    data = block.model_dump(exclude_none=True)
    if isinstance(block, Helm):
        for action in ACTIONS:
            data[action] = {"strategy": {"name": _strategy(block, action)}, **data.get(action, {})}
        skips_crds = data["install"].get("crds") == "Skip" or data["install"].get("skipCRDs")
        if is_addon and not skips_crds:
            data["upgrade"] = {**REPLACED, **data["upgrade"]}
        data["driftDetection"] = _drift(data["driftDetection"], OF_OTHERS_IN_ADDONS if is_addon else OF_OTHERS)
    own = (time for time in TIMES if time in schema_of(block.flux_kind).spec["properties"])
    return data | {time: getattr(settings, time) for time in own if time not in data}


def _drift(written: dict[str, Any], ignored: list[dict[str, Any]]) -> dict[str, Any]:
    """How Flux treats drift. An empty list of what to ignore is the author's word that nothing is."""
    if "ignore" in written:
        return {key: value for key, value in written.items() if key != "ignore" or value}
    return written if written["mode"] == "disabled" else {**written, "ignore": ignored}


def effective_app(
    fleet: Fleet,
    at: tuple[str, ...],
    environment: str,
    cluster: str,
    variables: Variables,
    settings: TenantSettings | None = None,
) -> EffectiveApp:
    """The app at a path of the document as it is on one cluster. settings: of its tenant there; None: nobody asks for times.

    Raises: InvalidPart: the merged app is not complete, or a placeholder is unknown.
    """
    layers = app_layers(fleet, at, environment, cluster)
    kind = kind_of(fleet, at)
    model: type[Kustomize | Helm] = Helm if kind == "helm" else Kustomize
    # A chart's values often name the cluster, and nothing else of the app depends on them.
    block = resolved_once(fleet, layers, model, variables, part=(kind,), apart="values")
    values = filled_once(fleet, layers, variables, (kind, "values"))
    metadata = NO_METADATA
    if any("metadata" in layer.data for layer in layers):
        metadata = resolved_once(fleet, layers, Metadata, variables, part=("metadata",))
    settings, is_addon = settings or _NO_SETTINGS, at[0] == "platform"
    data = fleet.once(("completed", is_addon), (block, settings), lambda: completed(block, settings, is_addon=is_addon))
    data = data if values is None else {**data, "values": values}
    # Lists do not merge: the most specific layer that has one counts, and `null` empties it.
    names = next((layer.data["dependsOn"] for layer in reversed(layers) if "dependsOn" in layer.data), None)
    return EffectiveApp(at[-1], block, tuple(names or ()), layers, data, settings, metadata)


def kind_of(fleet: Fleet, at: tuple[str, ...]) -> Literal["kustomize", "helm"]:
    """The kind of the app at a path, as it is written."""
    return "helm" if fleet.raw(*at).get("kustomize") is None else "kustomize"


def app_layers(fleet: Fleet, at: tuple[str, ...], environment: str, cluster: str | None) -> tuple[Layer, ...]:
    """The layers of the app at a path of the document on one cluster: what overrides can set, too."""
    above, own = ([*overrides(fleet, place, environment, cluster)] for place in (holder_of(at), at))
    alike = (at, *(layer.path for layer in (*above, *own)))
    return fleet.once(("layers", *alike), (), lambda: _layers(fleet, at, above, own))


def _layers(fleet: Fleet, at: tuple[str, ...], above: Sequence[Layer], own: Sequence[Layer]) -> tuple[Layer, ...]:
    """Args: above, own: the overrides that hold, of the tenant or the platform, and of the app."""
    kind, owner, source = kind_of(fleet, at), holder_of(at), fleet.source
    # What an included file says of all apps is for the apps of the file alone.
    is_main = source.frame is not None and source.filled_by(at) is None
    block = mapping_at((source.frame or source).data if is_main else source.data, *owner, kind)
    layers = [Layer(owner, {kind: block})] if block else []
    layers.append(_merged(Layer(at, fleet.raw(*at))))
    for layer in above:
        if kind in layer.data and not (is_main and source.filled_by(layer.path)):
            layers.append(Layer(layer.path, {kind: layer.data[kind]}))
        if written := mapping_at(layer.data, *at[len(owner) :]):
            layers.append(_merged(Layer((*layer.path, *at[len(owner) :]), written)))
    return (*layers, *map(_merged, own))


def holder_of(at: Sequence[str]) -> tuple[str, ...]:
    """The entry that has the app, add-on or source at a path: a tenant or the platform."""
    return tuple(at[:2]) if at[0] == "tenants" else ("platform",)


def _merged(layer: Layer) -> Layer:
    return Layer(layer.path, {key: value for key, value in layer.data.items() if key in MERGED})


def _strategy(block: Helm, action: Action) -> str:
    """What Flux does after a failed action: the author's choice, or a default that suits the rest of the block.

    The default is to retry: Flux's own default gives up after one failure, and the release stays failed. But a release that
    is retried ignores `remediation`, so if the author sets it, Flux's default applies. The name is always written out, because
    a feature gate of helm-controller (DefaultToRetryOnFailure) changes Flux's default.

    Source: fluxcd.io/flux/components/helm/helmreleases, "Install strategy" and "Upgrade strategy".
    """
    written = block.flux.get(action, {})
    default = "RemediateOnFailure" if "remediation" in written else "RetryOnFailure"
    return str(written.get("strategy", {}).get("name", default))


CHART = ("platform", "chart")
"""Where the chart for baselines stands. It has layers as a source has."""
REFS = (("git", "ref"), ("oci", "ref"))
"""What an override replaces as a whole: half of a `ref` merged into another would name something that nobody wrote."""


def source_place(at: tuple[str, ...], name: str | None) -> tuple[str, ...]:
    """Where the source is declared that the app or add-on at a path takes. name: what it calls it; None: an add-on's own."""
    if at[0] == "platform":
        return ("platform", "sources", name) if name else (*at, "source")
    return (*at[:2], "sources", str(name))


def source_entry(path: Path) -> tuple[str, ...]:
    """The entry of the source that a path of the document lies in, also if that is an override."""
    path = without_override(path)
    return tuple(map(str, path[: 3 if path[:2] == ("platform", "sources") else 4]))


def source_taken(
    fleet: Fleet, at: tuple[str, ...], layers: Sequence[Layer], environment: str, cluster: str
) -> tuple[str, ...]:
    """The same on one cluster. layers: of the app there."""
    named = (mapping_at(layer.data, kind).get("source") for layer in reversed(layers) for kind in ("kustomize", "helm"))
    variables = variables_of_app(fleet, at, environment, cluster)
    return source_place(at, str(fill(next(filter(None, named), ""), variables, at)))


def effective_source(fleet: Fleet, at: tuple[str, ...], environment: str, cluster: str) -> Source:
    """The source at a path of the document as it is on one cluster.

    Raises: InvalidPart: a placeholder is unknown, or the levels do not fit together.
    """
    variables = variables_of_source(fleet, at, environment, cluster)
    return resolved_once(fleet, source_layers(fleet, at, environment, cluster), Source, variables)


def source_data(fleet: Fleet, at: tuple[str, ...], environment: str, cluster: str) -> dict[str, Any]:
    """The same as it is written, with its placeholders."""
    return merge(source_layers(fleet, at, environment, cluster))


def source_layers(fleet: Fleet, at: tuple[str, ...], environment: str, cluster: str | None) -> list[Layer]:
    """The layers of the source at a path on one cluster. At most one of them has a `ref`."""
    return with_whole([*layers_of(fleet, at, environment, cluster)], REFS)


def variables_of_source(fleet: Fleet, at: tuple[str, ...], environment: str, cluster: str) -> dict[str, Scalar]:
    """The placeholders that the source at a path can name. The app that takes it is none of them."""
    return variables_of(fleet, environment, cluster, **({"tenant": at[1]} if at[0] == "tenants" else {}))


def source_origin(layers: Sequence[Layer], path: Path) -> Path:
    """Where in the document the value at a path below the source's entry is written: there, or in an override."""
    at, below = layers[0].path, path[len(layers[0].path) :]
    is_set = below and any(below[0] in layer.data for layer in layers)
    return origin(layers, below) if path[: len(at)] == at and is_set else path
