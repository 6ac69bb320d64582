"""Order across kinds, with the real controllers: a run waits where Flux knows no order."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.clusters import Cluster
from tests.e2e.project import Project

pytestmark = pytest.mark.e2e

CHART = "source: charts, chart: movy-web, version: 1.x, timeout: 20s, values: {host: a.example.com, replicas: 1}"
APPS = f"""
      cache:
        clusters: {{names: [hub-dev]}}
        helm: {{{CHART}}}
      late:
        kustomize: {{source: manifests, path: ./db, namePrefix: late-}}
        dependsOn: [cache]
        overrides:
          - {{when: {{clusters: {{names: [edge-1]}}}}, dependsOn: [platform/cert-controller]}}
"""
BROKEN = APPS.replace("version: 1.x", "version: 9.x").replace("timeout: 20s", "timeout: 1s")
SOURCE = '      charts: {helm: {url: "{charts}"}}\n    apps:\n      db:\n'
ADDON = """\
    extra:
      clusters: {names: [hub-dev, edge-1]}
      source: {git: {url: "{git}/movy/manifests.git", ref: {branch: main}}}
      kustomize: {path: ./worker, targetNamespace: extra}
      namespaces:
        extra:
          podSecurity: baseline
          labels: {team: platform}
          objects: {ca: {apiVersion: v1, kind: ConfigMap, data: {where: "{cluster}"}}}
"""


@pytest.fixture
def mended(fleet: Project, original: str) -> Iterator[Project]:
    """The project, whose file and clusters are as they were when the test is over."""
    yield fleet
    fleet.fleet.write_text(original)
    deletions = ("config", "set", "--stack", "dev", "tenantry:maxDeletions")
    fleet.pulumi(*deletions, "5").ok()
    fleet.up().ok()
    fleet.pulumi("config", "rm", *deletions[2:]).ok()


def test_a_broken_release_holds_back_what_depends_on_it_until_it_is_put_right_and_add_ons_get_their_namespaces(
    mended: Project, hub: Cluster, edge: Cluster, original: str
) -> None:
    mended.fleet.write_text(_with(original, BROKEN))
    failed = mended.up()
    assert failed.code != 0
    assert "failed: waits for rocky/cache on hub-dev: HelmChart rocky/" in failed.text
    assert "rocky/late on hub-dev" in failed.text
    assert hub.find("Kustomization", "rocky", "late") is None

    mended.fleet.write_text(_with(original, APPS).replace("  addons:\n", f"  addons:\n{ADDON}"))
    mended.up("dev", "--refresh").ok()
    for namespace, first, second in (
        ("rocky", "cache", "late"),
        ("kamaji-edge", "edge-1-cert-controller", "edge-1-rocky-late"),
    ):
        late = hub.find("Kustomization", namespace, second)
        assert late is not None
        assert _ready_since(hub, namespace, first) <= late["metadata"]["creationTimestamp"]
    for cluster, name in ((hub, "hub-dev"), (edge, "edge-1")):
        extra = cluster.get("", "v1", "Namespace", "namespaces", "extra")
        assert extra is not None
        expected = {"team": "platform", "pod-security.kubernetes.io/enforce": "baseline", "tenantry/app": "extra"}
        assert extra["metadata"]["labels"].items() >= expected.items()
        ca = cluster.find("ConfigMap", "extra", "ca")
        assert ca is not None
        assert ca["data"] == {"where": name}
    hub.wait_ready("Kustomization", "tenantry-system", "extra")
    hub.wait_ready("Kustomization", "kamaji-edge", "edge-1-extra")
    mended.up("dev", "--expect-no-changes").ok()


def _ready_since(hub: Cluster, namespace: str, name: str) -> str:
    release = hub.find("HelmRelease", namespace, name)
    assert release is not None
    (ready,) = (each for each in release["status"]["conditions"] if each["type"] == "Ready")
    assert ready["status"] == "True"
    return str(ready["lastTransitionTime"])


def _with(original: str, apps: str) -> str:
    """The fleet with a release and a Kustomization in tenant rocky, the one after the other."""
    found = "    apps:\n      db:\n"
    assert original.count(found) == 1
    return original.replace(found, SOURCE.replace("      db:\n", apps.lstrip("\n") + "      db:\n"))
