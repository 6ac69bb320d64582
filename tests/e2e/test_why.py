"""`tenantry why` names the cause where Flux only says that it waits, or that everything is ready."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.clusters import eventually
from tests.e2e.project import Project

pytestmark = pytest.mark.e2e

CHANGES = (
    ("    quota: {pods: 60}", "    quota: {pods: 1}"),
    (
        '          values: {host: "{tenant}.{domain}", replicas: 2}',
        '          timeout: 10s\n          values: {host: "{tenant}.{domain}", replicas: 3}',
    ),
    ("path: ./worker}", "path: ./nowhere}"),
    ("/rocky/manifests.git", "/rocky/gone.git"),
)
"""A quota that is too small, a wrong path, and a repository that is gone."""


def why(project: Project, app: str, cluster: str, *options: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and the answer about an app on a cluster. No credential of a kubeconfig is in it."""
    found = project.tenantry("why", app, "-e", "dev", "-c", cluster, *options, "--output", "json")
    for secret in re.findall(r"key-data: (\S+)|token: (\S+)", project.kubeconfig("edge-1").read_text()):
        assert not any(each and each in found.text for each in secret)
    (answer,) = json.loads(found.out)["apps"]
    return found.code, answer


@pytest.fixture
def restored(fleet: Project, original: str) -> Iterator[Project]:
    yield fleet
    fleet.fleet.write_text(original)
    fleet.up().ok()
    fleet.wait("dev")


def test_what_is_well_is_called_so_on_both_kinds_of_clusters(fleet: Project) -> None:
    # No printed role may act as a tenant on the management cluster.
    administrator = ("--kubeconfig", str(fleet.kubeconfig("hub-dev")))
    for cluster, user, options in (
        ("edge-1", "system:serviceaccount:kamaji-edge:rocky", ()),
        ("hub-dev", "system:serviceaccount:rocky:rocky", administrator),
    ):
        # The files before have Flux start anew, which looks at all apps again.
        eventually(lambda place=(cluster, *options): why(fleet, "rocky/web", *place)[1]["well"], "the app to be ready")  # type: ignore[misc]
        code, answer = why(fleet, "rocky/web", cluster, *options)
        assert (code, answer["well"], answer["readAs"], answer["unread"]) == (0, True, user, [])
        assert answer["trail"][-1]["state"] == "3 ready"
    for release in ("movy/web", "platform/cert-controller"):
        code, answer = why(fleet, release, "edge-1")
        assert (code, answer["unread"], "ready" in answer["trail"][-1]["state"]) == (0, [], True), answer


def test_a_quota_a_path_and_a_source_are_each_named(restored: Project) -> None:
    for old, new in CHANGES:
        restored.edit(old, new)
    # On edge-1 the apps stay on the source that they have; on the management cluster a source keeps its name.
    stayed = restored.up()
    assert stayed.code
    said = " ".join(stayed.text.split())
    assert "its new source has no artifact: GitRepository kamaji-edge/rocky.manifests." in said, stayed.text
    assert "rocky/db on edge-1, rocky/web on edge-1" in said, stayed.text
    lines = restored.fleet.read_text().splitlines()

    def line(word: str) -> str:
        return f"tenants.yaml:{next(number for number, line in enumerate(lines, 1) if word in line)}"

    quota = "Deployment movy/web: .*exceeded quota: tenantry, .*"
    raised = f"[1-9] of 1 pods are used; to raise it, change 'quota' in {line('pods: 1}')}"
    path = r"Flux( has given up)?: path './nowhere' does not exist in the source"
    source = "the source cannot be fetched: .*repository not found(; the app runs what was fetched before)?"
    expected = (
        ("movy/web", "edge-1", "progressing|failed", quota, raised),
        (
            "movy/worker",
            "hub-dev",
            "failed",
            path,
            f"check what the app applies, and its settings in {line('./nowhere')}",
        ),
        ("rocky/db", "hub-dev", "failed|ready", source, f"check the source in {line('gone.git')}"),
        # Helm gives up after a while, and the quota is the cause all the same.
        ("movy/web", "edge-1", "failed", quota, raised),
    )
    for app, cluster, status, cause, advice in expected:

        def is_told(
            app: str = app, cluster: str = cluster, expected: tuple[str, ...] = (status, cause, advice)
        ) -> bool:
            code, answer = why(restored, app, cluster)
            first = answer["findings"][0] if code else {"cause": "", "advice": ""}
            status, cause, advice = expected
            told = re.fullmatch(status, answer["status"]) and re.fullmatch(cause, first["cause"])
            return bool(told) and bool(re.fullmatch(advice, first["advice"]))

        eventually(is_told, f"{app} on {cluster} to be {status}: {cause}; {advice}")
