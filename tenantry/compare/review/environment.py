"""What is told of an environment as a whole: its gate, its rollouts and the waves of the change; and grants."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from tenantry.compare.diff import Diff, Status
from tenantry.compare.moves import Side as RolloutSide
from tenantry.compare.review.items import Items
from tenantry.compare.review.model import Effect, Part, PartKind, RolledOut, Setting
from tenantry.compare.review.parts import Side, Spot
from tenantry.compare.review.words import content_in_words
from tenantry.messages.data import ABSENT
from tenantry.messages.text import counted, listed
from tenantry.model.durations import duration
from tenantry.plan.after import in_words
from tenantry.plan.plan import Plan
from tenantry.rollout.waves import Rollout, Wave, check_names_of, then


def touched_waves(diff: Diff, before: Plan, after: Plan) -> Iterator[RolledOut]:
    """The rollouts that a change goes through."""
    if not after.rollouts or diff.status is Status.REMOVED:
        return
    rollouts = {each.name: each for each in after.rollouts}
    waves: dict[str, dict[str, Wave]] = {"": rollouts[""].by_unit()}
    found: dict[str, dict[int, set[str]]] = {}
    # What is removed has its place in the plan that held it; the waves are those of the plan to come.
    removed = [(each, before) for each in diff.removed.objects]
    there = [*diff.added.objects, *(each.after for each in diff.changed)]
    for each, plan in [*((each, after) for each in there), *removed]:
        member = plan.wave_of(each.id)
        if member is None:
            continue
        name, unit = member[0].name, member[0].unit_of(each.owner)
        if name not in waves:
            waves[name] = rollouts[name].by_unit() if name in rollouts else {}
        if wave := waves[name].get(unit):
            found.setdefault(name, {}).setdefault(wave.number, set()).add(unit)
    for rollout in after.rollouts:
        if touched := found.get(rollout.name):
            yield RolledOut(rollout, {number: sorted(touched[number]) for number in sorted(touched)})


def in_waves(rolled: RolledOut) -> str:
    """Such as: in 3 waves: 2 clusters (a, b), then 20, then 479."""
    rollout, waves = rolled
    whose = f"{rollout_in_words(rollout.name)}: " if rollout.name else ""
    total = len(rollout.waves)
    first, *others = waves.values()
    units = f"{counted(len(first), rollout.noun)} ({listed(first)}){then(map(len, others))}"
    if len(waves) == total:
        return f"{whose}in {counted(total, 'wave')}: {units}"
    return f"{whose}in {'waves' if others else 'wave'} {listed(map(str, waves))} of {total}: {units}"


def rollout_in_words(name: str) -> str:
    """A rollout of an app's or add-on's own, or of an app of a class."""
    if name.startswith("class:"):
        return f"app {name.rpartition('/')[2]} of {name.partition('/')[0].replace(':', ' ')}"
    if name.startswith("addon "):
        return f"add-on {name.removeprefix('addon ')}"
    return f"app {name}"


def described(rollout: Rollout) -> str:
    """The waves of a rollout and its limits, such as: 2 clusters, then 20, then 479; timeout 10m."""
    first, *others = [len(wave.every) for wave in rollout.waves] or [0]
    parts = [f"{counted(first, rollout.noun)}{then(others)}", f"timeout {duration(rollout.timeout)}"]
    parts += _tolerated(rollout)
    parts += [f"maxParallel {rollout.max_parallel}"] if rollout.max_parallel else []
    checks = [name for wave in rollout.waves for name in check_names_of(wave)]
    parts += [f"checked by {listed(checks)}"] if checks else []
    for wave in rollout.waves:
        parts += [f"{wave.name} soaks for {duration(wave.soak)}"] if wave.soak else []
        parts += [f"{wave.name} after approval by {listed(wave.groups)}"] if wave.groups else []
    return "; ".join(parts)


def _tolerated(rollout: Rollout) -> list[str]:
    tolerances = {wave.tolerate.written or "0" for wave in rollout.waves}
    if tolerances <= {"0"}:
        return []
    patience = [f"unreachable after {duration(rollout.unreachable_after)}"]
    if len(tolerances) == 1:
        return [f"tolerate {tolerances.pop()}", *patience]
    return [*(f"{wave.name} tolerates {wave.tolerate.written or '0'}" for wave in rollout.waves), *patience]


def _waves_in_words(rollout: Rollout) -> str:
    """The waves by name, with their clusters, such as: canary: a, b, then 20, then 479."""
    if not rollout.waves:
        return ""
    first, *others = rollout.waves
    names = [wave.name for wave in others if not wave.name.startswith("wave ")]
    later = f"{then(len(wave.every) for wave in others)}" + (f" ({listed(names)})" if names else "")
    return f"{first.name}: {listed(first.every)}{later}"


def of_environment(
    diff: Diff, before: Side, after: Side, items: Items, order: tuple[str, ...], now: datetime | None = None
) -> None:
    """Adds what is said of the environment, and of tenants that may do more. now: None: nobody asks when it could begin."""
    spot = Spot(Part(PartKind.ENVIRONMENT, "", diff.environment), "")
    effects = {Status.ADDED: Effect.ADDED, Status.REMOVED: Effect.REMOVED, Status.KEPT: Effect.CHANGED}
    for setting in _settings(diff):
        item = items.set(spot, setting)
        if setting.key == "management":
            item.clusters = order
    sentences = [
        *_comes_or_goes(diff, before),
        *_waits(diff),
        *map(in_waves, touched_waves(diff, before.plan, after.plan)),
    ]
    if now and (diff.added.objects or diff.changed or diff.removed.objects):
        sentences += diff.windows[1].begin(now)
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
        key = f"rollout of {rollout_in_words(rollout.name)}" if rollout.name else "rollout"
        one, other = _value(rollout.before), _value(rollout.after)
        if one == other and rollout.before and rollout.after:
            one, other = (_waves_in_words(side) for side in (rollout.before, rollout.after))
        yield Setting(key, one, other)
    if diff.windows[0] != diff.windows[1]:
        yield Setting("windows", *(each.in_words() or ABSENT for each in diff.windows))


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
