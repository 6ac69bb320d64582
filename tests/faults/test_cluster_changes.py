"""A tenant that moves between clusters, and a kubeconfig that is rotated, while all else runs on."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager

import pytest
import yaml

from tenantry.kube.objects import ObjectId
from tenantry_sandbox.certificates import Authority
from tests.e2e.clusters import Cluster, eventually
from tests.e2e.project import Project
from tests.faults.api import Api
from tests.faults.compare import listed, settled
from tests.faults.edits.draw import CLUSTERS
from tests.faults.identities import Identities, identities, made_anew
from tests.faults.mutating import OVERWRITTEN
from tests.faults.report import Results

pytestmark = [pytest.mark.e2e, pytest.mark.faults]

BORA = "    clusters: {{names: [{}]}}\n"
KUBECONFIG = ("capi", "edge-2-kubeconfig", "value")


@pytest.fixture(scope="module")
def project(wide: Project, origin: str) -> Project:
    """The fleet from which the random walk goes out, up and ready."""
    wide.fleet.write_text(origin)
    run(wide)
    return wide


def noted(results: Results, what: str, outcome: str) -> AbstractContextManager[None]:
    return results.timed("clusters", {"what": what, "outcome": outcome}, "as planned")


def run(project: Project) -> None:
    project.up().ok()
    settled(project, "dev", overwritten=OVERWRITTEN)


def on(found: Identities, cluster: str, tenant: str = "") -> Identities:
    """Those of one cluster, and of a tenant's namespace there."""
    return {key: uid for key, uid in found.items() if key[0] == cluster and (not tenant or key[1].namespace == tenant)}


def installed(found: Identities, cluster: str, tenant: str) -> set[str]:
    """What a tenant has in its namespace, without what Kubernetes puts into each, and the data of the walk."""
    others = ("default", "kube-root-ca.crt", "data")
    return {str(id) for _, id in on(found, cluster, tenant) if id.name not in others}


SPACE = ("edge-1", ObjectId("v1", "Namespace", "", "bora"))


def test_a_tenant_moves_in_two_runs_and_is_never_nowhere(project: Project, results: Results) -> None:
    first = on(identities(project, ["edge-1"]), "edge-1", "bora")
    assert first
    with noted(results, "a tenant moves, in two runs", "on both clusters in between; no objects left on the old one"):
        project.edit(BORA.format("edge-1"), BORA.format("edge-1, edge-2"))
        run(project)
        both = identities(project, CLUSTERS)
        assert on(both, "edge-1", "bora") == first
        assert installed(both, "edge-2", "bora") == installed(both, "edge-1", "bora")
        project.edit(BORA.format("edge-1, edge-2"), BORA.format("edge-2"))
        run(project)
    after = identities(project, CLUSTERS)
    assert on(after, "edge-2") == on(both, "edge-2")
    assert installed(after, "edge-1", "bora") == set()
    assert after[SPACE] == both[SPACE], "the namespace stays with its data"
    assert made_anew(both, after) == []


def test_a_kubeconfig_is_rotated_while_apps_are_reconciled(project: Project, results: Results) -> None:
    before = identities(project, CLUSTERS)
    what, user = "the credentials of a kubeconfig are replaced under load", "rotated"
    with busy(project), noted(results, what, "Flux uses the new ones; nothing is deleted or created again"):
        rotate(project, user)
        eventually(lambda: {"helm-controller", "kustomize-controller"} <= agents(project, user), "the new user at work")
    settled(project, "dev", overwritten=OVERWRITTEN)
    project.up().ok()
    assert identities(project, CLUSTERS) == before
    assert project.preview() == {}


def rotate(project: Project, user: str) -> None:
    """Put a new administrator's certificate and key into the Secret, as a controller that renews kubeconfigs does."""
    namespace, name, key = KUBECONFIG
    pair = Authority(project.sandbox / "edge-2" / "pki").client(user, user, "system:masters")
    kubeconfig = yaml.safe_load(project.kubeconfig("edge-2").read_text())
    kubeconfig["users"][0]["user"] = {
        "client-certificate-data": base64.b64encode(pair.certificate.read_bytes()).decode(),
        "client-key-data": base64.b64encode(pair.key.read_bytes()).decode(),
    }
    content = base64.b64encode(yaml.safe_dump(kubeconfig).encode()).decode()
    path = f"/api/v1/namespaces/{namespace}/secrets/{name}"
    assert Api(project.kubeconfig("hub")).ask("PATCH", path, {"data": {key: content}}).message == ""


@contextmanager
def busy(project: Project) -> Iterator[None]:
    """Flux compares all that is on the cluster again and again meanwhile."""
    hub, ended = Api(project.kubeconfig("hub")), threading.Event()
    reconciled = [
        id for id in listed(hub) if id.kind in ("Kustomization", "HelmRelease") and id.namespace == KUBECONFIG[0]
    ]

    def load() -> None:
        with closing(Cluster(project.kubeconfig("hub"))) as cluster:
            while not ended.wait(0.2):
                for id in reconciled:
                    cluster.reconcile(id.kind, id.namespace, id.name)

    thread = threading.Thread(target=load)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def agents(project: Project, user: str) -> set[str]:
    """The programs that have asked the cluster anything with a user's certificate."""
    log = (project.sandbox / "logs" / "edge-2-audit.log").read_text()
    # The last line may be half written.
    events = (json.loads(line) for line in log.splitlines()[:-1] if f'"{user}"' in line)
    return {event["userAgent"].partition("/")[0] for event in events if event["user"]["username"] == user}
