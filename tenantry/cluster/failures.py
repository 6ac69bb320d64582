"""Tells a failure that lasts from one that the next attempt cures, by readings one after the other. Its clock is given.

A first attempt can fail normally: until the baseline of a tenant is there, its apps may not be applied. So a failure lasts if
Flux has given up, or if an attempt fails in the same way again after all that it needs is ready.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from tenantry.cluster.standing import Live, Needs, problems_of_sources, standing, state_of
from tenantry.cluster.status import Readiness, condition, is_stalled, moment
from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.data import mapping_at

_PATIENCE = 15.0
"""Seconds after which the same failure counts, if another attempt has been seen to end in it."""
_FIGURES = re.compile(r"[0-9.]+")
"""What differs in messages of the same failure: how long it took."""


_NO_CONNECTION = re.compile(
    r"dial tcp|connection refused|connection reset|i/o timeout|no such host|no route to host|network is unreachable|"
    r"TLS handshake timeout|Client\.Timeout exceeded|client connection lost"
)
_ANSWERED = re.compile(r"webhook|artifact|x509: |Unauthorized|asked for the client to provide credentials")
"""What shows that a cluster answered, or that it was not asked yet, beside what sounds like a lost connection."""


def is_cut_off(found: Manifest) -> bool:
    """Whether Flux says of a reconciler that it did not reach its cluster, which is a remote one."""
    ready = condition(mapping_at(found, "status"), "Ready")
    if ready.get("status") != "False" or not mapping_at(found, "spec").get("kubeConfig"):
        return False
    message = str(ready.get("message"))
    return bool(_NO_CONNECTION.search(message)) and not _ANSWERED.search(message)


def _now() -> datetime:
    return datetime.now(UTC)


class _Failure(NamedTuple):
    generation: object
    what: str


class _First(NamedTuple):
    """attempt: when it ended. seen: by the clock. patience: seconds after which the same failure counts."""

    failure: _Failure
    attempt: object
    seen: float
    patience: float


@dataclass(slots=True)
class Failures:
    """lasting: sources and reconcilers whose failure lasts."""

    clock: Callable[[], float]
    today: Callable[[], datetime] = _now
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
            first = self._first[id] = _First(failure, attempt, now, self._patience(found, str(attempt)))
            self.lasting.discard(id)
        again = attempt != first.attempt or not _shows_attempts(found)
        if is_stalled(found) or (again and now - first.seen >= first.patience):
            self.lasting.add(id)

    def _patience(self, found: Manifest, attempt: str) -> float:
        """Flux waits twice as long after each attempt that nothing shows: another one comes within the time since the first."""
        began = moment(attempt)
        if _shows_attempts(found) or began is None:
            return _PATIENCE
        return max(_PATIENCE, (self.today() - began).total_seconds())


def _shows_attempts(found: Manifest) -> bool:
    """Whether the condition Ready changes at each attempt. Of other failures, Flux repeats nothing that could be seen."""
    if found["kind"] == "Kustomization":
        return True
    return condition(mapping_at(found, "status"), "Released").get("status") == "False"
