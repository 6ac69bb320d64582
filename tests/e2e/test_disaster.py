"""The page on disasters, followed after each of them has happened to running clusters."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tenantry.load import load_fleet, plan_one
from tenantry_sandbox.spec import spec_of
from tenantry_sandbox.up import up
from tests.blocks import Block, blocks
from tests.e2e import rights
from tests.e2e.caretaker import caretaker
from tests.e2e.clusters import Cluster, eventually
from tests.e2e.connecting import Connector
from tests.e2e.operator import Operator
from tests.e2e.project import Project
from tests.e2e.test_leaving import state
from tests.faults import etcd
from tests.faults.parts import API, CONTROLLERS, frozen, kill

pytestmark = pytest.mark.e2e

HUB, EDGE = "hub-dev", "edge-1"
STATE, LOST, STOP, OLD, SHUT_OUT, REPLACED = [each for each in blocks("docs/recovery.md") if each.runs == "disaster"]
"""What the page says for each case, in its order."""


@pytest.fixture
def operator(fleet: Project) -> Iterator[Operator]:
    """Somebody with the kubeconfigs of administrators."""
    made = Operator(fleet.root, fleet.environment())
    made.runs = "disaster"
    for cluster in (HUB, EDGE):
        shutil.copy(fleet.kubeconfig(cluster), fleet.root / f"{cluster}.kubeconfig")
    with rights.as_administrator(fleet.root):
        yield made


def holding(fleet: Project, cluster: str, copy: etcd.Copy) -> None:
    """Have a cluster be as a copy says, and everything that runs for it start anew.

    A scheduler that remembers other pods of the same names ends itself, maybe when the sandbox has come up already.
    """
    for part in (*(CONTROLLERS if cluster == HUB else ()), "kube-scheduler", "kube-controller-manager", API):
        kill(fleet, cluster, part)
    etcd.put_back(fleet, cluster, copy)
    fleet.start("dev")


def followed(operator: Operator, block: Block) -> None:
    operator.follow(block)
    assert operator.differences == []


def test_the_state_is_lost(operator: Operator, fleet: Project, hub: Cluster, edge: Cluster) -> None:
    before = state(hub, edge)
    fleet.pulumi("stack", "rm", "dev", "--yes", "--force", "--preserve-config").ok()
    followed(operator, STATE)
    assert state(hub, edge) == before


def test_the_management_cluster_is_restored_from_an_old_backup(
    operator: Operator, fleet: Project, hub: Cluster, edge: Cluster
) -> None:
    """Since the backup a quota and an app's path have changed, and an app was added."""
    copy = etcd.copied(fleet, HUB)
    for old, new in NEWER:
        fleet.edit(old, new)
    fleet.deploy("dev")
    before = state(edge)
    holding(fleet, HUB, copy)
    followed(operator, OLD)
    fleet.wait("dev")
    assert pods_in(hub) == "62"
    assert state(edge) == before


DB = "kustomize: {source: manifests, path: ./db}\n"
NEWER = (
    ("quota: {pods: 60}", "quota: {pods: 62}"),
    (DB, f"{DB.replace('}', ', prune: false}')}      more:\n        {DB.replace('}', ', namePrefix: more-}')}"),
)


def pods_in(cluster: Cluster) -> str:
    """How many pods tenant movy may have there."""
    quota = cluster.find("ResourceQuota", "movy", "tenantry")
    assert quota
    return str(quota["spec"]["hard"]["pods"])


def test_a_remote_cluster_is_replaced_under_its_name(operator: Operator, fleet: Project, hub: Cluster) -> None:
    holding(fleet, EDGE, {})
    before = state(hub)
    followed(operator, REPLACED)
    edge = Cluster(fleet.kubeconfig(EDGE))
    try:
        for namespace in ("movy", "rocky"):
            edge.until("Deployment", namespace, "web", lambda found: found["status"].get("readyReplicas"), "its pods")
    finally:
        edge.close()
    fleet.wait("dev")
    assert state(hub) == before


# --- another management cluster -----------------------------------------------------------------------------------

NEW = "hub-new"
STORED = ("kamaji-edge", "edge-1-admin-kubeconfig", "admin.conf")
SECRET = ("Secret", *STORED[:2])
BASELINE = ("HelmRelease", "kamaji-edge", "edge-1-movy-baseline")


