"""A chart that is an OCI artifact: its digest tells what was applied, not its version."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tenantry.kube.objects import object_id
from tenantry.plan.engine_order import Chains
from tenantry.rollout.readiness import judge, reconcilers_of
from tests.table import table
from tests.unit.texts import planned, rocky

TEXT = rocky("web: {helm: {source: image}}").replace(
    "    sources:\n", "    sources:\n      image: {oci: {url: oci://registry.example.com/web, ref: {tag: 1.2.3}}}\n"
)
OLD, NEW = (f"sha256:{digit * 64}" for digit in "01")
VERSION, NEWER = "1.2.3+000000000000", "1.2.3+111111111111"
INSTALLED = {
    "history": [{"chartVersion": VERSION, "ociDigest": OLD}],
    "lastAttemptedRevision": VERSION,
    "lastAttemptedRevisionDigest": OLD,
}
TRIED = {"lastAttemptedRevision": NEWER, "lastAttemptedRevisionDigest": NEW}


def behind(revision: str) -> str:
    return f"Flux has not applied {revision} yet"


@table(
    ("revision", "status", "problem"),
    [
        (f"1.2.3@{OLD}", INSTALLED, ""),
        (OLD, INSTALLED, ""),
        (f"1.2.3@{NEW}", INSTALLED, behind(f"1.2.3@{NEW}")),
        (f"1.2.3@{NEW}", INSTALLED | TRIED, behind(f"1.2.3@{NEW}")),
        (f"1.2.3@{NEW}", {**INSTALLED, "history": [{"chartVersion": VERSION}]}, behind(f"1.2.3@{NEW}")),
        (f"1.2.3@{NEW}", {}, behind(f"1.2.3@{NEW}")),
    ],
    ids=["tag", "digest", "behind", "attempted", "without its digest", "not yet"],
)
def test_the_digest_that_was_applied_is_the_one_that_was_fetched(
    revision: str, status: dict[str, Any], problem: str
) -> None:
    plan = planned(TEXT)
    (app,) = plan.apps
    source, release = Chains(plan).of(app.id)
    ready = {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]}
    live = [
        {**each, "metadata": {**each["metadata"], "generation": 1}, "status": {**ready, **more}}
        for each, more in ((source, {"artifact": {"revision": revision}}), (release, status))
    ]
    there = {object_id(each): each for each in live}
    standing = judge(reconcilers_of(plan)[app.id], there, datetime(2026, 1, 1, tzinfo=UTC))
    assert standing.message == problem
