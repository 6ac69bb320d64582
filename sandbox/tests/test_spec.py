"""What the sandbox runs for an environment."""

from pathlib import Path

import pytest

from tenantry.fleet.fleet import Fleet
from tenantry.load import load_fleet, plan_one
from tenantry_sandbox.layout import SandboxError
from tenantry_sandbox.spec import SandboxSpec, spec_of

FLEET = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub}}
clusters:
  hub: {environments: [dev]}
  edge: {environments: [dev], kubeconfig: {KUBECONFIG}}
platform: {chart: {git: {url: "http://sandbox.test/git/acme/fleet.git", ref: {branch: main}, path: ./charts/objects}}}
defaults: {clusters: {all: true}}
tenants:
  rocky:
    sources: {manifests: {git: {url: "http://sandbox.test/git/rocky/manifests.git", ref: {branch: main}}}}
    apps: {web: {kustomize: {source: manifests}}}
"""
KAMAJI = "kamaji: {controlPlane: edge, namespace: kamaji}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Of a fleet with content."""
    for path in ("fleet/content/charts/web/Chart.yaml", "fleet/content/charts/no/README"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).touch()
    return tmp_path / "fleet" / "tenants.yaml"


def fleet_of(file: Path, kubeconfig: str = KAMAJI) -> Fleet:
    file.write_text(FLEET.replace("KUBECONFIG", kubeconfig))
    return load_fleet(file)


def spec(file: Path, kubeconfig: str = KAMAJI) -> SandboxSpec:
    fleet = fleet_of(file, kubeconfig)
    return spec_of(fleet, plan_one(fleet, "dev"), file.parent / "content")


def test_it_has_the_clusters_of_the_environment_and_the_charts_of_the_content(file: Path) -> None:
    found = spec(file)
    assert found.clusters == ("hub", "edge")
    (remote,) = found.remotes
    assert (remote.secret.namespace, remote.secret.name, remote.secret.key) == (
        "kamaji",
        "edge-admin-kubeconfig",
        "admin.conf",
    )
    assert found.content == file.parent / "content"
    assert [chart.name for chart in found.charts] == ["objects", "web"]


def test_a_cluster_that_is_reached_by_workload_identity_is_refused(file: Path) -> None:
    with pytest.raises(SandboxError) as refused:
        spec(file, "configMap: {namespace: clusters, name: edge}")
    assert refused.value.message == "cluster 'edge' is reached with workload identity, which the sandbox does not have"
