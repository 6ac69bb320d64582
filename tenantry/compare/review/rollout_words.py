"""In which waves a change reaches the clusters, in words."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.compare.diff import Diff, Status
from tenantry.compare.review.model import RolledOut
from tenantry.kube.objects import KubeObject
from tenantry.messages.text import counted, listed
from tenantry.plan.plan import Plan
from tenantry.rollout.waves import Rollout, Wave, then


def touched_waves(diff: Diff, before: Plan, after: Plan) -> Iterator[RolledOut]:
    """The rollouts that a change goes through."""
    if not after.rollouts or diff.status is Status.REMOVED:
        return
    rollouts = {each.name: each for each in after.rollouts}
    waves: dict[str, dict[str, Wave]] = {"": rollouts[""].by_cluster()}
    found: dict[str, dict[int, set[str]]] = {}
    # What is removed has its place in the plan that held it; the waves are those of the plan to come.
    removed = [(each, before) for each in diff.removed.objects]
    there = [*diff.added.objects, *(each.after for each in diff.changed)]
    for each, plan in [*((each, after) for each in there), *removed]:
        name, cluster = _place(plan, each)
        if name not in waves:
            waves[name] = rollouts[name].by_cluster() if name in rollouts else {}
        if wave := waves[name].get(cluster):
            found.setdefault(name, {}).setdefault(wave.number, set()).add(cluster)
    for rollout in after.rollouts:
        if touched := found.get(rollout.name):
            yield RolledOut(rollout, {number: sorted(touched[number]) for number in sorted(touched)})


def _place(plan: Plan, planned: KubeObject) -> tuple[str, str]:
    """The name of the rollout that an object goes through, and its cluster. No rollout has the cluster ""."""
    member = plan.wave_of(planned.id)
    return (member[0].name, planned.owner.cluster) if member else ("", "")


def in_waves(rolled: RolledOut) -> str:
    """Such as: in 3 waves: 2 clusters (a, b), then 20, then 479."""
    rollout, waves = rolled
    whose = f"{rollout_in_words(rollout.name)}: " if rollout.name else ""
    total = len(rollout.waves)
    first, *others = waves.values()
    clusters = f"{counted(len(first), 'cluster')} ({listed(first)}){then(map(len, others))}"
    if len(waves) == total:
        return f"{whose}in {counted(total, 'wave')}: {clusters}"
    return f"{whose}in {'waves' if others else 'wave'} {listed(map(str, waves))} of {total}: {clusters}"


def rollout_in_words(name: str) -> str:
    """A rollout of an app's or add-on's own."""
    if name.startswith("addon "):
        return f"add-on {name.removeprefix('addon ')}"
    return f"app {name}"


def described(rollout: Rollout) -> str:
    """The waves of a rollout and its limits, such as: 2 clusters, then 20, then 479; timeout 10m."""
    first, *others = (len(each.every) for each in rollout.waves)
    parts = [f"{counted(first, 'cluster')}{then(others)}", f"timeout {_duration(rollout.timeout)}"]
    parts += [f"tolerate {rollout.tolerate}"] if rollout.tolerate else []
    parts += [f"maxParallel {rollout.max_parallel}"] if rollout.max_parallel else []
    return "; ".join(parts)


def _duration(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return "".join(f"{number}{unit}" for number, unit in ((minutes, "m"), (rest, "s")) if number) or "0s"
