"""The proof: the plan of a draft, compared object by object with what was read.

Nothing that was read may be lost in silence: every object is planned, or is in the draft's `left_over`; every field that is
lost or changed is in the proof, and so in the report. What breaks this is a defect of import itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from tenantry.facts.fields import Entry, FieldChange
from tenantry.facts.objects import compared
from tenantry.importing.equivalence import NAMESPACES_OF_SOURCES, is_effective, sides
from tenantry.importing.model import Added, Draft, Inventory, Key, Path, Proof, Proven, Read, key_of
from tenantry.kube.objects import KubeObject, Manifest, Owner, group_of, object_id
from tenantry.messages.data import ABSENT, mapping_at, value_at
from tenantry.messages.text import format_path
from tenantry.plan.objects.apps import KINDS
from tenantry.plan.plan import Plan


class Defect(Exception):
    """Import would lose something in silence, or write an invalid file. Nothing is written."""


_Identity: TypeAlias = tuple[str, Key]
"""A management cluster and an object on it."""


def prove(inventory: Inventory, draft: Draft, plans: Mapping[str, Plan]) -> Proof:
    """Compare the plans of a draft's environments with what was read."""
    planned = {(plan.management, key_of(each.manifest)): each for plan in plans.values() for each in plan.objects}
    homes = {(plan.management, each.id): name for name, plan in plans.items() for each in plan.objects}
    read = {(inventory.management[each.environment], key_of(each.manifest)): each for each in inventory.objects}
    before, after = {id: KubeObject(each.manifest, Owner()) for id, each in read.items()}, dict(planned)
    for id in read.keys() & planned.keys():
        before[id], after[id] = sides(read[id].manifest, planned[id].manifest, _chart_of(id, planned))
    found = compared(before, after)
    kept = []
    for id in filter(found.both.__contains__, read):
        fields = [field for field in found.both[id].fields if is_effective(id[1].kind, field)]
        stays = tuple(field for field in fields if _stays(field, id[1].namespace))
        kept.append(Proven(read[id], planned[id], tuple(field for field in fields if field not in stays), stays))
    added = tuple(Added(homes[id[0], each.id], each.id) for id, each in found.added.items())
    missing = tuple(read[id] for id in found.removed)
    defects = (*_defects(draft, missing), *_unplanned(draft, plans))
    return Proof(tuple(kept), added, missing, defects, tuple(_renamed(draft, planned, plans)))


def _renamed(draft: Draft, planned: Mapping[_Identity, KubeObject], plans: Mapping[str, Plan]) -> Iterator[Proven]:
    """The apps that are planned under another name. The planned object is a new one, so it has none of the old one's fields."""
    apps: dict[tuple[str, Path, str], _Identity] = {
        (environment, app.at, app.cluster): (plan.management, Key(group_of(app.id.api_version), *app.id[1:]))
        for environment, plan in plans.items()
        for app in plan.apps
    }
    for each in draft.became:
        id = apps.get((each.read.environment, each.path, each.cluster)) if each.cluster else None
        if id is not None and id[1].kind == each.read.manifest["kind"]:
            before, after = sides(each.read.manifest, planned[id].manifest, _chart_of(id, planned))
            # The name of a source tells of its namespace, too: a new object keeps nothing of an old reference.
            found = {
                (*field.path[:-1], "name") if field.path in NAMESPACES_OF_SOURCES else field.path: field
                for field in compared({id: before}, {id: after}).both[id].fields
                if field.path not in _NAME and is_effective(id[1].kind, field)
            }
            changed = tuple(replace(field, path=path) for path, field in found.items())
            yield Proven(each.read, planned[id], changed, ())


_NAME = (("metadata", "name"), ("metadata", "namespace"))


def _chart_of(id: _Identity, planned: Mapping[_Identity, KubeObject]) -> Manifest | None:
    """The planned HelmChart that a planned release takes."""
    cluster, release = id
    reference = mapping_at(planned[id].manifest, "spec", "chartRef")
    chart = (cluster, Key("source.toolkit.fluxcd.io", "HelmChart", release.namespace, str(reference.get("name"))))
    return planned[chart].manifest if reference.get("kind") == "HelmChart" and chart in planned else None


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
    read = {
        (each.read.environment, each.path, each.read.id)
        for each in draft.became
        if each.read.manifest["kind"] in KINDS.values() and each.path[-2:-1] in (("apps",), ("addons",))
    }
    for (environment, path), count in Counter((environment, path) for environment, path, _ in read).items():
        if count > planned[environment, path]:
            yield (
                f"{count} objects of environment '{environment}' are said to be at {format_path(path)}, which plans"
                f" {planned[environment, path]}"
            )
