"""The words for clusters, parts and counts that every format of a review uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tenantry.cli.diff.together import Alike, Together
from tenantry.cli.diff.values import DisplayLimits
from tenantry.compare.diff import Status
from tenantry.compare.review.model import Change, Danger, Effect, EnvironmentReview, Part, PartKind, Review
from tenantry.messages.text import counted, grouped, listed

SIGNS = {Effect.ADDED: "+", Effect.REMOVED: "-", Effect.CHANGED: "~", Effect.RENAMED: "~"}
_STATUS = {Status.KEPT: "", Status.ADDED: " (new)", Status.REMOVED: " (no longer declared)"}
_KINDS = {PartKind.APP: "app", PartKind.ADDON: "add-on"}


def heading(shown: Together) -> str:
    """prod: 2 tenants, 3 apps on 479 of 501 clusters"""
    names = ", ".join(each.environment for each in shown.environments)
    return f"{names}{_STATUS[shown.environments[0].status]}: {extent(shown.environments)}"


def extent(environments: Sequence[EnvironmentReview]) -> str:
    """How much is concerned. Several environments count together, because the same happens to all of them."""
    tenants = {each.tenant for one in environments for each in one.tenants if each.tenant}
    changes = [(each.tenant, change) for one in environments for each in one.tenants for change in each.changes]
    parts = {(tenant, change.part.kind, change.part.name) for tenant, change in changes}
    numbers = [(len(tenants), "tenant")]
    numbers += [(sum(each[1] is kind for each in parts), noun) for kind, noun in _KINDS.items()]
    told = ", ".join(counted(number, noun) for number, noun in numbers if number)
    own = [each.clusters for each in environments] + [[each for _, each in changes]]
    clusters = {cluster for those in own for change in those for cluster in change.clusters}
    total = max(len(clusters), sum(each.total for each in environments))
    share = [_share(len(clusters), total)] if clusters else []
    return " on ".join([told, *share] if told else share) or _without_clusters(environments)


def _without_clusters(environments: Sequence[EnvironmentReview]) -> str:
    return "the platform" if any(each.tenants for each in environments) else "no object changes"


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
    if len(shown.tenants) == 1:
        return f"tenant {shown.tenants[0]}"
    return f"{len(shown.tenants)} tenants ({listed(shown.tenants, limits.names)})"


def dangers(review: Review) -> list[tuple[str, Danger]]:
    """All dangers with the names of their environments. The same danger in several environments is told once."""
    all = ((each.environment, danger) for each in review.environments for danger in each.dangers)
    groups = grouped(all, lambda pair: (pair[1].kind, pair[1].everywhere or pair[1].text))
    return [(", ".join(name for name, _ in own), _joined([danger for _, danger in own])) for own in groups.values()]


def _joined(dangers: Sequence[Danger]) -> Danger:
    """The same danger in several environments, on the clusters of all."""
    texts = {each.text for each in dangers}
    return dangers[0] if len(texts) == 1 else replace(dangers[0], text=dangers[0].everywhere)


def more_dangers(left: Sequence[Danger]) -> str:
    """Such as "and 12 more: 10 network, 2 quota"."""
    kinds = grouped(left, lambda each: each.kind)
    told = ", ".join(f"{len(own)} {kind}" for kind, own in kinds.items())
    return f"and {len(left)} more: {told}; --all shows them"


def left_out(groups: Iterable[Alike]) -> str:
    """Such as "and 975 more tenants: 900 changed, 75 added"."""
    left = [(tenant, each.review.effect) for each in groups for tenant in each.tenants]
    effects = grouped(left, lambda pair: pair[1])
    told = ", ".join(f"{len(own)} {effect}" for effect, own in effects.items())
    return f"and {counted(len(left), 'more tenant')}: {told}; --all shows them"
