"""Tells a failure that lasts from one that the next attempt cures, by readings one after the other. Its clock is given.

A first attempt can fail normally: until the baseline of a tenant is there, its apps may not be applied. So a failure lasts if
Flux has given up, or if an attempt fails in the same way again after all that it needs is ready.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tenantry.cluster.standing import Live, Needs, problems_of_sources, standing, state_of
from tenantry.cluster.status import Readiness, condition, is_stalled
from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.data import mapping_at

_PATIENCE = 15.0
"""Seconds after which the same failure counts, at least."""
_FIGURES = re.compile(r"[0-9.]+")
"""What differs in messages of the same failure: how long it took."""


class _Failure(NamedTuple):
    generation: object
    what: str


class _First(NamedTuple):
    failure: _Failure
    attempt: object
    seen: float


@dataclass(slots=True)
class Failures:
    """lasting: sources and reconcilers whose failure lasts."""

    clock: Callable[[], float]
    lasting: set[ObjectId] = field(default_factory=set)
    _first: dict[ObjectId, _First] = field(default_factory=dict)

    def look(self, reconcilers: Iterable[tuple[ObjectId, Needs]], live: Live) -> None:
        """Take a reading into account. live: at least the reconcilers, their sources, and what they depend on."""
        sources: set[ObjectId] = set()
        for id, needs in reconcilers:
            found, stands = live.get(id), standing(id, needs, live)
            waits = (
                found is not None and state_of(found) is Readiness.FAILED and stands.readiness is not Readiness.FAILED
            )
            self._take(id, found, counts=stands.cause == id and not waits)
            problems = {each.cause for each in problems_of_sources(needs.sources, live)}
            first = next((each for each in needs.sources if each in problems), None)
            for source in needs.sources:
                if source not in sources:
                    sources.add(source)
                    self._take(source, live.get(source), counts=source == first)

    def _take(self, id: ObjectId, found: Manifest | None, *, counts: bool) -> None:
        """counts: whether everything that the object needs is ready, so that a failure is its own."""
        state = Readiness.MISSING if found is None else state_of(found)
        if found is None or not counts or state in (Readiness.READY, Readiness.SUSPENDED):
            self._first.pop(id, None)
            self.lasting.discard(id)
            return
        ready = condition(mapping_at(found, "status"), "Ready")
        if state is not Readiness.FAILED or (ready.get("status") != "False" and not is_stalled(found)):
            return  # Flux tries again
        failure = _Failure(
            found["metadata"].get("generation"), _FIGURES.sub("", f"{ready.get('reason')} {ready.get('message')}")
        )
        now, attempt, first = self.clock(), ready.get("lastTransitionTime"), self._first.get(id)
        if first is None or first.failure != failure:
            first = self._first[id] = _First(failure, attempt, now)
            self.lasting.discard(id)
        again = attempt != first.attempt or not _shows_attempts(found)
        if is_stalled(found) or (again and now - first.seen >= _PATIENCE):
            self.lasting.add(id)


def _shows_attempts(found: Manifest) -> bool:
    """Whether the condition Ready changes at each attempt. Of other failures, Flux repeats nothing that could be seen."""
    if found["kind"] == "Kustomization":
        return True
    return condition(mapping_at(found, "status"), "Released").get("status") == "False"
