"""A difference as plain data, for `--output json`; docs/pull-requests.md describes it."""

from __future__ import annotations

from typing import Any

from tenantry.consequences import Sign, consequences
from tenantry.diff import Changed, Diff, Share
from tenantry.fields import ABSENT, FieldChange
from tenantry.kube import ObjectId


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
        "changed": [_changed(each) for each in diff.changed],
        "replaced": [
            {
                "tenant": before.tenant or None,
                "cluster": before.cluster,
                "app": before.name,
                "before": _id(before.id),
                "after": _id(after.id),
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
        "objects": [_id(each.id) for each in share.objects],
    }


def _changed(changed: Changed) -> dict[str, Any]:
    return {**_id(changed.id), "fields": [_field(each) for each in changed.fields]}


def _field(field: FieldChange) -> dict[str, Any]:
    """A side that has no such value has no key either."""
    sides = {"before": field.before, "after": field.after}
    return {"path": list(field.path), **{side: value for side, value in sides.items() if value is not ABSENT}}


def _id(id: ObjectId) -> dict[str, str | None]:
    return {"apiVersion": id.api_version, "kind": id.kind, "namespace": id.namespace or None, "name": id.name}
