"""Evidence for a chart that is an OCI artifact: its digest tells what was applied, not its version."""

from __future__ import annotations

from typing import Any

from tenantry.cluster.evidence import judged
from tenantry.plan.engine_order import Chains
from tests.table import table
from tests.unit.texts import planned, rocky

TEXT = rocky("web: {helm: {source: image}}").replace(
    "    sources:\n", "    sources:\n      image: {oci: {url: oci://registry.example.com/web, ref: {tag: 1.2.3}}}\n"
)
OLD, NEW = (f"sha256:{digit * 64}" for digit in "01")
VERSION = "1.2.3+000000000000"
BEHIND = f"applied {OLD}, and {NEW} has been fetched"


@table(
    ("revision", "status", "problem"),
    [
        (f"1.2.3@{OLD}", {"history": [{"chartVersion": VERSION, "ociDigest": OLD}]}, ""),
        (OLD, {"history": [{"chartVersion": VERSION, "ociDigest": OLD}]}, ""),
        (f"1.2.3@{NEW}", {"history": [{"chartVersion": VERSION, "ociDigest": OLD}]}, BEHIND),
        (
            f"1.2.3@{NEW}",
            {
                "history": [{"chartVersion": VERSION, "ociDigest": OLD}],
                "lastAttemptedRevisionDigest": NEW,
            },
            BEHIND,
        ),
        (f"1.2.3@{NEW}", {"history": [{"chartVersion": VERSION}], "lastAttemptedRevisionDigest": OLD}, BEHIND),
        (f"1.2.3@{NEW}", {"history": [{"chartVersion": "1.2.3"}]}, ""),
        (f"1.2.3@{NEW}", {}, f"applied nothing, and 1.2.3@{NEW} has been fetched"),
    ],
    ids=["tag", "digest", "behind", "attempted", "without history", "unknown", "not yet"],
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
    found = judged(app, (source, release), live)
    assert (found.problem, found.revision) == (problem, status.get("history", [{}])[0].get("chartVersion", ""))
