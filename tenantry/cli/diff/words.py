"""The words that every format of a review uses, and what it puts together: tenants that change alike, equal environments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tenantry.cli.diff.values import DisplayLimits
from tenantry.compare.diff import Status
from tenantry.compare.review.model import (
    Change,
    Danger,
    Effect,
    EnvironmentReview,
    Part,
    PartKind,
    Review,
    TenantReview,
)
from tenantry.messages.text import counted, grouped, listed

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
    own = [change for change in review.changes if change.part.kind in _OF_ALL and change.effect is review.effect]
    if len(own) != 1:
        return None, review.changes
    return own[0], tuple(each for each in review.changes if each is not own[0])


def together(review: Review, *, apart: bool = False) -> list[Together]:
    """Everything in the order of the file, grouped. Args: apart: group nothing."""
    each = [_environment(one, apart=apart) for one in review.environments]
    if apart:
        return each
    return [_same_in_all(own) for own in grouped(each, _same_environment).values()]


def of_classes(review: EnvironmentReview) -> tuple[Alike, ...]:
    """What classes change, each once for all tenants to whom the same happens, with the objects of all."""
    reviews = [each for each in review.tenants if each.of_class]
    return tuple(
        Alike(
            tenants=tuple(one.tenant for one in own),
            review=replace(
                _merged(own),
                changes=tuple(
                    replace(_on_all(column), objects=tuple(id for each in column for id in each.objects))
                    for column in zip(*(one.changes for one in own), strict=True)
                ),
            ),
        )
        for own in grouped(reviews, _same_tenant).values()
    )


def _environment(review: EnvironmentReview, *, apart: bool) -> Together:
    told = review.tenants if apart else _without_those_of_clusters(review)
    tenants = sorted(told, key=lambda one: _ORDER.index(one.effect))
    groups = [[one] for one in tenants] if apart else list(grouped(tenants, _same_tenant).values())
    alike = tuple(Alike(tenants=tuple(one.tenant for one in own), review=_merged(own)) for own in groups)
    return Together(environments=(review,), clusters=review.clusters, tenants=alike)


def _without_those_of_clusters(review: EnvironmentReview) -> list[TenantReview]:
    """The tenants without what only comes or goes with a cluster: the sentence about the cluster tells it."""
    told = [tenant for tenant in review.tenants if tenant.effect is Effect.CHANGED]
    left = {id(each): tuple(one for one in each.changes if not _is_told(review, one)) for each in told}
    kept = [replace(each, changes=left.get(id(each), each.changes)) for each in review.tenants]
    return [each for each in kept if each.changes or each.sentences or each.effect is not Effect.CHANGED]


def told_by(review: EnvironmentReview, change: Change) -> tuple[Change, ...]:
    """The changes of whole clusters that a tenant's change comes with, and that tell it; empty if it is told by itself."""
    return (
        tuple(each for each in _of_clusters(review) if {*each.clusters} & {*change.clusters})
        if _is_told(review, change)
        else ()
    )


def _of_clusters(review: EnvironmentReview) -> Iterator[Change]:
    """The changes of clusters, and environments that come or go. What changes in the others, such as waves, tells no add-on."""
    return (
        each
        for each in review.clusters
        if each.part.kind is not PartKind.ENVIRONMENT or each.effect is not Effect.CHANGED
    )


def _is_told(review: EnvironmentReview, change: Change) -> bool:
    whole = {(each.effect, cluster) for each in _of_clusters(review) for cluster in each.clusters}
    of_tenant = change.part.kind is PartKind.TENANT or not change.part.tenant
    return of_tenant and all((change.effect, cluster) in whole for cluster in change.clusters)


def _same_in_all(own: Sequence[Together]) -> Together:
    columns = zip(*(each.tenants for each in own), strict=True)
    alike = tuple(replace(column[0], review=_merged([each.review for each in column])) for column in columns)
    environments = tuple(one for each in own for one in each.environments)
    return Together(environments=environments, clusters=own[0].clusters, tenants=alike)


def _same_environment(shown: Together) -> Any:
    (review,) = shown.environments
    if review.status is not Status.KEPT or shown.clusters:
        return review.environment
    return tuple((tenant.tenants, _same_tenant(tenant.review)) for tenant in shown.tenants)


def _same_tenant(review: TenantReview) -> Any:
    if not review.tenant:
        return ("", review.sentences, tuple(map(_same_change, review.changes)))
    return (review.effect, review.of_class, review.sentences, tuple(map(_same_change, review.changes)))


def _same_change(change: Change) -> Any:
    """What has to be equal. A change on every cluster of its tenant is the same for another tenant on other clusters."""
    clusters = () if len(change.clusters) == change.of else change.clusters
    values = (repr(change.settings), repr(change.fields))
    return (change.part.kind, change.part.name, change.effect, change.sentences, values, clusters)


def _merged(reviews: Sequence[TenantReview]) -> TenantReview:
    """The first one, with the clusters of all."""
    if len(reviews) == 1:
        return reviews[0]
    columns = zip(*(review.changes for review in reviews), strict=True)
    return replace(reviews[0], changes=tuple(_on_all(column) for column in columns))


def _on_all(changes: Iterable[Change]) -> Change:
    first, *others = changes
    if len(first.clusters) != first.of:
        return first
    clusters = tuple(dict.fromkeys(cluster for each in (first, *others) for cluster in each.clusters))
    return replace(first, clusters=clusters, of=len(clusters))


SIGNS = {Effect.ADDED: "+", Effect.REMOVED: "-", Effect.CHANGED: "~", Effect.RENAMED: "~"}
_STATUS = {Status.KEPT: "", Status.ADDED: " (new)", Status.REMOVED: " (no longer declared)"}
_KINDS = {PartKind.APP: "app", PartKind.ADDON: "add-on"}


