"""Objects and their fields as plain data, for `--output json`."""

from __future__ import annotations

from typing import Any

from tenantry.compare.diff import Changed
from tenantry.compare.fields import FieldChange
from tenantry.kube.objects import ObjectId
from tenantry.messages.data import ABSENT


def changed_as_data(changed: Changed) -> dict[str, Any]:
    """An object and its fields."""
    return {**id_as_data(changed.id), "fields": [field_as_data(each) for each in changed.fields]}


def field_as_data(field: FieldChange) -> dict[str, Any]:
    """The key `before` or `after` is omitted if the value is absent on that side."""
    sides = {"before": field.before, "after": field.after}
    return {"path": list(field.path), **{side: value for side, value in sides.items() if value is not ABSENT}}


def id_as_data(id: ObjectId) -> dict[str, str | None]:
    """The identity of an object."""
    return {"apiVersion": id.api_version, "kind": id.kind, "namespace": id.namespace or None, "name": id.name}
