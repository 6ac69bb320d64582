"""A review as plain data, for `--output json`; docs/pull-requests.md describes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenantry.cli.diff.objects_data import field_as_data, id_as_data
from tenantry.compare.review.model import Change, EnvironmentReview, RolledOut, Setting, TenantReview
from tenantry.messages.data import ABSENT


def review_as_data(review: EnvironmentReview) -> dict[str, Any]:
    """What happens to whom in an environment."""
    return {
        "clusters": review.total,
        "dangers": [
            {
                "kind": each.kind.value,
                "text": each.text,
                "tenants": list(each.tenants),
                "clusters": list(each.clusters),
            }
            for each in review.dangers
        ],
        **({"rollouts": [_rolled_out(each) for each in review.waves]} if review.waves else {}),
        "changedClusters": [_change(each) for each in review.clusters],
        "tenants": [_tenant(each) for each in review.tenants],
    }


def _rolled_out(rolled: RolledOut) -> dict[str, Any]:
    names = {each.number: each.name for each in rolled.rollout.waves}
    waves = [{"number": each, "name": names[each], "clusters": found} for each, found in rolled.clusters.items()]
    return {"rollout": rolled.rollout.name, "total": len(names), "waves": waves}


def _tenant(review: TenantReview) -> dict[str, Any]:
    return {
        "tenant": review.tenant or None,
        "effect": review.effect.value,
        "was": review.was,
        "sentences": list(review.sentences),
        "changes": [_change(each) for each in review.changes],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "kind": change.part.kind.value,
        "name": change.part.name,
        "effect": change.effect.value,
        "was": change.was,
        "clusters": list(change.clusters),
        "of": change.of,
        "sentences": list(change.sentences),
        "settings": [dict(_setting(each)) for each in change.settings],
        "fields": [field_as_data(each) for each in change.fields],
        "objects": [id_as_data(each) for each in change.objects],
    }


def _setting(setting: Setting) -> Iterator[tuple[str, Any]]:
    """The key `before` or `after` is omitted if the value is absent on that side."""
    yield "key", setting.key
    yield from (
        (side, value) for side, value in (("before", setting.before), ("after", setting.after)) if value is not ABSENT
    )
