"""What happens when something that a fleet needs goes away for a while: an API server, a source, a controller, an identity.

Each test starts from a fleet that is up and as planned, and leaves it so.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from tenantry.kube.objects import ObjectId
from tenantry_sandbox.content import commit
from tests.e2e.clusters import Cluster, eventually
from tests.e2e.project import TIMEOUT, Project
from tests.faults.api import Api
from tests.faults.compare import differences, identities, settled
from tests.faults.crash import UP, output, started
from tests.faults.outage import apps, force_what_is_lost
from tests.faults.parts import API, all_run, kill, without

pytestmark = [pytest.mark.e2e, pytest.mark.faults]

MOVY = "\n  movy:\n"
ON_HUB = ("Kustomization", "rocky", "db")


@pytest.fixture
def project(made: Project) -> Iterator[Project]:
    """The fleet, up and as planned, whatever the test before has left."""
    if not all_run(made):
        made.start("dev")
    text = made.fleet.read_text()
    if differences(made, "dev"):
        made.pulumi(*UP).ok()
        settled(made, "dev")
    yield made
    made.fleet.write_text(text)


def test_a_release_that_flux_lost_sight_of_is_told_and_can_be_put_right(project: Project, hub: Cluster) -> None:
    """What is left where an API server goes away between an installation and the note of it; made by hand, it takes the moment."""
    before = identities(project, "dev")
    release = ("HelmRelease", "clusters", "edge-movy-greeter")
    found = hub.find(*release)
    assert found
    ready = next(each for each in found["status"]["conditions"] if each["type"] == "Ready")
    lost = {**ready, "status": "Unknown", "reason": "Progressing", "message": "Running 'install' action"}
    path = "/apis/helm.toolkit.fluxcd.io/v2/namespaces/clusters/helmreleases/edge-movy-greeter/status"
    answer = Api(project.kubeconfig("hub")).ask("PATCH", path, {"status": {"conditions": [lost]}})
    assert not answer.message
    hub.reconcile(*release)
    eventually(lambda: handled(hub, release) and not known(hub, release), "Flux to look at it in vain")
    for told in (project.tenantry("status", "--environment", "dev"), project.pulumi("preview", "--stack", "dev")):
        assert (
            "HelmRelease clusters/edge-movy-greeter (app 'greeter' of tenant 'movy' on edge) is installed" in told.text
        )
        assert "flux reconcile helmrelease edge-movy-greeter --namespace clusters --force" in told.text
    settled(project, "dev", meanwhile=lambda: force_what_is_lost(project, hub))
    assert identities(project, "dev") == before


KEPT = {(cluster, ObjectId("v1", "Namespace", "", "movy")) for cluster in ("hub", "edge")}
"""What a tenant that goes leaves behind."""


def without_movy(project: Project) -> dict[tuple[str, ObjectId], str]:
    return {key: uid for key, uid in identities(project, "dev").items() if "movy" not in str(key)}


def handled(hub: Cluster, release: tuple[str, str, str]) -> bool:
    """Whether Flux has looked at a release since it was last asked to."""
    found = hub.find(*release) or {}
    asked = found["metadata"]["annotations"]["reconcile.fluxcd.io/requestedAt"]
    return bool(found["status"].get("lastHandledReconcileAt") == asked)


def known(hub: Cluster, release: tuple[str, str, str]) -> bool:
    """Whether Flux calls a release ready."""
    conditions = (hub.find(*release) or {})["status"]["conditions"]
    return any((each["type"], each["status"]) == ("Ready", "True") for each in conditions)


def test_without_the_source_server_everything_stays_as_it_was(project: Project, hub: Cluster) -> None:
    before = identities(project, "dev")
    source = ("GitRepository", "rocky", "manifests")
    with without(project, "sandbox", "content"):
        hub.reconcile(*source)
        failure = eventually(lambda: hub.failure(*source), "the source to fail")
        assert "connection refused" in failure
        assert apps(project, "hub") == apps(project, "edge") == {"ready"}
        project.edit("COLOR: green", "COLOR: blue")
        project.pulumi(*UP).ok()
        assert identities(project, "dev") == before
    revision = commit(project.sandbox, "rocky/manifests", {"db/late.yaml": LATE}, "Push after the outage")
    hub.reconcile(*source)
    eventually(lambda: revision in applied(hub, ON_HUB), "the push")
    settled(project, "dev")


LATE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: late}\n"


def applied(hub: Cluster, app: tuple[str, str, str]) -> str:
    """The revision that Flux has applied last."""
    return str((hub.find(*app) or {}).get("status", {}).get("lastAppliedRevision", ""))


def test_a_tenant_leaves_once_the_controllers_are_back(project: Project) -> None:
    others = without_movy(project)
    for controller in APPLYING:
        kill(project, "hub", controller)
    project.fleet.write_text(project.fleet.read_text().partition(MOVY)[0] + "\n")
    with started(project, UP, 1) as (run, _):
        project.start("dev")
        assert run.wait(TIMEOUT) == 0, output(project)
    settled(project, "dev")
    assert identities(project, "dev").keys() - others.keys() == KEPT
    assert without_movy(project) == others


APPLYING = ("kustomize-controller", "helm-controller")


def test_a_tenant_leaves_once_the_remote_clusters_api_server_is_back(project: Project, hub: Cluster) -> None:
    others = without_movy(project)
    project.fleet.write_text(project.fleet.read_text().partition(MOVY)[0] + "\n")
    kill(project, "edge", API)
    with started(project, UP, 0) as (run, _):
        eventually(lambda: in_deletion(hub, ("HelmRelease", "clusters", "edge-movy-greeter")), "the deletion")
        assert run.poll() is None, output(project)
        assert apps(project, "hub") == {"ready"}
        project.start("dev")
        assert run.wait(TIMEOUT) == 0, output(project)
    settled(project, "dev")
    assert identities(project, "dev").keys() - others.keys() == KEPT
    assert without_movy(project) == others


def in_deletion(hub: Cluster, app: tuple[str, str, str]) -> bool:
    return "deletionTimestamp" in (hub.find(*app) or {"metadata": {}})["metadata"]


def test_a_removal_that_was_given_up_is_told_and_the_cluster_can_be_given_up_too(
    project: Project, hub: Cluster
) -> None:
    whole = project.fleet.read_text()
    app = ("HelmRelease", "clusters", "edge-movy-greeter")
    kept = {
        key: uid
        for key, uid in identities(project, "dev").items()
        if key[0] == "hub" and "rocky" in (key[1].namespace, key[1].name) and key[1].namespace != "clusters"
    }
    project.fleet.write_text(whole.partition(MOVY)[0] + "\n")
    kill(project, "edge", API)
    with started(project, UP, 0) as (run, _):
        eventually(lambda: in_deletion(hub, app) and hub.failure(*app), "Flux to fail to clean up")
        run.send_signal(signal.SIGINT)
        assert run.wait(TIMEOUT) != 0, output(project)
    for told in (project.tenantry("status", "--environment", "dev"), project.pulumi("preview", "--stack", "dev")):
        assert (
            "HelmRelease clusters/edge-movy-greeter (app 'greeter' of tenant 'movy' on edge) has been deleting since"
            in told.text
        )
        assert "kubernetes cluster unreachable" in told.text
        assert "If 'edge' is gone for good: restore the removed entries in the file" in told.text
    project.fleet.write_text(whole)
    project.edit("namespace: clusters}}\n", "namespace: clusters}}\n    state: decommissioned\n")
    project.pulumi(*UP, "--refresh").ok()
    project.edit(ENTRY, "")
    project.pulumi(*UP).ok()
    settled(project, "dev")
    assert "has been deleting" not in project.tenantry("status", "--environment", "dev").ok().text
    now = identities(project, "dev")
    assert {key: now.get(key) for key in kept} == kept


ENTRY = """\
  edge:
    environments: [dev]
    kubeconfig: {kamaji: {controlPlane: edge, namespace: clusters}}
    state: decommissioned
"""