@pytest.fixture
def connected(operator: Operator, fleet: Project, hub: Cluster) -> Iterator[Operator]:
    """The same, with Flux on one more cluster, in a sandbox of its own beside the first, and edge-1 connected with a token."""
    loaded = load_fleet(fleet.fleet)
    spec = spec_of(loaded, plan_one(loaded, "dev"), fleet.content)
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": STORED[0]}}
    other = fleet.root / ".sandbox-new"
    caretaker().expect(other)
    up(replace(spec, management=NEW, remotes=(), bootstrap=(space,)), other, lambda *_: None)
    fleet.edit(
        "kubeconfig: {kamaji: {controlPlane: edge-1, namespace: kamaji-edge}}", f"kubeconfig: {{secret: {REFERENCE}}}"
    )
    hub.delete(*SECRET)
    Connector(fleet, fleet.kubeconfig(HUB), STORED).connect()
    yield operator
    caretaker().take_down(other)
    caretaker().take_down(fleet.sandbox)


def new_kubeconfig(fleet: Project) -> Path:
    return fleet.root / ".sandbox-new" / NEW / "kubeconfig"


BOOTSTRAP, ADDRESS = 0, 4
"""Which commands of the page those are for a management cluster that is lost."""


def typed(operator: Operator, block: Block, number: int) -> None:
    """One of the commands of a block."""
    code, told = operator.printed(list(block.commands())[number][0])
    assert code == 0, told


REFERENCE = "{name: edge-1-admin-kubeconfig, namespace: kamaji-edge, key: admin.conf}"


def test_the_management_cluster_moves_and_the_old_one_comes_back_and_is_shut_out(
    connected: Operator, fleet: Project, hub: Cluster, edge: Cluster
) -> None:
    """It moves with its Secrets from a backup, while the old one does not answer, as if it was lost. Then that one acts again."""
    operator, root, before = connected, fleet.root, state(edge)
    shutil.copy(fleet.kubeconfig(HUB), root / "old.kubeconfig")
    shutil.copy(new_kubeconfig(fleet), root / f"{HUB}.kubeconfig")
    operator.environment["KUBECONFIG"] = str(root / f"{HUB}.kubeconfig")
    hub.apply("deployments", CONTROLLER)
    hub.wait_scaled("flux-system", "kustomize-controller", 1)
    followed(operator, STOP)
    hub.wait_scaled("flux-system", "kustomize-controller", 0)
    with closing(Cluster(new_kubeconfig(fleet))) as new:
        copy(SECRET, hub, new)
        for number in (BOOTSTRAP, ADDRESS):
            typed(operator, LOST, number)
        with_old_state = fleet.engine("up", "dev", "--yes", "--skip-preview")
        assert (with_old_state.code, "the state is of another management cluster" in with_old_state.text) == (1, True)
        with frozen(fleet, HUB, API, *CONTROLLERS):
            followed(operator, LOST)
            assert state(edge) == before
            fleet.edit("quota: {pods: 62}", "quota: {pods: 64}")
            fleet.engine("up", "dev", "--yes", "--skip-preview").ok()
            eventually(lambda: pods_in(edge) == "64", "the new one to raise the quota")
        hub.reconcile(*BASELINE)
        eventually(lambda: pods_in(edge) == "62", "the old one to undo this")
        followed(operator, SHUT_OUT)
        Connector(fleet, new_kubeconfig(fleet), STORED).connect()
        eventually(lambda: is_refused(hub), "the old one to be refused")
        typed(operator, REPLACED, 1)
        eventually(lambda: pods_in(edge) == "64", "the new one to raise the quota again")
        fleet.wait("dev")
        eventually(lambda: is_refused(hub), "the old one still to be refused")
    assert pods_in(edge) == "64"
    assert state(edge) == before


LABELS = {"app": "kustomize-controller"}
CONTROLLER = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "kustomize-controller", "namespace": "flux-system"},
    "spec": {
        "selector": {"matchLabels": LABELS},
        "template": {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "manager", "image": "a"}]}},
    },
}
"""In place of the one that a sandbox runs as a process."""


def copy(id: tuple[str, str, str], hub: Cluster, new: Cluster) -> None:
    """Have another cluster hold an object as it is here."""
    found = hub.find(*id)
    assert found
    kept = {key: each for key, each in found["metadata"].items() if key in ("name", "namespace", "labels")}
    new.apply(f"{id[0].lower()}s", {**found, "apiVersion": "v1", "kind": id[0], "metadata": kept})


def is_refused(hub: Cluster) -> bool:
    """Whether the old management cluster is not let in, as far as it has seen; it is told to look once more."""
    told = (hub.failure(*BASELINE) or "").lower()
    hub.reconcile(*BASELINE)
    return "unauthorized" in told or "credentials" in told
