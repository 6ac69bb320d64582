"""What is told of an environment as a whole, and grants, which change no object."""

from __future__ import annotations

from tenantry.compare.diff import Diff, Status
from tenantry.compare.review.items import Items
from tenantry.compare.review.model import Effect, Part, PartKind, Setting
from tenantry.compare.review.parts import Side, Spot
from tenantry.compare.review.rollout_words import described, in_waves, rollout_in_words, touched_waves
from tenantry.compare.review.tenants import Extent
from tenantry.compare.review.words import content_in_words
from tenantry.compare.rollouts import Side as RolloutSide
from tenantry.messages.data import ABSENT
from tenantry.plan.after import in_words


def of_environment(diff: Diff, before: Side, after: Side, items: Items, extent: Extent) -> None:
    """Adds what is said of the environment, and of tenants that may do more."""
    spot = Spot(Part(PartKind.ENVIRONMENT, "", diff.environment), "")
    if diff.status is Status.ADDED:
        items.say(spot, [f"it is new; its management cluster is {diff.management[1]}"], Effect.ADDED).clusters = tuple(
            extent.order
        )
    elif diff.status is Status.REMOVED:
        text = (
            f"it is no longer declared ({content_in_words(before.plan)}): `pulumi up` of its stack is refused, and all of"
            f" it stays on {diff.management[0]} until `pulumi destroy`"
        )
        items.say(spot, [text], Effect.REMOVED).clusters = tuple(extent.order)
    elif diff.management[0] != diff.management[1]:
        one, other = diff.management
        items.set(spot, Setting("management", one, other)).clusters = tuple(extent.order)
        items.say(spot, [f"every object is deleted on {one} and created on {other}"])
    if diff.protects or diff.unprotected:
        items.set(spot, Setting("protected", *diff.protection)).clusters = tuple(extent.order)
    _gate(diff, items, extent)
    _rollouts(diff, before, after, items, extent)
    _permissions(diff, before, after, items)


def _gate(diff: Diff, items: Items, extent: Extent) -> None:
    """The gate to the environment before, if it differs or if it holds the change back."""
    spot = Spot(Part(PartKind.ENVIRONMENT, "", diff.environment), "")
    if diff.regates:
        one, other = (ABSENT if side is None else str(side) for side in diff.after)
        items.set(spot, Setting("after", one, other)).clusters = tuple(extent.order)
    gate = diff.after[1] if diff.status is not Status.REMOVED else None
    if gate and (diff.added.objects or diff.changed):
        effect = Effect.ADDED if diff.status is Status.ADDED else Effect.CHANGED
        items.say(spot, [in_words(gate)], effect).clusters = tuple(extent.order)


def _rollouts(diff: Diff, before: Side, after: Side, items: Items, extent: Extent) -> None:
    """The rollouts that differ, and in which waves the change reaches the clusters."""
    spot = Spot(Part(PartKind.ENVIRONMENT, "", diff.environment), "")
    for each in diff.rollouts if diff.status is Status.KEPT else ():
        key = f"rollout of {rollout_in_words(each.name)}" if each.name else "rollout"
        items.set(spot, Setting(key, _value(each.before), _value(each.after))).clusters = tuple(extent.order)
    if sentences := list(map(in_waves, touched_waves(diff, before.plan, after.plan))):
        effect = Effect.ADDED if diff.status is Status.ADDED else Effect.CHANGED
        items.say(spot, sentences, effect).clusters = tuple(extent.order)


def _value(side: RolloutSide) -> object:
    """A rollout as the value of a setting. What is switched off shows the `false` of the file."""
    if side is None:
        return ABSENT
    return described(side) if side else False


def _permissions(diff: Diff, before: Side, after: Side, items: Items) -> None:
    clusters: dict[str, list[str]] = {}
    for tenant, cluster in after.placements:
        clusters.setdefault(tenant, []).append(cluster)
    for tenant in diff.allowed:
        if tenant in clusters:
            is_new = tenant not in before.tenants
            _set(items, tenant, clusters[tenant], Setting("clusterAdmin", before=False, after=True), is_new=is_new)
    for tenant, gains in diff.widened:
        for key, names in gains:
            _set(items, tenant, clusters.get(tenant, [""]), Setting(f"grants.{key}", ABSENT, list(names)))


def _set(items: Items, tenant: str, clusters: list[str], setting: Setting, *, is_new: bool = False) -> None:
    kind, name, effect = PartKind.SETTINGS, "", Effect.CHANGED
    if is_new:
        kind, name, effect = PartKind.TENANT, tenant, Effect.ADDED
    for cluster in clusters:
        items.at(Spot(Part(kind, tenant, name), cluster), effect).settings.append(setting)
