"""The page on leaving Tenantry, followed on running clusters: Flux goes on alone with the same objects, and back again."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace

import pytest
from lightkube.resources.core_v1 import Namespace, Pod

from tenantry.load import load_fleet, plan_one
from tenantry_sandbox.layout import Layout
from tenantry_sandbox.spec import spec_of
from tenantry_sandbox.up import up
from tests.blocks import blocks
from tests.e2e.clusters import Cluster
from tests.e2e.operator import Operator
from tests.e2e.project import Project

pytestmark = pytest.mark.e2e

PAGE = "docs/leaving.md"
FILE = "fleet.yaml"
ADDRESS = "https://git.example.com/platform/fleet.git"
OVERRIDING = {"kustomize-controller": {"override-manager": "tenantry"}}
"""What the page adds to the arguments of a controller."""
QUOTA = "rendered/dev/rocky/resourcequota-tenantry.yaml"
RELEASE = "rendered/dev/kamaji-edge/helmrelease-edge-1-movy-web.yaml"


@pytest.fixture
def operator(fleet: Project) -> Iterator[Operator]:
    """Somebody with the fleet in a Git repository that Flux can fetch, and the argument for Flux that the page shows."""
    root, loaded = fleet.root, load_fleet(fleet.fleet)
    spec = replace(spec_of(loaded, plan_one(loaded, "dev"), fleet.content), flags=OVERRIDING)
    up(spec, fleet.sandbox, lambda *_: None)
    served = Layout(fleet.sandbox).git / "platform" / "fleet.git"
    served.parent.mkdir(exist_ok=True)
    for command in (
        f"init -q --bare -b main {served}",
        f"-C {root} init -q -b main",
        f"-C {root} remote add origin {served}",
        f"-C {root} config push.autoSetupRemote true",
    ):
        subprocess.run(["git", *command.split()], check=True)
    made = Operator(root, fleet.environment())
    made.runs = "leaving"
    yield made
    for path in (root / ".git", root / "rendered" / "dev", served.parent):
        shutil.rmtree(path)
    for name in (FILE, "dev.json"):
        (root / name).unlink(missing_ok=True)
    made.printed("kubectl delete gitrepository,kustomization fleet --namespace flux-system --ignore-not-found")
    fleet.start("dev")  # with Flux's arguments as they were


def state(*clusters: Cluster) -> dict[str, str]:
    """The namespaces, pods and fleet's objects on some clusters, by their uids."""
    found: dict[str, str] = {}
    for number, cluster in enumerate(clusters):
        there: list[Namespace | Pod] = [*cluster.client.list(Namespace), *cluster.client.list(Pod, namespace="*")]
        own = {f"{each.metadata.namespace}/{each.metadata.name}": each.metadata.uid for each in there if each.metadata}
        found |= {f"{number} {name}": str(uid) for name, uid in {**own, **cluster.fleet_uids()}.items()}
    return found


def edit(fleet: Project, file: str, old: str, new: str) -> None:
    text = (fleet.root / file).read_text()
    assert old in text
    (fleet.root / file).write_text(text.replace(old, new))


def test_flux_goes_on_alone_with_the_same_objects_and_tenantry_can_come_back(
    operator: Operator, fleet: Project, hub: Cluster, edge: Cluster
) -> None:
    """Up to the forgotten state; a change through Git; the way back."""
    found = blocks(PAGE)
    written = next(at for at, each in enumerate(found) if each.notes.get("writes") == FILE)
    *leaving, coming_back = [each for each in found[written + 1 :] if each.has_commands]
    before = state(hub, edge)
    for block in found[: written + 1]:
        operator.follow(block)
    edit(fleet, FILE, ADDRESS, "http://sandbox.test/git/platform/fleet.git")
    for block in leaving:
        operator.follow(block)
    assert not fleet.has_resources("dev")
    assert state(hub, edge) == before

    edit(fleet, QUOTA, "    pods: '40'\n", "")
    edit(fleet, RELEASE, "replicas: 2", "replicas: 3")
    code, told = operator.printed("git commit -qam 'One change through Git' && git push -q")
    assert code == 0, told
    hub.reconcile("GitRepository", "flux-system", "fleet")
    edge.wait_scaled("movy", "web", 3)
    hub.until("ResourceQuota", "rocky", "tenantry", lambda found: "pods" not in found["spec"]["hard"], "a field to go")
    changed = state(hub, edge)
    assert before.items() <= changed.items()

    operator.follow(coming_back)
    edge.wait_scaled("movy", "web", 2)
    quota = hub.find("ResourceQuota", "rocky", "tenantry")
    assert quota
    assert quota["spec"]["hard"]["pods"] == "40"
    again = state(hub, edge)
    assert {name for name in before if again.get(name) != before[name]} == set()
    assert operator.differences == []
