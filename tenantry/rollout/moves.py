"""Which apps a run moves to another source, whether that source has arrived, and what an app needs that stays on its own.

A Kustomization or HelmRelease goes on with the last artifact of its source, also if that source cannot be fetched any more. Without
an artifact it applies nothing and heals nothing. So an app moves only when the new source has one. An app that is not on the
cluster yet loses nothing, and waits for nothing. Nothing here reads a cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from tenantry.kube.objects import KubeObject, Manifest, ObjectId, object_id, readable_id
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.text import counted
from tenantry.model import Environment
from tenantry.model.durations import seconds_of
from tenantry.plan.engine_order import Chains, becomes_ready, is_reconciled, reference_of
from tenantry.plan.objects.lifecycle import STATE_LABEL
from tenantry.plan.plan import Plan
from tenantry.rollout.flux_status import Readiness
from tenantry.rollout.readiness import Live, Standing, reconcilers_of, source_problems

PATIENCE = seconds_of(str(Environment.model_fields["timeout"].default))
"""Seconds after which a source without an artifact counts as failed, where an environment has no waves."""
Place: TypeAlias = tuple[str, str, str]
"""Kind, namespace and name."""
_LISTED = 20


class Move(NamedTuple):
    """A Kustomization or HelmRelease that is on the cluster, and that the plan gives another source or chart.

    name:   what users call it: `rocky/web`, or `the baseline of rocky`.
    before: the source or chart that it has now.
    after:  the new one, after the source of a chart.
    needs:  what the app needs that the plan no longer has, such as its former source with its Secret: dependencies come first.
    paused: whether the plan suspends it.
    """

    app: KubeObject
    name: str
    before: Place
    after: tuple[ObjectId, ...]
    needs: tuple[ObjectId, ...]
    paused: bool

    @property
    def where(self) -> str:
        """Such as `rocky/web on edge`."""
        return f"{self.name} on {self.app.owner.cluster}" if self.app.owner.cluster else self.name


def moves_of(plan: Plan, changed: Iterable[tuple[KubeObject, Manifest]], unplanned: Iterable[Manifest]) -> list[Move]:
    """The apps that move.

    changed: planned objects that the cluster does not hold as planned, with what it holds. unplanned: what it holds besides.
    """
    chains, reconcilers, others = Chains(plan), reconcilers_of(plan), by_place(unplanned)
    found = []
    for planned, live in changed:
        before = _reference(live, planned.id.namespace)
        if not is_reconciled(planned.id) or before is None or mapping_at(live, "metadata").get("deletionTimestamp"):
            continue
        after = chains.of(planned.id)[:-1]
        # Nothing of an app that leaves counts any more, and a source that the plan suspends fetches nothing.
        leaves = STATE_LABEL in mapping_at(planned.manifest, "metadata", "labels")
        if before == reference_of(planned.manifest, planned.id.namespace) or leaves or _is_suspended(after):
            continue
        paused = not becomes_ready(planned.manifest)
        found.append(
            Move(
                planned,
                reconcilers[planned.id].name,
                before,
                tuple(map(object_id, after)),
                needed_by(live, others),
                paused,
            )
        )
    return [each for each in found if each.after]


def missing_from(
    after: tuple[ObjectId, ...], live: Live, now: datetime, begun: datetime | None = None
) -> Standing | None:
    """Why a source or chart has no artifact of what its spec says now; None: it has one.

    after: as of a move. A chart that has arrived does not need its source any more. begun: as of `readiness.judge`.
    """
    problems = list(source_problems(after, live, now, begun))
    absent = [each for each in problems if each.readiness is Readiness.MISSING]
    own = [each for each in problems if each.cause == after[-1]]
    if not absent and not own and value_at(live[after[-1]], ("status", "artifact")):
        return None
    said = next(iter(absent or problems), None)
    return said or Standing(Readiness.PROGRESSING, f"{after[-1]} has no artifact yet", after[-1])


def is_lost(problem: Standing) -> bool:
    """Whether waiting longer for a source changes nothing."""
    return problem.lasts or problem.readiness in (Readiness.MISSING, Readiness.SUSPENDED)


def stayed(found: Mapping[str, Iterable[Move]]) -> str:
    """What a run says of the apps that did not move. found: by the reason."""
    count = sum(1 for moves in found.values() for _ in moves)
    stay, have = (
        ("stays on the source that it has", "its") if count == 1 else ("stay on the sources that they have", "their")
    )
    lines = [
        f"{counted(count, 'app')} {stay}, because {have} new {'one has' if count == 1 else 'ones have'} no artifact"
    ]
    for reason, moves in found.items():
        every = sorted(f"{move.where} (on {_words(move.before)})" for move in moves)
        lines.append(f"  {reason}")
        lines += [f"    {each}" for each in every[:_LISTED]]
        if more := every[_LISTED:]:
            lines.append(f"    and {len(more)} more")
    lines.append("  fix: correct what Flux says of the source, then run the same command again; or revert the change")
    return "\n".join(lines)


def _words(place: Place) -> str:
    kind, namespace, name = place
    return f"{kind} {namespace}/{name}"


def _unversioned(id: ObjectId) -> ObjectId:
    """References to an object do not name its version."""
    return id._replace(api_version="")


def by_place(objects: Iterable[Manifest]) -> dict[ObjectId, Manifest]:
    return {_unversioned(id): each for each in objects if (id := readable_id(each))}


def _reference(live: Manifest, namespace: str) -> Place | None:
    """As `reference_of`, for an object that others may have written."""
    try:
        return reference_of(live, namespace)
    except (KeyError, TypeError, AttributeError):
        return None


def _is_suspended(chain: Iterable[Manifest]) -> bool:
    return any(mapping_at(each, "spec").get("suspend") for each in chain)


def needed_by(live: Manifest, others: Mapping[ObjectId, Manifest]) -> tuple[ObjectId, ...]:
    """What an object refers to, and what that refers to, as far as it is among others: dependencies first."""
    found: dict[ObjectId, None] = {}
    seen: set[ObjectId] = set()

    def visit(manifest: Manifest) -> None:
        own = object_id(manifest)
        for kind, namespace, name in _references(mapping_at(manifest, "spec"), own.namespace):
            there = _unversioned(own)._replace(kind=kind, namespace=namespace, name=name)
            if there in others and there not in seen:
                seen.add(there)
                visit(others[there])
                found[object_id(others[there])] = None

    visit(live)
    return tuple(found)


def _references(spec: Mapping[str, Any], namespace: str) -> Iterator[Place]:
    """All that the fields of a spec refer to, apart from the values of a chart. A reference without a kind is to a Secret."""
    for key, value in spec.items():
        if key == "values":
            continue
        inside = [value] if isinstance(value, dict) else mappings_in(value)
        if key.endswith(("Ref", "From")) or key == "repository":
            for each in inside:
                kind = each.get("kind", "GitRepository" if key == "repository" else "Secret")
                yield str(kind), str(each.get("namespace") or namespace), str(each.get("name"))
        else:
            for each in inside:
                yield from _references(each, namespace)
