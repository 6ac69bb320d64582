"""What is told of an environment as a whole: its gate, its rollout and the waves of the change; and grants."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.compare.diff import Diff, Status
from tenantry.compare.moves import Side as RolloutSide
from tenantry.compare.review.items import Items
from tenantry.compare.review.model import Effect, Part, PartKind, RolledOut, Setting
from tenantry.compare.review.parts import Side, Spot
from tenantry.compare.review.words import content_in_words
from tenantry.kube.names import PLATFORM
from tenantry.messages.data import ABSENT
from tenantry.messages.text import counted, listed
from tenantry.model.durations import duration
from tenantry.plan.after import in_words
from tenantry.plan.plan import Plan
from tenantry.rollout.waves import Rollout, then


def touched_waves(diff: Diff, before: Plan, after: Plan) -> RolledOut | None:
    """The waves that a change goes through; None: none."""
    if after.rollout is None or diff.status is Status.REMOVED:
        return None
    waves = after.rollout.by_cluster()
    found: dict[int, set[str]] = {}
    # What is removed has its place in the plan that held it; the waves are those of the plan to come.
    there = [*diff.added.objects, *(each.after for each in diff.changed)]
    for each, plan in [*((each, after) for each in there), *((each, before) for each in diff.removed.objects)]:
        if plan.wave_of(each.id) and (wave := waves.get(each.owner.cluster)):
            found.setdefault(wave.number, set()).add(each.owner.cluster)
    return RolledOut(after.rollout, {number: sorted(found[number]) for number in sorted(found)}) if found else None


def in_waves(rolled: RolledOut) -> str:
    """Such as: in 3 waves: 2 clusters (a, b), then 20, then 479."""
    total, touched = len(rolled.rollout.waves), rolled.clusters
    first, *others = touched.values()
    clusters = f"{counted(len(first), 'cluster')} ({listed(first)}){then(map(len, others))}"
    if len(touched) == total:
        return f"in {counted(total, 'wave')}: {clusters}"
    return f"in {'waves' if others else 'wave'} {listed(map(str, touched))} of {total}: {clusters}"


def _app_in_words(name: str) -> str:
    owner, _, app = name.partition("/")
    return f"add-on {app}" if owner == PLATFORM else f"app {name}"


def described(rollout: Rollout) -> str:
    """The waves of a rollout and its limits, such as: 2 clusters, then 20, then 479; timeout 10m."""
    first, *others = [len(wave.every) for wave in rollout.waves]
    parts = [f"{counted(first, 'cluster')}{then(others)}", f"timeout {duration(rollout.timeout)}", *_tolerated(rollout)]
    return "; ".join([*parts, *(f"{wave.name} soaks for {duration(wave.soak)}" for wave in rollout.waves if wave.soak)])


def _tolerated(rollout: Rollout) -> list[str]:
    tolerances = {wave.tolerate.written or "0" for wave in rollout.waves}
    if tolerances <= {"0"}:
        return []
    if len(tolerances) == 1:
        return [f"tolerate {tolerances.pop()}"]
    return [f"{wave.name} tolerates {wave.tolerate.written or '0'}" for wave in rollout.waves]


def _waves_in_words(rollout: Rollout) -> str:
    """The waves by name, with their clusters, such as: canary: a, b, then 20, then 479."""
    first, *others = rollout.waves
    names = [wave.name for wave in others if not wave.name.startswith("wave ")]
    later = f"{then(len(wave.every) for wave in others)}" + (f" ({listed(names)})" if names else "")
    return f"{first.name}: {listed(first.every)}{later}"


def of_environment(diff: Diff, before: Side, after: Side, items: Items, order: tuple[str, ...]) -> None:
    """Adds what is said of the environment, and of tenants that may do more."""
    spot = Spot(Part(PartKind.ENVIRONMENT, "", diff.environment), "")
    effects = {Status.ADDED: Effect.ADDED, Status.REMOVED: Effect.REMOVED, Status.KEPT: Effect.CHANGED}
    for setting in _settings(diff):
        item = items.set(spot, setting)
        if setting.key == "management":
            item.clusters = order
    sentences = [
        *_comes_or_goes(diff, before),
        *_waits(diff),
        *map(in_waves, filter(None, [touched_waves(diff, before.plan, after.plan)])),
    ]
    if sentences:
        items.say(spot, sentences, effects[diff.status]).clusters = order
    _permissions(diff, before, after, items)


def _comes_or_goes(diff: Diff, before: Side) -> Iterator[str]:
    """What happens to the environment as a whole."""
    if diff.status is Status.ADDED:
        yield f"it is new; its management cluster is {diff.management[1]}"
    elif diff.status is Status.REMOVED:
        yield (
            f"it is no longer declared ({content_in_words(before.plan)}): `pulumi up` of its stack is refused, and all of"
            f" it stays on {diff.management[0]} until `pulumi destroy`"
        )
    elif diff.elsewhere:
        one, other = diff.management
        yield f"every object is deleted on {one} and created on {other}"


def _waits(diff: Diff) -> Iterator[str]:
    """The gate to the environment before, if it holds the change back."""
    gate = diff.after[1] if diff.status is not Status.REMOVED else None
    if gate and (diff.added.objects or diff.changed):
        yield in_words(gate)


def _settings(diff: Diff) -> Iterator[Setting]:
    """What the file says differently of an environment that stays."""
    if diff.status is not Status.KEPT:
        return
    if diff.elsewhere:
        yield Setting("management", *diff.management)
    if diff.protects or diff.unprotected:
        yield Setting("protected", *diff.protection)
    if diff.regates:
        pairs = zip(diff.after, diff.order, strict=True)
        yield Setting("after", *(str(gate) if gate else ABSENT if name is None else name for gate, name in pairs))
    for rollout in diff.rollouts:
        key = f"rollout of {_app_in_words(rollout.app)}" if rollout.app else "rollout"
        one, other = _value(rollout.before), _value(rollout.after)
        if one == other and rollout.before and rollout.after:
            one, other = (_waves_in_words(side) for side in (rollout.before, rollout.after))
        yield Setting(key, one, other)


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
