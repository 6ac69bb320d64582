"""Which tests run in one process, one after the other, where several processes run tests: `pytest -n 3 --dist loadgroup`.

Tests of a file share a sandbox, and some files share one too. All other tests run wherever there is time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import chain

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

SHARED = {
    "fleet": ("accounts", "documentation", "failing", "fleet", "labels", "notifications", "rehearsal", "teardown"),
    "small": ("crashes", "first_up", "outages"),
    "kept": ("drift", "kept"),
    "walk": ("walk", "cluster_changes"),
    "why": ("flux_shards", "leaving", "why", "disaster"),
    "sandbox": ("clusters", "conformance"),
    "bare": ("import", "preflight"),
    "isolation": ("admission", "isolation", "reaching"),
}
"""Files below tests/e2e and tests/faults whose tests share a sandbox, without `test_`, in the order in which they run."""
LONGEST = (
    "fleet",
    "test_rollouts",
    "small",
    "why",
    "bare",
    "test_lifecycle",
    "kept",
    "isolation",
    "walk",
    "test_examples_teams",
    "test_new_fleet",
    "test_sources",
    "sandbox",
    "test_examples_kamaji",
    "test_examples_flux2_multi_tenancy",
    "test_examples_multi_cluster",
)
"""The groups that take longest begin first, so that none of them is left over at the end."""
_GROUPS = {f"test_{file}": group for group, files in SHARED.items() for file in files}
_PLACES = {f"test_{file}": place for files in SHARED.values() for place, file in enumerate(files)}
_REAL = re.compile(r"tests/(?:e2e|faults)/(\w+)\.py::")


def group_of(nodeid: str) -> str:
    """The name of a test's group; a test without a sandbox is a group of its own."""
    real = _REAL.match(nodeid)
    return _GROUPS.get(real[1], real[1]) if real else nodeid


def rank(nodeid: str) -> tuple[int, int]:
    """The order in which groups begin, and the files of a group in it."""
    group, real = group_of(nodeid), _REAL.match(nodeid)
    place = _PLACES.get(real[1], 0) if real else 0
    if group in LONGEST:
        return LONGEST.index(group), place
    return len(LONGEST) + (group == nodeid), place


def durations(reports: Mapping[str, Iterable[object]]) -> str:
    """The groups with the seconds that they took, the longest first."""
    seconds: Counter[str] = Counter()
    for each in chain.from_iterable(reports.values()):
        if isinstance(each, pytest.TestReport) and (group := group_of(each.nodeid)) != each.nodeid:
            seconds[group] += each.duration
    return ", ".join(f"{group} {took:.0f}" for group, took in seconds.most_common())


class Scheduler(LoadScopeScheduling):
    """Gives processes whole groups; xdist's own for `loadgroup` does not find the groups with this pytest."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)

    def _reschedule(self, node: WorkerController) -> None:
        """Give a process the next group when one test is left of its last; xdist does so with two, however long they take."""
        if not self.workqueue or self._pending_of(self.assigned_work[node]) <= 1:
            super()._reschedule(node)
