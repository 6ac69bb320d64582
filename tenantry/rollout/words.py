"""What a run says of its waves: progress, and the one message when it stops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted, listed
from tenantry.rollout.authors import PLATFORM
from tenantry.rollout.judging import Judged
from tenantry.rollout.watching import Seen
from tenantry.rollout.waves import Rollout, Wave

_MOST = 5
"""Clusters, or apps of one, that a message names one by one."""


def progress(rollout: Rollout, wave: Wave, seen: Seen) -> str:
    """Wave 2 of 3 (early): 20 clusters, waiting for 3: edge-7 rocky/web: ... and 2 more"""
    first, *more = seen.waiting.values()
    others = f" and {counted(len(more), 'other cluster')}" if more else ""
    failed = f", {len(seen.failed_clusters)} failed and tolerated" if seen.failed else ""
    failed += f", {len(seen.unreachable)} unreachable" if seen.unreachable else ""
    return (
        f"{rollout.name_of(wave)}: {counted(len(wave.clusters), 'cluster')}, waiting for {len(seen.waiting)}{failed}:"
        f" {_one(first)}{others}"
    )


def arrived(rollout: Rollout, wave: Wave, seen: Seen, seconds: float) -> str:
    """What is said once, when the next wave begins after a wait, or something was passed over."""
    lines = [f"{rollout.name_of(wave)}: ready after {seconds:.0f} s"]
    if tolerated := {**seen.failed_clusters, **seen.lost}:
        lines[0] += f", without {listed(tolerated)} (tolerate: {wave.tolerate.written})"
        lines += _reasons(tolerated)
    if seen.absent:
        lines.append(
            f"  changed without waiting, because Flux did not reach them before: {listed(sorted(seen.absent), _MOST)}"
        )
    lines += [f"  left out: {each.awaited.where}: {each.reason}" for each in seen.left_out[:_MOST]]
    return "\n".join(lines)


def stopped(environment: str, rollout: Rollout, wave: Wave, seen: Seen) -> str:
    """Why the run ends, what it has not touched, and both ways on."""
    failed = seen.failed.get(PLATFORM, {})
    lines = [
        f"{_what_failed(environment, rollout, wave, failed, seen.lost)}, so the run ends here",
        *_reasons({**failed, **seen.lost}),
    ]
    if waiting := listed(seen.waiting, _MOST):
        lines.append(f"  not ready yet: {waiting}")
    return "\n".join([*lines, f"  untouched: {_untouched(rollout, wave)}", _BOTH_WAYS])


def held(
    environment: str,
    rollout: Rollout,
    wave: Wave,
    whose: str,
    failed: Mapping[str, list[Judged]],
) -> str:
    """Why what an author has stays as it is, while the run goes on with others. whose: the author, by `Authors.in_words`."""
    lines = [
        f"{_what_failed(environment, rollout, wave, failed, {})}, so {whose} goes no further in this run",
        *_reasons(failed),
        f"  stays as it is: {_untouched(rollout, wave)}",
        _BOTH_WAYS,
    ]
    return "\n".join(lines)


def _what_failed(
    environment: str,
    rollout: Rollout,
    wave: Wave,
    failed: Mapping[str, list[Judged]],
    lost: Mapping[str, list[Judged]],
) -> str:
    tolerated = f"; tolerate: {wave.tolerate.written}" if wave.tolerate.written else ""
    what = [f"failed on {counted(len(failed), 'cluster')}"] if failed else []
    what += [f"does not reach {counted(len(lost), 'cluster')}"] if lost else []
    return f"{rollout.name_of(wave)} in environment '{environment}' {' and '.join(what)} of {len(wave.clusters)}{tolerated}"


_BOTH_WAYS = (
    "  fix: correct the file or what the app applies, then run the same command again; or revert the change and run it again:"
    " only the waves that were changed go back"
)


def unapplied(
    environment: str,
    rollout: Rollout,
    wave: Wave,
    refused: Iterable[ObjectId],
    not_begun: Iterable[str],
    whose: str = "",
) -> str:
    """What the engine could not change before it went on.

    not_begun: clusters of this wave whose turn comes later. whose: who goes no further because of it; "": the run ends.
    """
    what = listed(sorted(map(str, refused)), _MOST)
    then, rest = (
        (f"{whose} goes no further in this run", "stays as it is") if whose else ("the run ends here", "untouched")
    )
    return (
        f"{rollout.name_of(wave)} in environment '{environment}' was not applied completely ({what}), so {then}\n"
        f"  {rest}: {_untouched(rollout, wave, not_begun)}\n"
        "  fix: see the errors of Pulumi, correct their cause, then run the same command again"
    )


def unreadable(rollout: Rollout, wave: Wave, refused: Refused) -> str:
    """Why the run ends if nobody can tell how a wave is."""
    return f"{rollout.name_of(wave)}: the management cluster cannot be read, so the run ends here: {refused}"


def unkept(rollout: Rollout, wave: Wave, refused: Refused) -> str:
    """Why the run ends if nobody can note since when a wave soaks."""
    return f"{rollout.name_of(wave)} is good, but since when cannot be kept, so the run ends here: {refused}"


def _reasons(failed: Mapping[str, list[Judged]]) -> list[str]:
    shown = list(failed.values())
    lines = [f"  {each.awaited.where}: {each.reason}" for judged in shown[:_MOST] for each in judged[:_MOST]]
    more = len(shown) - _MOST
    return [*lines, f"  and {counted(more, 'more cluster')}"] if more > 0 else lines


def _one(judged: list[Judged]) -> str:
    first, *more = judged
    others = f" and {counted(len(more), 'other app')}" if more else ""
    return f"{first.awaited.where}: {first.reason}{others}"


def _untouched(rollout: Rollout, wave: Wave, not_begun: Iterable[str] = ()) -> str:
    parts = [f"{listed(rest, _MOST)} of this wave"] if (rest := list(not_begun)) else []
    for later in rollout.waves[wave.number :]:
        parts.append(f"wave {later.number} ({listed([*later.clusters, *later.left_out], _MOST)})")
    return "; ".join(parts) or "nothing, it was the last wave"
