"""Which tests run in one process, one after the other, where several processes run tests: `pytest -n 3 --dist loadgroup`.

Tests of a file share a sandbox, and some files share one too. All other tests run wherever there is time.
"""

from __future__ import annotations

import re

from xdist.scheduler import LoadScopeScheduling

SHARED = {
    "fleet": (
        "accounts",
        "documentation",
        "fleet",
        "mistakes",
        "notifications",
        "order",
        "policy",
        "rendered",
        "teardown",
    ),
    "shards": ("flux_shards", "shards"),
    "sandbox": ("clusters", "conformance", "content", "prod"),
    "bare": ("import", "preflight"),
    "isolation": ("admission", "isolation", "reaching"),
}
"""Files below tests/e2e and tests/faults whose tests share a sandbox, without `test_`."""
LONGEST = (
    "fleet",
    "test_rollouts",
    "shards",
    "test_examples_multi_cluster",
    "test_sources",
    "sandbox",
    "bare",
    "test_crashes",
    "isolation",
    "test_outages",
    "test_walk",
    "test_first_up",
    "test_drift",
    "test_lifecycle",
    "test_cluster_changes",
)
"""The groups that take longest begin first, so that none of them is left over at the end."""
_GROUPS = {f"test_{file}": group for group, files in SHARED.items() for file in files}
_REAL = re.compile(r"tests/(?:e2e|faults)/(\w+)\.py::[^[]*(?:\[(test|prod)\b)?")
"""The words in brackets divide a file's tests into parts that have a sandbox each."""


def group_of(nodeid: str) -> str:
    """The name of a test's group; a test without a sandbox is a group of its own."""
    real = _REAL.match(nodeid)
    if real is None:
        return nodeid
    file, part = real.groups()
    return f"{_GROUPS.get(file, file)} {part or ''}".strip()


def rank(nodeid: str) -> int:
    """The order in which groups begin."""
    group = group_of(nodeid)
    if group in LONGEST:
        return LONGEST.index(group)
    return len(LONGEST) + (group == nodeid)


class Scheduler(LoadScopeScheduling):
    """Gives processes whole groups; xdist's own for `loadgroup` does not find the groups with this pytest."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
