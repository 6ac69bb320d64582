"""A change that fails is called failed within seconds, with the reason, by everything that tells how apps are."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from tenantry.rollout.flux_status import Readiness, state_of
from tests.e2e.clusters import Cluster, eventually
from tests.e2e.project import Project

pytestmark = pytest.mark.e2e

REFUSED = """\
kustomize:
          source: manifests
          path: ./db
          patches: [{target: {kind: StatefulSet}, patch: '[{"op": "replace", "path": "/spec/replicas", "value": -1}]'}]"""
CHANGES = (
    ("path: ./worker}", "path: ./nowhere}"),
    ("kustomize: {source: manifests, path: ./db}", REFUSED),
    (
        "    apps:\n      db:",
        '      gone: {git: {url: "{git}/rocky/gone.git", ref: {branch: main}}}\n    apps:\n'
        "      lost: {kustomize: {source: gone, path: .}}\n      db:",
    ),
    (
        "      worker:\n",
        "      crowd:\n        clusters: {labels: {tier: edge}}\n        helm: {source: charts, chart: movy-web, version: 1.x,"
        " timeout: 10s, values: {host: x, replicas: 100}}\n      worker:\n",
    ),
)
"""A wrong path, a patch that the API server refuses, a missing repository, an app that never becomes ready."""
REASONS = {
    ("hub-dev", "worker"): "path './nowhere' does not exist in the source",
    ("hub-dev", "db"): "must be greater than or equal to 0",
    ("edge-1", "db"): "must be greater than or equal to 0",
    ("hub-dev", "lost"): "GitRepository rocky/gone: ",
    ("edge-1", "lost"): "GitRepository kamaji-edge/rocky.gone.",
    ("edge-1", "crowd"): " failed for release movy/crowd with chart movy-web@",
}
NORA = """
  nora:
    sources:
      manifests: {git: {url: "{git}/rocky/manifests.git", ref: {branch: main}}}
    apps:
      store: {kustomize: {source: manifests, path: ./db}}
"""


def apps_of(project: Project, *options: str) -> list[dict[str, Any]]:
    found = json.loads(project.tenantry("status", "-e", "dev", *options, "--output", "json").out)["apps"]
    assert isinstance(found, list)
    return found


def test_a_change_that_fails_is_failed_with_its_reason_and_ends_up_early(fleet: Project) -> None:
    for old, new in CHANGES:
        fleet.edit(old, new)
    fleet.up().ok()

    def failed() -> dict[tuple[str, str], str]:
        found = {(each["cluster"], each["app"]): each for each in apps_of(fleet, "--failing")}
        return {app: found[app]["message"] for app in REASONS.keys() & found if found[app]["status"] == "failed"}

    def are_told() -> bool:
        """While Flux tries again, it says what it does."""
        messages = failed()
        return all(reason in messages.get(app, "") for app, reason in REASONS.items())

    eventually(are_told, "every broken app to be called failed with its reason")
    ended = fleet.tenantry(
        "sandbox", "run", "--", "tenantry", "up", "-e", "dev", "--yes", "--skip-preview", "--no-preflight"
    )
    assert ended.code == 1, ended.text
    assert "failed again and again, so waiting ends here\n" in ended.text
    assert "then run `tenantry up --environment dev` again\n" in ended.text
    assert "not everything is ready after" not in ended.text


def test_what_is_put_right_becomes_ready_and_a_first_installation_is_never_failed(
    fleet: Project, original: str
) -> None:
    fleet.fleet.write_text(original + NORA)
    seen: set[str] = set()
    done = threading.Event()

    def look() -> None:
        while not done.wait(2):
            bad = [each for each in apps_of(fleet, "--tenant", "nora") if each["status"] == "failed"]
            seen.update(f"{each['cluster']}: {each['message']}" for each in bad)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        fleet.up().ok()
        fleet.wait("dev")
    finally:
        done.set()
        looking.join()
    # An API server acts on a new RoleBinding a moment after it took it. A first attempt in between is forbidden, as Flux says then.
    assert {each for each in seen if " is forbidden: User " not in each} == set()


def test_status_tells_of_objects_that_others_changed_or_deleted_until_a_run_restores_them(
    fleet: Project, hub: Cluster
) -> None:
    hub.patch("Kustomization", "movy", "worker", {"spec": {"interval": "7m"}})
    hub.delete("ResourceQuota", "movy", "tenantry")

    found = fleet.tenantry("status", "-e", "dev", "--output", "json")
    told = json.loads(found.out)
    (worker,) = [each for each in told["apps"] if each["app"] == "worker"]
    assert (found.code, worker["status"]) == (1, "changed")
    assert worker["message"].startswith("changed by hand: spec.interval, by ")
    assert [(each["id"]["kind"], each["id"]["name"], each["status"]) for each in told["objects"]] == [
        ("ResourceQuota", "tenantry", "missing")
    ]
    fleet.up("dev", "--refresh").ok()
    fleet.wait("dev")
    again = fleet.tenantry("status", "-e", "dev").ok()
    assert f"{told['planned']} objects as planned" in again.out


@pytest.mark.usefixtures("fleet")
def test_no_app_is_ready_on_the_result_of_the_spec_before(hub: Cluster) -> None:
    """The spec is written while the one before is reconciled, again and again."""
    place = ("kustomize.toolkit.fluxcd.io", "v1", "Kustomization", "kustomizations", "worker", "movy")
    for number in range(4):
        path, expected = ("./worker", Readiness.READY) if number % 2 else ("./nowhere", Readiness.FAILED)
        hub.annotate(*place, "reconcile.fluxcd.io/requestedAt")
        hub.patch("Kustomization", "movy", "worker", {"spec": {"path": path}})
        seen: list[Readiness] = []

        def settled(seen: list[Readiness] = seen, expected: Readiness = expected) -> bool:
            found = hub.find("Kustomization", "movy", "worker")
            assert found is not None
            seen.append(state_of(found))
            return seen[-1] is expected

        eventually(settled, "the spec to be reconciled")
        if expected is Readiness.FAILED:
            assert Readiness.READY not in seen
