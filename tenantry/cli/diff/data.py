"""A difference as plain data, for `--output json`; docs/pull-requests.md describes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenantry.cli.diff.objects_data import changed_as_data, id_as_data
from tenantry.cli.diff.review_data import review_as_data
from tenantry.compare.diff import Diff, Share
from tenantry.compare.review.model import EnvironmentReview
from tenantry.messages.errors import Refused


def as_data(
    diff: Diff, review: EnvironmentReview | None, limit: int | None, refusals: Sequence[Refused]
) -> dict[str, Any]:
    """An environment.

    Args: review: None: nothing differs; limit: how many deletions of a kind are allowed; refusals: why `tenantry up` refuses it.
    """
    return {
        "environment": diff.environment,
        "status": diff.status.value,
        "objects": {
            "added": len(diff.added.objects),
            "changed": len(diff.changed),
            "removed": len(diff.removed.objects),
            "unchanged": diff.unchanged,
        },
        "warnings": [each.text for each in review.dangers] if review else [],
        "review": review_as_data(review) if review else None,
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
        "refused": bool(refusals),
        "refusals": [{"code": each.code, "message": each.message, "fix": each.fix} for each in refusals],
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
