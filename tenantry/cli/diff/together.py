"""Puts together what is the same: tenants that change alike, and environments in which the same happens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tenantry.compare.diff import Status
from tenantry.compare.review.model import Change, Effect, EnvironmentReview, PartKind, Review, TenantReview
from tenantry.messages.text import grouped

_ORDER = (Effect.REMOVED, Effect.RENAMED, Effect.CHANGED, Effect.ADDED)
"""What is removed is shown first, because it is what a reviewer must not miss if there is too much to show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alike:
    """Tenants that change alike. review: of the first of them, with the clusters of all."""

    tenants: tuple[str, ...]
    review: TenantReview


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """Environments in which the same happens. clusters: what happens to clusters as a whole."""

    environments: tuple[EnvironmentReview, ...]
    clusters: tuple[Change, ...]
    tenants: tuple[Alike, ...]


_OF_ALL = (PartKind.TENANT, PartKind.SETTINGS)


def parted(review: TenantReview) -> tuple[Change | None, tuple[Change, ...]]:
    """The change of the tenant itself, if there is exactly one, and the other changes."""
    own = [each for each in review.changes if each.part.kind in _OF_ALL and each.effect is review.effect]
    if len(own) != 1:
        return None, review.changes
    return own[0], tuple(each for each in review.changes if each is not own[0])


def together(review: Review, *, apart: bool = False) -> list[Together]:
    """Everything in the order of the file, grouped. Args: apart: group nothing."""
    each = [_environment(one, apart=apart) for one in review.environments]
    if apart:
        return each
    return [_joined(own) for own in grouped(each, _same_environment).values()]


def _environment(review: EnvironmentReview, *, apart: bool) -> Together:
    told = review.tenants if apart else _without_those_of_clusters(review)
    tenants = sorted(told, key=lambda one: _ORDER.index(one.effect))
    groups = [[one] for one in tenants] if apart else list(grouped(tenants, _same_tenant).values())
    alike = tuple(Alike(tenants=tuple(one.tenant for one in own), review=_merged(own)) for own in groups)
    return Together(environments=(review,), clusters=review.clusters, tenants=alike)


def _without_those_of_clusters(review: EnvironmentReview) -> list[TenantReview]:
    """The tenants without what only comes or goes with a cluster: the sentence about the cluster tells it."""
    whole = {(each.effect, cluster) for each in review.clusters for cluster in each.clusters}

    def is_told(change: Change) -> bool:
        of_tenant = change.part.kind is PartKind.TENANT or not change.part.tenant
        return of_tenant and all((change.effect, cluster) in whole for cluster in change.clusters)

    told = [each for each in review.tenants if each.effect is Effect.CHANGED]
    left = {each.tenant: tuple(one for one in each.changes if not is_told(one)) for each in told}
    kept = [replace(each, changes=left.get(each.tenant, each.changes)) for each in review.tenants]
    return [each for each in kept if each.changes or each.sentences or each.effect is not Effect.CHANGED]


def _joined(own: Sequence[Together]) -> Together:
    columns = zip(*(each.tenants for each in own), strict=True)
    alike = tuple(replace(column[0], review=_merged([each.review for each in column])) for column in columns)
    environments = tuple(one for each in own for one in each.environments)
    return Together(environments=environments, clusters=own[0].clusters, tenants=alike)


def _same_environment(shown: Together) -> Any:
    (review,) = shown.environments
    if review.status is not Status.KEPT or shown.clusters:
        return review.environment
    return tuple((each.tenants, _same_tenant(each.review)) for each in shown.tenants)


def _same_tenant(review: TenantReview) -> Any:
    if not review.tenant:
        return ("", review.sentences, tuple(map(_same_change, review.changes)))
    return (review.effect, review.sentences, tuple(map(_same_change, review.changes)))


def _same_change(change: Change) -> Any:
    """What has to be equal. A change on every cluster of its tenant is the same for another tenant on other clusters."""
    clusters = () if len(change.clusters) == change.of else change.clusters
    values = (repr(change.settings), repr(change.fields))
    return (change.part.kind, change.part.name, change.effect, change.sentences, values, clusters)


def _merged(reviews: Sequence[TenantReview]) -> TenantReview:
    """The first one, with the clusters of all."""
    if len(reviews) == 1:
        return reviews[0]
    columns = zip(*(each.changes for each in reviews), strict=True)
    return replace(reviews[0], changes=tuple(_on_all(column) for column in columns))


def _on_all(changes: Iterable[Change]) -> Change:
    first, *others = changes
    if len(first.clusters) != first.of:
        return first
    clusters = tuple(dict.fromkeys(cluster for each in (first, *others) for cluster in each.clusters))
    return replace(first, clusters=clusters, of=len(clusters))
