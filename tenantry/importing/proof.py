"""The proof and the report: the plan of a draft, compared as facts with what was read.

Every object that was read is equal, different, left where it is, or cannot be expressed, with the reason. What is neither planned
nor has a reason would be lost in silence: that is a defect of import itself, and nothing is written then.

Never: shows the value of a Secret. The comparison masks secrets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import ClassVar, TypeAlias

from tenantry.facts.objects import FieldChange, compared
from tenantry.importing.blocks import NAMESPACES_OF_SOURCES, is_effective, sides
from tenantry.importing.drafting import Draft
from tenantry.importing.resources import Inventory, Key, Reason, Resource, Unread, key_of
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, group_of
from tenantry.load import fleet_of, plan_all
from tenantry.messages.data import ABSENT, mapping_at
from tenantry.messages.errors import InvalidFleet, Path
from tenantry.messages.text import format_path, printable
from tenantry.plan.objects.apps import KINDS
from tenantry.plan.plan import Plan
from tenantry.source.parse import parse


class Defect(Exception):
    """Import would lose something in silence, or write an invalid file. Nothing is written."""


class Outcome(StrEnum):
    """What becomes of an object that was read.

    DIFFERENT: adoption changes fields of it, or something is planned under another name that does the same.
    LEFT:      it stays, and what applies it today goes on, or an app of the file does.
    INEXPRESSIBLE: the file cannot say it, or somebody has to decide first.
    """

    EQUAL = "equal"
    DIFFERENT = "different"
    LEFT = "left"
    INEXPRESSIBLE = "inexpressible"


@dataclass(frozen=True, slots=True)
class Result:
    """What became of an object.

    path, line: the part of the file that expresses it; () and 0: none does. planned: the planned object, also of another name.
    changed: fields that adoption adds or changes, and entries of lists that it removes. Secrets are masked.
    held:    fields that the plan does not set. Adoption leaves them on the object, but tenants.yaml does not say them.
    reasons: why the file does not express it, or a part of it, or has it under another name.
    """

    environment: str
    origin: str
    id: ObjectId
    outcome: Outcome
    path: Path = ()
    line: int = 0
    planned: ObjectId | None = None
    changed: tuple[FieldChange, ...] = ()
    held: tuple[FieldChange, ...] = ()
    reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class Report:
    """file: the name of the written tenants.yaml; text: its content. environments: with their management clusters.

    added: what adoption creates, by environment. unread: places that could not be read.
    """

    json_keys: ClassVar = ("file", "environments", "counts", "unread", "objects", "added")
    file: str
    text: str
    environments: Mapping[str, str]
    unread: tuple[Unread, ...]
    objects: tuple[Result, ...]
    added: Mapping[str, tuple[ObjectId, ...]]

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many objects were read, and how many have each outcome; they add up. added: adoption creates them."""
        outcomes = Counter(result.outcome for result in self.objects)
        added = sum(map(len, self.added.values()))
        return {"read": len(self.objects), **{outcome.value: outcomes[outcome] for outcome in Outcome}, "added": added}

    @property
    def expressed(self) -> int:
        """How many objects the file expresses."""
        return self.counts["equal"] + self.counts["different"]

    def of(self, *outcomes: Outcome) -> list[Result]:
        return [result for result in self.objects if result.outcome in outcomes]


_Identity: TypeAlias = tuple[str, Key]
"""A management cluster and an object on it."""


def report_of(inventory: Inventory, draft: Draft, text: str, file: str) -> Report:
    """The report on a draft as it will be written. Args: text: the content of the file.

    Raises: Defect: the file would be invalid, or something that was read would be lost in silence.
    """
    try:
        parsed = parse(text.encode(), file)
        plans = plan_all(fleet_of(parsed))
    except InvalidFleet as invalid:
        first = invalid.diagnostics[0]
        raise Defect(f"the draft is invalid: {first.location}: {first.message}") from invalid
    results = list(_results(inventory.management, draft, plans))
    lost = (
        f"{resource.key} ({resource.origin}) is neither planned nor reported"
        for resource, result in zip(draft.resources, results, strict=True)
        if result.planned is None and resource.is_left is None
    )
    if defects := [*lost, *_unplanned(draft, plans)]:
        raise Defect(printable("; ".join(defects)))
    results = [
        replace(result, line=parsed.locate(result.path, key=True).line) if result.path else result for result in results
    ]
    read = {(inventory.management[resource.environment], resource.key) for resource in draft.resources}
    added = {
        name: tuple(object.id for object in plan.objects if (plan.management, key_of(object.manifest)) not in read)
        for name, plan in plans.items()
    }
    hubs = {name: plan.management for name, plan in plans.items()}
    return Report(file, text, hubs, tuple(inventory.unread), tuple(results), added)


