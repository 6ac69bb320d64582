"""Where Flux has installed what a Kustomization or HelmRelease stands for, and where it would.

If one of these parts changes, Flux deletes what it installed and installs it anew. helm-controller compares the release that it
has recorded in the status, not an earlier spec (reason `ReleaseTargetChanged`). kustomize-controller records none of this: it
prunes whatever has another name or namespace than before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tenantry.guard.places import label, whose
from tenantry.kube.objects import Manifest, ObjectId, readable_id
from tenantry.messages.data import mapping_at
from tenantry.plan.objects.lifecycle import is_given_up
from tenantry.plan.objects.sources import IN_PLACE

CHART = "chart"
"""The part that is a chart's name."""
_MOVES = ("targetNamespace", "namePrefix", "nameSuffix")
"""Fields of a Kustomization on which the identities of its objects depend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """parts: by the field that sets it, or `CHART`.

    leaving: an earlier run has given it up. in_place: a changed name of the chart upgrades the release.
    tried: the `chartRef` with which helm-controller has got past its comparison, as (kind, namespace, name).
    """

    parts: Mapping[str, str]
    leaving: bool = False
    in_place: bool = False
    tried: tuple[str, str, str] | None = None


class Charts:
    """The names of the charts that planned releases install, as far as a plan knows them.

    In a Git repository or bucket the name stands in the chart's own Chart.yaml. A whole OCIRepository can hold a chart of any name;
    by the convention of registries it is the last part of the address.
    """

    def __init__(self, manifests: Iterable[Manifest]) -> None:
        """manifests: all of a plan."""
        self._names: dict[tuple[str, ...], tuple[str, bool]] = {}
        for manifest in manifests:
            if (kind := manifest.get("kind")) in ("HelmChart", "OCIRepository") and (id := readable_id(manifest)):
                spec = mapping_at(manifest, "spec")
                place = label(spec, "chart" if kind == "HelmChart" else "url").rstrip("/").rpartition("/")[2]
                is_name = mapping_at(spec, "sourceRef").get("kind") == "HelmRepository"
                self._names[kind, id.namespace, id.name] = (place, is_name)

    def of(self, release: Manifest) -> str | None:
        """The name of a release's chart; None: nobody knows it before Flux has fetched it."""
        name, is_known = self._names.get(chart_of(release), ("", False))
        return name if is_known else None

    def guess(self, release: Manifest) -> str:
        """The name of a release's chart, or the last part of the path or address that it comes from; "": not even that."""
        return self._names.get(chart_of(release), ("", False))[0]


def chart_of(release: Manifest) -> tuple[str, str, str]:
    """What a release names as its chart: kind, namespace, name; "" for what is missing or malformed."""
    reference = mapping_at(release, "spec", "chartRef")
    namespace = label(reference, "namespace") or label(mapping_at(release, "metadata"), "namespace")
    return label(reference, "kind"), namespace, label(reference, "name")


def live_target(manifest: Manifest) -> Target | None:
    """What a live object has installed; None: nothing, or the object does not say what."""
    release = manifest.get("kind") == "HelmRelease"
    if release:
        return _target(manifest, dict(_recorded(manifest)))
    # What the names of the objects in its inventory depend on.
    is_applied = mapping_at(manifest, "status", "inventory").get("entries")
    return _target(manifest, _named(manifest) if is_applied else {})


def planned_targets(manifests: Iterable[Manifest], environment: str) -> dict[ObjectId, Target]:
    """What the objects of an environment install, if nothing but a plan or its files is known of them."""
    objects = list(manifests)
    charts = Charts(objects)
    targets: dict[ObjectId, Target] = {}
    for manifest in objects:
        id = readable_id(manifest)
        if id and id.kind in ("Kustomization", "HelmRelease") and whose(manifest).environment == environment:
            parts = _named(manifest) if id.kind == "Kustomization" else planned_parts(manifest, charts)
            if target := _target(manifest, parts):
                targets[id] = target
    return targets


def planned_parts(manifest: Manifest, charts: Charts) -> dict[str, str]:
    """The parts that a planned object asks for, as far as a plan knows them. Empty: Flux deletes nothing if they change."""
    spec = mapping_at(manifest, "spec")
    if manifest.get("kind") == "Kustomization":
        return _named(manifest) if spec.get("prune") else {}
    metadata, chart = mapping_at(manifest, "metadata"), charts.of(manifest)
    namespace, name = (label(metadata, key) for key in ("namespace", "name"))
    target = label(spec, "targetNamespace")
    return {
        "storageNamespace": label(spec, "storageNamespace") or namespace,
        "targetNamespace": target or namespace,
        "releaseName": label(spec, "releaseName") or "-".join(filter(None, (target, name))),
        **({CHART: chart} if chart else {}),
    }


def upgrades_in_place(manifest: Manifest) -> bool:
    """Whether a release stays if only the name of its chart changes."""
    return mapping_at(manifest, "spec", "upgrade").get("chartNameChangeStrategy") == IN_PLACE


def history_problem(manifest: Manifest) -> str:
    """What cannot be read of the releases in a status; "" if they are as helm-controller writes them."""
    history = mapping_at(manifest, "status").get("history") or []
    sound = isinstance(history, list) and all(isinstance(entry, dict) for entry in history)
    return "" if sound else "status.history is not a list of mappings"


def _target(manifest: Manifest, parts: dict[str, str]) -> Target | None:
    if not parts:
        return None
    # Whether helm-controller has gone on to install or upgrade with the present spec.
    tried = mapping_at(manifest, "status").get("lastAttemptedGeneration")
    was_tried = tried is not None and tried == mapping_at(manifest, "metadata").get("generation")
    return Target(
        parts=parts,
        leaving=is_given_up(manifest),
        in_place=upgrades_in_place(manifest),
        tried=chart_of(manifest) if was_tried else None,
    )


def _recorded(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """What helm-controller has recorded of the newest release. Without it, nothing is uninstalled."""
    status = mapping_at(manifest, "status")
    history, storage = status.get("history"), label(status, "storageNamespace")
    newest = history[0] if isinstance(history, list) and history else None
    if not (storage and isinstance(newest, dict)):
        return
    yield "storageNamespace", storage
    for part, key in (("targetNamespace", "namespace"), ("releaseName", "name"), (CHART, "chartName")):
        if value := label(newest, key):
            yield part, value


def _named(manifest: Manifest) -> dict[str, str]:
    spec = mapping_at(manifest, "spec")
    return {key: label(spec, key) for key in _MOVES}
