"""A difference as plain data, for `--output json`; docs/pull-requests.md describes it."""

from __future__ import annotations

from typing import Any

from tenantry.compare.diff import Changed, Diff, Share
from tenantry.compare.fields import FieldChange
from tenantry.compare.story import Sign, consequences
from tenantry.kube.objects import ObjectId
from tenantry.messages.data import ABSENT


def as_data(diff: Diff, limit: int | None, *, refused: bool) -> dict[str, Any]:
    """limit: how many deletions of a kind are allowed; refused: whether the environment loses too much."""
    return {
        "environment": diff.environment,
        "status": diff.status.value,
        "objects": {
            "added": len(diff.added.objects),
            "changed": len(diff.changed),
            "removed": len(diff.removed.objects),
            "unchanged": diff.unchanged,
        },
        "warnings": [text for sign, text in consequences(diff) if sign is Sign.WARNING],
        "removed": _share(diff.removed),
        "added": _share(diff.added),
        "changed": [changed_as_data(each) for each in diff.changed],
        "replaced": [
            {
                "tenant": before.tenant or None,
                "cluster": before.cluster,
                "app": before.name,
                "before": id_as_data(before.id),
                "after": id_as_data(after.id),
            }
            for before, after in diff.replaced
        ],
        "deletions": diff.deletions._asdict(),
        "maxDeletions": limit,
        "refused": refused,
    }


def _share(share: Share) -> dict[str, Any]:
    apps = [(each.tenant, {"cluster": each.cluster, "app": each.name}) for each in share.apps]
    return {
        "tenants": list(share.tenants),
        "clusters": list(share.clusters),
        "namespaces": [each._asdict() for each in share.namespaces],
        "apps": [{"tenant": tenant, **rest} for tenant, rest in apps if tenant],
        "addons": [{"cluster": rest["cluster"], "addon": rest["app"]} for tenant, rest in apps if not tenant],
        "objects": [id_as_data(each.id) for each in share.objects],
    }


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
