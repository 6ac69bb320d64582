"""Shards of Flux's controllers: each app is reconciled by those of its shard, and a move between shards deletes nothing."""

from __future__ import annotations

import json

import pytest

from tests.e2e.clusters import Cluster
from tests.e2e.project import Project
from tests.e2e.watch import Manifest

pytestmark = pytest.mark.e2e
MANAGEMENT = "    management: hub-dev\n"
MOVY = "  movy:\n"
FLUX = {
    "rocky": ("Kustomization", "rocky", "web"),
    "movy": ("HelmRelease", "kamaji-edge", "edge-1-movy-web"),
    "add-on": ("HelmRelease", "kamaji-edge", "edge-1-cert-controller"),
}
SOURCES = {
    "rocky": ("GitRepository", "rocky", "manifests"),
    "movy": ("HelmRepository", "kamaji-edge", "movy.charts"),
    "add-on": ("HelmRepository", "kamaji-edge", "tenantry-system.charts"),
}
"""Without the digits of those that clusters share: they are in a shard by their content, and another shard gives another object."""
SHARDED = (MANAGEMENT + "    fluxShards: [a]\n    dedicatedFluxShards: [b]\n", MOVY + "    shard: b\n")
MOVED = (MANAGEMENT + "    fluxShards: [a, b]\n", MOVY)
"""By their hashes rocky on the management cluster is in the first shard, and all that is on edge-1 in the second."""


def test_each_app_is_reconciled_by_the_controllers_of_its_shard_and_a_move_deletes_nothing(
    fleet: Project, original: str, hub: Cluster, edge: Cluster
) -> None:
    objects = _objects(hub, edge)
    _deploy(fleet, original, *SHARDED)
    _wait(fleet, hub, {"rocky": "a", "movy": "b", "add-on": "a"})
    _deploy(fleet, original, *MOVED)
    _wait(fleet, hub, {"rocky": "a", "movy": "b", "add-on": "b"})
    for app in (("rocky", "db"), ("movy", "web"), ("platform/cert-controller",)):
        fleet.tenantry("reconcile", *app, "--environment", "dev", "--wait").ok()
    assert _objects(hub, edge) == objects
    # The controllers of a shard go after its objects.
    fleet.fleet.write_text(original)
    fleet.up().ok()
    fleet.start("dev")
    _wait(fleet, hub, {"rocky": "", "movy": "", "add-on": ""})
    assert _objects(hub, edge) == objects


def _deploy(fleet: Project, original: str, environment: str, movy: str) -> None:
    """First the controllers of the shards, then their objects."""
    fleet.fleet.write_text(original.replace(MANAGEMENT, environment).replace(MOVY, movy))
    fleet.start("dev")
    fleet.up().ok()


def _objects(hub: Cluster, edge: Cluster) -> dict[str, str]:
    """All objects of the fleet by their uids, but for what clusters share, and the versions of all releases."""
    secrets = ("", "v1", "Secret", "secrets")
    releases = [name for namespace in ("tenantry-system", "movy") for name in edge.names(*secrets, namespace)]
    both = {
        f"{number} {name}": uid
        for number, each in enumerate((hub, edge))
        for name, uid in each.fleet_uids().items()
        if "." not in name
    }
    return {**both, **dict.fromkeys(releases, "")}


def _wait(fleet: Project, hub: Cluster, shards: dict[str, str]) -> None:
    """Wait until the source-controller of its shard serves the artifact of each source."""
    parts = json.loads(fleet.tenantry("sandbox", "status", "--output", "json").ok().out)["parts"]
    ports = {each["part"]: each["ports"][0] for each in parts if each["part"].startswith("source-controller")}
    assert len(ports) == (1 + len({*shards.values()}) if any(shards.values()) else 1)
    for key, shard in shards.items():
        kind, namespace, name = SOURCES[key]
        name = hub.shared(kind, namespace, name) if "." in name else name
        of_source = (hub.find(kind, namespace, name) or {})["metadata"]["labels"].get("sharding.fluxcd.io/key", "")
        assert bool(of_source) == bool(shard)
        port = ports[f"source-controller-{of_source}" if of_source else "source-controller"]
        url = f"://127.0.0.1:{port}/"

        def served(source: Manifest, url: str = url) -> bool:
            return url in source["status"].get("artifact", {}).get("url", "")

        hub.until(kind, namespace, name, served, f"the source of {key} in shard '{of_source}'")
        labels = (hub.find(*FLUX[key]) or {})["metadata"]["labels"]
        assert labels.get("sharding.fluxcd.io/key", "") == shard
