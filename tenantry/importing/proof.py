"""The proof: the plan of a draft, compared object by object with what was read.

Nothing that was read may be lost in silence: every object is planned, or is in the draft's `left_over`; every field that is
lost or changed is in the proof, and so in the report. What breaks this is a defect of import itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from tenantry.facts.fields import Entry, FieldChange
from tenantry.importing.equivalence import NAMESPACES_OF_SOURCES, differences
from tenantry.importing.model import Added, Became, Draft, Inventory, Path, Proof, Proven, Read
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, object_id
from tenantry.messages.data import ABSENT, mapping_at, value_at
from tenantry.messages.text import format_path
from tenantry.plan.objects.apps import KINDS
from tenantry.plan.plan import Plan

_OF_CHART = (
    "chart",
    "ignoreMissingValuesFiles",
    "interval",
    "reconcileStrategy",
    "sourceRef",
    "valuesFiles",
    "verify",
    "version",
)


def alike(read: Manifest, planned: Manifest, chart: Manifest | None) -> tuple[Manifest, Manifest]:
    """The release as it was read and as it is planned, both with a template, so that their charts can be compared.

    The planned one keeps its `chartRef`, because adoption changes that.
    """
    template = mapping_at(read, "spec", "chart")
    if not template or chart is None:
        return read, planned
    spec = {"interval": read["spec"].get("interval"), "version": "*", **mapping_at(template, "spec")}
    # The labels are those of the generated HelmChart, which goes.
    labels = {key: each for key, each in template.items() if key == "metadata"}
    of_chart = {key: value for key, value in chart["spec"].items() if key in _OF_CHART}
    return (
        _with_template(read, {**template, "spec": spec}),
        _with_template(planned, {**labels, "spec": of_chart}),
    )


def _with_template(release: Manifest, template: dict[str, Any]) -> Manifest:
    return {**release, "spec": {**release["spec"], "chart": template}}


class Defect(Exception):
    """Import would lose something in silence, or write an invalid file. Nothing is written."""


class Identity(NamedTuple):
    """An object wherever it is: the version of its API does not count, as API servers convert objects."""

    cluster: str
    group: str
    kind: str
    namespace: str
    name: str


def prove(inventory: Inventory, draft: Draft, plans: Mapping[str, Plan]) -> Proof:
    """Compare the plans of a draft's environments with what was read."""
    planned = {
        _on(plan.management, planned.id): (environment, planned)
        for environment, plan in plans.items()
        for planned in plan.objects
    }
    read = {_identity(inventory, each): each for each in inventory.objects}
    kept = tuple(_proven(id, each, planned) for id, each in read.items() if id in planned)
    there = read.keys() | {_identity(inventory, each) for each in inventory.reading.assumed}
    added = tuple(Added(environment, each.id) for id, (environment, each) in planned.items() if id not in there)
    missing = tuple(each for id, each in read.items() if id not in planned)
    renamed = tuple(_renamed(draft, planned, plans))
    return Proof(kept, added, missing, (*_defects(draft, missing), *_unplanned(draft, plans)), renamed)


_Planned: TypeAlias = dict[Identity, tuple[str, KubeObject]]
"""Each planned object, and the environment that plans it."""


def _identity(inventory: Inventory, read: Read) -> Identity:
    return _on(inventory.management[read.environment], object_id(read.manifest))


def _on(cluster: str, id: ObjectId) -> Identity:
    group, _, _ = id.api_version.rpartition("/")
    return Identity(cluster, group, id.kind, id.namespace, id.name)


def _proven(id: Identity, read: Read, planned: _Planned) -> Proven:
    _, object = planned[id]
    both = alike(read.manifest, object.manifest, _chart_of(id, object, planned))
    found = tuple(differences(*both))
    stays = tuple(each for each in found if _stays(each, id.namespace))
    return Proven(read, object, tuple(each for each in found if each not in stays), stays)


def _renamed(draft: Draft, planned: _Planned, plans: Mapping[str, Plan]) -> Iterator[Proven]:
    """The apps that are planned under another name. The planned object is a new one, so it has none of the old one's fields."""
    apps: dict[tuple[str, Path, str], Identity] = {
        (environment, app.at, app.cluster): _on(plan.management, app.id)
        for environment, plan in plans.items()
        for app in plan.apps
    }
    for each in draft.became:
        id = apps.get((each.read.environment, each.path, each.cluster)) if each.cluster else None
        if id is not None and id.kind == each.read.manifest["kind"]:
            object = planned[id][1]
            both = alike(each.read.manifest, object.manifest, _chart_of(id, object, planned))
            # The name of a source tells of its namespace, too: a new object keeps nothing of an old reference.
            found = {_sources(change.path): change for change in differences(*both) if change.path not in _NAME}
            changed = tuple(replace(change, path=path) for path, change in found.items())
            yield Proven(each.read, object, changed, ())


_NAME = (("metadata", "name"), ("metadata", "namespace"))


def _sources(path: Path) -> Path:
    return (*path[:-1], "name") if path in NAMESPACES_OF_SOURCES else path


def _chart_of(id: Identity, release: KubeObject, planned: _Planned) -> Manifest | None:
    """The planned HelmChart that a planned release takes."""
    reference = mapping_at(release.manifest, "spec", "chartRef")
    name = str(reference.get("name"))
    found = planned.get(
        Identity(id.cluster, "source.toolkit.fluxcd.io", str(reference.get("kind")), id.namespace, name)
    )
    return found[1].manifest if found and reference.get("kind") == "HelmChart" else None


def _stays(change: FieldChange, namespace: str) -> bool:
    """Whether the value remains on the object: server-side apply replaces lists, and leaves keys that it does not know.

    The version of an API is no field that an object could keep, but a plan always has one. The namespace of a source elsewhere
    would stay, too, and Flux would look there for the new one. The template of a chart goes before the run.
    """
    if change.path in NAMESPACES_OF_SOURCES and change.before != namespace:
        return False
    if change.path[:3] == ("spec", "chart", "spec"):
        return False
    in_list = any(isinstance(part, int | Entry) for part in change.path)
    return change.after is ABSENT and not in_list


def _defects(draft: Draft, missing: tuple[Read, ...]) -> Iterator[str]:
    told = [each.read for each in draft.left_over if not each.field]
    for each in missing:
        if each not in told:
            yield f"{object_id(each.manifest)} ({each.origin}) is neither planned nor reported"
    for became in draft.became:
        if value_at(draft.data, became.path, ABSENT) is ABSENT:
            yield f"{object_id(became.read.manifest)} is said to be at {format_path(became.path)}, which is not written"


def _unplanned(draft: Draft, plans: Mapping[str, Plan]) -> Iterator[str]:
    """Apps that the draft has fewer times than they were read: the old ones would be removed, and nothing takes their place."""
    planned: Counter[tuple[str, Path]] = Counter(
        (environment, app.at) for environment, plan in plans.items() for app in plan.apps
    )
    read = {(each.read.environment, each.path, object_id(each.read.manifest)) for each in draft.became if _is_app(each)}
    for (environment, path), count in Counter((environment, path) for environment, path, _ in read).items():
        if count > planned[environment, path]:
            yield (
                f"{count} objects of environment '{environment}' are said to be at {format_path(path)}, which plans"
                f" {planned[environment, path]}"
            )


def _is_app(became: Became) -> bool:
    return became.read.manifest["kind"] in KINDS.values() and became.path[-2:-1] in (("apps",), ("addons",))
