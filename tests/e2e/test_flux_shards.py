"""Shards of Flux's controllers: each app is reconciled by those of its shard, and a move between shards deletes nothing."""

from __future__ import annotations

import re

import pytest

from tenantry.kube.objects import labels_of
from tenantry.load import load_fleet, plan_one
from tenantry.plan.objects.scope import SHARD_LABEL as SHARD
from tests.e2e.clusters import Cluster
from tests.e2e.project import Project
from tests.e2e.watch import Manifest

pytestmark = pytest.mark.e2e
FLUX = {
    "rocky": ("Kustomization", "rocky", "web"),
    "movy": ("HelmRelease", "kamaji-edge", "edge-1-movy-web"),
    "add-on": ("HelmRelease", "kamaji-edge", "edge-1-cert-controller"),
}
EDGE = "  edge-1:\n"


def test_each_app_is_reconciled_by_the_controllers_of_its_shard_and_a_move_deletes_nothing(
    fleet: Project, original: str, hub: Cluster, edge: Cluster
) -> None:
    objects = _objects(hub, edge)
    # First the controllers of the shard, then its objects.
    fleet.fleet.write_text(original.replace(EDGE, f"{EDGE}    shard: a\n"))
    fleet.start("dev")
    fleet.up().ok()
    _wait(fleet, hub, {"", "a"})
    for found in FLUX.values():
        hub.reconciled(*found)
    assert _objects(hub, edge) == objects
    # The controllers of a shard go after its objects, whose finalizers need them.
    fleet.fleet.write_text(original)
    fleet.up().ok()
    fleet.start("dev")
    _wait(fleet, hub, {""})
    assert _objects(hub, edge) == objects


def _objects(hub: Cluster, edge: Cluster) -> dict[str, str]:
    """The objects of the fleet by their uids, and the versions of all releases: without the sources and charts beside kubeconfigs,
    of which each shard has its own.
    """
    secrets = ("", "v1", "Secret", "secrets")
    releases = [name for namespace in ("tenantry-system", "movy") for name in edge.names(*secrets, namespace)]
    both = {
        f"{number} {name}": uid
        for number, each in enumerate((hub, edge))
        for name, uid in each.fleet_uids().items()
        if "." not in name
    }
    kept = {
        name: uid
        for name, uid in both.items()
        if not re.match(r"\d (GitRepository|Helm(Repository|Chart)) kamaji-edge/", name)
    }
    return {**kept, **dict.fromkeys(releases, "")}


def _wait(fleet: Project, hub: Cluster, shards: set[str]) -> None:
    """Wait until the source-controller of its shard serves the artifact of each source. shards: those that run."""
    parts = (each for each in fleet.parts().values() if each.part.startswith("source-controller"))
    ports = {each.part: each.ports[0] for each in parts}
    assert ports.keys() == {f"source-controller-{shard}" if shard else "source-controller" for shard in shards}
    planned = {
        each.id[1:4]: str(labels_of(each.manifest).get(SHARD, ""))
        for each in plan_one(load_fleet(fleet.fleet), "dev").objects
    }
    assert {shard for (kind, *_), shard in planned.items() if kind.endswith("Repository")} <= shards
    for (kind, *place), shard in planned.items():
        if kind in ("GitRepository", "HelmRepository"):
            port = ports[f"source-controller-{shard}" if shard else "source-controller"]
            url = f"://127.0.0.1:{port}/"

            def served(source: Manifest, url: str = url) -> bool:
                return url in source["status"].get("artifact", {}).get("url", "")

            hub.until(kind, *place, served, f"{kind} {place[1]} in shard '{shard}'")
    for found in FLUX.values():
        assert (hub.find(*found) or {})["metadata"]["labels"].get(SHARD, "") == planned[found]
