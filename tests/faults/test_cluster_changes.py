"""A tenant that moves between clusters, and a kubeconfig that is rotated, while all else runs on."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
import yaml

from tenantry_sandbox.certificates import Authority
from tests.e2e.clusters import Cluster, eventually
from tests.e2e.project import Project
from tests.faults.api import Api
from tests.faults.compare import listed, settled
from tests.faults.edits.draw import CLUSTERS
from tests.faults.identities import identities
from tests.faults.mutating import OVERWRITTEN

pytestmark = [pytest.mark.e2e, pytest.mark.faults]

KUBECONFIG = ("capi", "edge-2-kubeconfig", "value")


@pytest.fixture(scope="module")
def project(wide: Project, origin: str) -> Project:
    """The fleet from which the random walk goes out, up and ready."""
    wide.fleet.write_text(origin)
    run(wide)
    return wide


def run(project: Project) -> None:
    project.up().ok()
    settled(project, "dev", overwritten=OVERWRITTEN)


def test_a_kubeconfig_is_rotated_while_apps_are_reconciled(project: Project) -> None:
    before, user = identities(project, CLUSTERS), "rotated"
    with busy(project):
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