def _results(hubs: Mapping[str, str], draft: Draft, plans: Mapping[str, Plan]) -> Iterator[Result]:
    planned = {(plan.management, key_of(object.manifest)): object for plan in plans.values() for object in plan.objects}
    apps: dict[tuple[str, tuple[str, str, str]], _Identity] = {
        (name, (app.tenant, app.name, app.cluster)): (plan.management, Key(group_of(app.id.api_version), *app.id[1:]))
        for name, plan in plans.items()
        for app in plan.apps
    }
    for resource in draft.resources:
        place, reasons = (resource.environment, resource.origin, resource.id), tuple(resource.reasons)
        identity = (hubs[resource.environment], resource.key)
        if resource.app and resource.path and identity not in planned:
            other = apps.get((resource.environment, resource.app), identity)
            identity = other if other[1].kind == resource.kind else identity
        if identity in planned:
            is_renamed = identity[1] != resource.key
            fields = _fields(resource, identity, planned)
            held = () if is_renamed else tuple(field for field in fields if _is_held(field, resource.namespace))
            changed = tuple(field for field in fields if field not in held)
            outcome = Outcome.DIFFERENT if changed or is_renamed else Outcome.EQUAL
            path = resource.path or ()
            yield Result(*place, outcome, path, 0, planned[identity].id, changed, held, reasons)
        elif resource.path is not None:
            yield Result(*place, Outcome.DIFFERENT, resource.path, reasons=reasons)
        else:
            yield Result(*place, Outcome.LEFT if resource.is_left else Outcome.INEXPRESSIBLE, reasons=reasons)


_NAME = (("metadata", "name"), ("metadata", "namespace"))


def _fields(
    resource: Resource, identity: _Identity, planned: Mapping[_Identity, KubeObject]
) -> tuple[FieldChange, ...]:
    """The fields in which an object differs in effect from the planned one, which may have another name."""
    before, after = sides(resource.manifest, planned[identity].manifest, _chart_of(identity, planned))
    fields = compared({identity: before}, {identity: after}).both[identity].fields
    fields = tuple(field for field in fields if is_effective(resource.kind, field))
    if identity[1] == resource.key:
        return fields
    # The name of a source tells of its namespace, too: a new object keeps nothing of an old reference.
    renamed = {
        (*field.path[:-1], "name") if field.path in NAMESPACES_OF_SOURCES else field.path: field
        for field in fields
        if field.path not in _NAME
    }
    return tuple(replace(field, path=path) for path, field in renamed.items())


def _chart_of(identity: _Identity, planned: Mapping[_Identity, KubeObject]) -> Manifest | None:
    """The planned HelmChart that a planned release takes."""
    cluster, release = identity
    reference = mapping_at(planned[identity].manifest, "spec", "chartRef")
    chart = (cluster, Key("source.toolkit.fluxcd.io", "HelmChart", release.namespace, str(reference.get("name"))))
    return planned[chart].manifest if reference.get("kind") == "HelmChart" and chart in planned else None


def _is_held(change: FieldChange, namespace: str) -> bool:
    """Whether the value remains on the object: server-side apply replaces lists, and leaves keys that it does not know.

    The version of an API is no field that an object could keep, but a plan always has one. The namespace of a source elsewhere
    would stay, too, and Flux would look there for the new one. The template of a chart goes before the run.
    """
    if change.path in NAMESPACES_OF_SOURCES and change.before != namespace:
        return False
    if change.path[:3] == ("spec", "chart", "spec"):
        return False
    return change.after is ABSENT and not any(isinstance(part, int) for part in change.path)


def _unplanned(draft: Draft, plans: Mapping[str, Plan]) -> Iterator[str]:
    """Apps that the draft has fewer times than they were read: the old ones would be removed, and nothing takes their place."""
    planned: Counter[tuple[str, Path]] = Counter((name, app.at) for name, plan in plans.items() for app in plan.apps)
    apps = {
        (resource.environment, resource.path, resource.key)
        for resource in draft.resources
        if resource.path and resource.kind in KINDS.values() and resource.path[-2:-1] in (("apps",), ("addons",))
    }
    for (environment, path), count in Counter((name, path) for name, path, _ in apps).items():
        if count > planned[environment, path]:
            place = f"{format_path(path)}, which plans {planned[environment, path]}"
            yield f"{count} objects of environment '{environment}' are said to be at {place}"
