"""A difference as a document, for `--output json`; docs/output-reference.md lists its keys."""

from __future__ import annotations

from collections.abc import Sequence

from tenantry.cli.diff.words import of_classes
from tenantry.cli.documents import diff as documents
from tenantry.compare.diff import Diff, Share
from tenantry.compare.review.model import EnvironmentReview, RolledOut
from tenantry.messages.errors import Refused


def environment_document(
    diff: Diff,
    review: EnvironmentReview | None,
    limit: int | str | None,
    refusals: Sequence[Refused],
) -> documents.ChangedEnvironment:
    """An environment.

    Args: review: None: nothing differs. limit: how many deletions of a kind are allowed. refusals: why `tenantry up` refuses it.
    """
    return documents.ChangedEnvironment(
        environment=diff.environment,
        status=diff.status,
        objects=documents.Counts(
            added=len(diff.added.objects),
            changed=len(diff.changed),
            removed=len(diff.removed.objects),
            unchanged=diff.unchanged,
        ),
        warnings=[danger.text for danger in review.dangers] if review else [],
        review=review_document(review) if review else None,
        removed=_share(diff.removed),
        added=_share(diff.added),
        changed=diff.changed,
        replaced=diff.replaced,
        deletions=diff.deletions,
        max_deletions=limit,
        refused=bool(refusals),
        refusals=refusals,
    )


def review_document(review: EnvironmentReview) -> documents.Review:
    """What happens to whom in an environment."""
    return documents.Review(
        clusters=review.total,
        dangers=review.dangers,
        rollout=_rolled_out(review.waves) if review.waves else None,
        changed_clusters=review.clusters,
        classes=[
            documents.ClassReview(name=alike.review.of_class, tenants=alike.tenants, changes=alike.review.changes)
            for alike in of_classes(review)
        ],
        tenants=[each for each in review.tenants if not each.of_class],
    )


def _rolled_out(rolled: RolledOut) -> documents.RolledOut:
    names = {wave.number: wave.name for wave in rolled.rollout.waves}
    waves = [
        documents.TouchedWave(number=number, name=names[number], clusters=clusters)
        for number, clusters in rolled.clusters.items()
    ]
    return documents.RolledOut(total=len(names), waves=waves)


def _share(share: Share) -> documents.Share:
    return documents.Share(
        tenants=share.tenants,
        clusters=share.clusters,
        namespaces=share.namespaces,
        apps=[app for app in share.apps if app.tenant],
        addons=[each for each in share.apps if not each.tenant],
        objects=share.objects,
    )