def heading(shown: Together) -> str:
    """prod: 2 tenants, 3 apps on 479 of 501 clusters"""
    names = ", ".join(environment.environment for environment in shown.environments)
    return f"{names}{_STATUS[shown.environments[0].status]}: {extent(shown.environments)}"


def extent(environments: Sequence[EnvironmentReview]) -> str:
    """How much is concerned. Several environments count together, because the same happens to all of them."""
    tenants = {each.tenant for one in environments for each in one.tenants if each.tenant}
    tenants |= {tenant for one in environments for tenant in _behind_clusters(one)}
    changes = [(each.tenant, change) for one in environments for each in one.tenants for change in each.changes]
    parts = {(tenant, change.part.kind, change.part.name) for tenant, change in changes}
    numbers = [(len(tenants), "tenant")]
    numbers += [(sum(part[1] is kind for part in parts), noun) for kind, noun in _KINDS.items()]
    told = ", ".join(counted(number, noun) for number, noun in numbers if number)
    own = [environment.clusters for environment in environments] + [[each for _, each in changes]]
    clusters = {cluster for those in own for change in those for cluster in change.clusters}
    total = max(len(clusters), sum(each.total for each in environments))
    share = [_share(len(clusters), total)] if clusters else []
    return " on ".join([told, *share] if told else share) or _without_clusters(environments)


def _behind_clusters(environment: EnvironmentReview) -> set[str]:
    """The tenants of objects that change with a cluster, such as those that its state marks."""
    objects = {id for change in environment.clusters for id in change.objects}
    if not objects:
        return set()
    return {each.after.owner.tenant for each in environment.diff.changed if each.id in objects} - {""}


def _without_clusters(environments: Sequence[EnvironmentReview]) -> str:
    if any(environment.tenants for environment in environments):
        return "the platform"
    changed = any(each.effect is Effect.CHANGED for environment in environments for each in environment.clusters)
    return "the environment itself" if changed else "no object changes"


def _share(number: int, of: int) -> str:
    """479 of 501 clusters; all 501 clusters; both clusters; 1 cluster"""
    if number == of:
        return {1: "1 cluster", 2: "both clusters"}.get(of, f"all {of} clusters")
    return f"{number} of {counted(of, 'cluster')}"


def where(change: Change, limits: DisplayLimits) -> str:
    """Such as " on edge-1, edge-2", " on all 501 clusters" or " on edge-1 (1 of 3 clusters)"; "" if it is on no cluster."""
    number, of = len(change.clusters), max(change.of, len(change.clusters))
    if not number or change.part.kind is PartKind.CLUSTER:
        return ""
    if number > limits.few:
        return f" on {_share(number, of)}"
    return f" on {', '.join(change.clusters)}" + (f" ({_share(number, of)})" if number < of else "")


def part_in_words(part: Part) -> str:
    """Such as "app web"."""
    if part.kind is PartKind.SETTINGS:
        return part.name or "settings"
    kind = _KINDS.get(part.kind, part.kind.value)
    return f"{kind} {part.name}".rstrip()


def who(shown: Alike, limits: DisplayLimits) -> str:
    """Such as "tenant rocky" or "200 tenants (rocky, movy and 198 more)"."""
    if not shown.tenants[0]:
        return "platform"
    if shown.review.of_class:
        return f"class {shown.review.of_class}, for {_tenants(shown, limits)}"
    return _tenants(shown, limits)


def _tenants(shown: Alike, limits: DisplayLimits) -> str:
    if len(shown.tenants) == 1:
        return f"tenant {shown.tenants[0]}"
    return f"{len(shown.tenants)} tenants ({listed(shown.tenants, limits.names)})"


class OneDanger(NamedTuple):
    """A danger, told once. each: the environments where it is, with their own sentences and clusters."""

    danger: Danger
    each: tuple[tuple[str, Danger], ...]

    @property
    def environments(self) -> str:
        return ", ".join(name for name, _ in self.each)


def dangers(review: Review, *, wherever: bool = False) -> list[OneDanger]:
    """All dangers. The same danger in several environments is told once.

    Args: wherever: it is the same on whatever clusters it is.
    """
    all = ((environment.environment, danger) for environment in review.environments for danger in environment.dangers)
    groups = grouped(
        all, lambda pair: (pair[1].kind, (wherever and pair[1].anywhere) or pair[1].everywhere or pair[1].text)
    )
    return [OneDanger(_joined([danger for _, danger in own]), tuple(own)) for own in groups.values()]


def _joined(dangers: Sequence[Danger]) -> Danger:
    """The same danger in several environments, on the clusters of all."""
    texts = ({danger.text for danger in dangers}, {danger.everywhere for danger in dangers})
    if len(texts[0]) == 1:
        return dangers[0]
    everywhere = dangers[0].everywhere if len(texts[1]) == 1 else ""
    return replace(dangers[0], text=everywhere or dangers[0].anywhere)


def more_dangers(left: Sequence[Danger]) -> str:
    """Such as "and 12 more: 10 network, 2 quota"."""
    kinds = grouped(left, lambda each: each.kind)
    told = ", ".join(f"{len(own)} {kind}" for kind, own in kinds.items())
    return f"and {len(left)} more: {told}; --all shows them"


def left_out(groups: Iterable[Alike]) -> str:
    """Such as "and 975 more tenants: 900 changed, 75 added"."""
    left = [(tenant, group.review.effect) for group in groups for tenant in group.tenants]
    effects = grouped(left, lambda pair: pair[1])
    told = ", ".join(f"{len(own)} {effect}" for effect, own in effects.items())
    return f"and {counted(len(left), 'more tenant')}: {told}; --all shows them"
