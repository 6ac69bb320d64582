"""Preparing and checking clusters, with real ones; the fleet is left as it was found."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import closing

import pytest
import yaml
from lightkube.core.exceptions import ApiError
from lightkube.resources.core_v1 import Namespace, ServiceAccount
from lightkube.resources.rbac_authorization_v1 import ClusterRoleBinding

from tests.e2e import rights
from tests.e2e.clusters import Cluster, eventually
from tests.e2e.connecting import Connector
from tests.e2e.project import Project

pytestmark = pytest.mark.e2e

BINDING = ("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings")


@pytest.fixture(scope="module", autouse=True)
def _administrator(sandbox: Project) -> Iterator[None]:
    """Who prepares and connects clusters may do everything there."""
    with rights.as_administrator(sandbox.root):
        yield


def test_the_sandbox_s_kubeconfig_is_fine(sandbox: Project) -> None:
    found = sandbox.tenantry("preflight", "-e", "dev", "--cluster", "edge-1", "--output", "json").ok()
    assert json.loads(found.out)["problems"] == []


@pytest.mark.parametrize("cluster", ["edge-1", "hub-dev"])
def test_bootstrap_of_a_cluster_that_has_it_all_changes_nothing(sandbox: Project, cluster: str) -> None:
    command = ["bootstrap", cluster, "--kubeconfig", str(sandbox.kubeconfig(cluster))]
    for _ in range(2):
        lines = sandbox.tenantry(*command).ok().out.splitlines()
        assert ["unchanged"] * len(lines) == [line.rpartition(": ")[2] for line in lines]
        assert len(lines) >= 2


def test_bootstrap_makes_what_is_not_there(sandbox: Project) -> None:
    text = sandbox.fleet.read_text()
    command = ["bootstrap", "edge-1", "--kubeconfig", str(sandbox.kubeconfig("edge-1"))]
    with closing(Cluster(sandbox.kubeconfig("edge-1"))) as edge:
        try:
            sandbox.edit("platform:\n", "platform:\n  namespace: ops\n")
            sandbox.edit("kamaji-edge}}", "kamaji-edge}}\n    platformServiceAccount: boss")
            made = sandbox.tenantry(*command).ok().out
            assert made.startswith(
                "Namespace ops: created\nClusterRoleBinding boss-kamaji-edge: created\nConfigMap ops/tenantry: created\n"
                "ValidatingAdmissionPolicy tenantry-"
            )
            # These do not depend on the names that were changed.
            policies = [line.rpartition(": ")[2] for line in made.splitlines() if "Admission" in line]
            assert policies == ["unchanged"] * 6
            assert edge.get(*BINDING, "boss-kamaji-edge") is not None
        finally:
            sandbox.fleet.write_text(text)
            remove(edge)


def remove(edge: Cluster) -> None:
    for kind, name in ((ClusterRoleBinding, "boss-kamaji-edge"), (Namespace, "ops")):
        try:
            edge.client.delete(kind, name)
        except ApiError as error:
            if error.status.code != 404:
                raise


# --- connect: the steps of the page -----------------------------------------------------------------------------------

EDGE = """\
  edge-1:
    environments: [dev]
    labels: {tier: edge, region: eu-west}
    variables: {domain: edge-1.dev.example.com}
    kubeconfig: {kamaji: {controlPlane: edge-1, namespace: kamaji-edge}}
"""
TEMPLATES = """\
templates:
  clusters:
    edges:  # of the connected clusters
      environments: [dev]
      labels: {tier: edge, region: eu-west}
      variables: {domain: edge-1.dev.example.com}
"""
STORED = ("Secret", "clusters", "edge-1-kubeconfig")
APP = ("Kustomization", "clusters", "edge-1-rocky-web")


@pytest.fixture(scope="module")
def grouped(sandbox: Project) -> Iterator[Project]:
    """The sandbox before the first `up`, and a file that does not declare edge-1; in the end both are as they were."""
    text = sandbox.fleet.read_text()
    sandbox.edit(EDGE, "")
    sandbox.edit("clusters:\n  hub-dev:", f"{TEMPLATES}clusters:\n  hub-dev:")
    yield sandbox
    sandbox.fleet.write_text(text)


def test_a_cluster_that_the_page_connects_is_reached_with_a_token_and_with_every_later_one(
    grouped: Project,
) -> None:
    reader = Connector(grouped, grouped.kubeconfig("hub-dev"))
    own = grouped.kubeconfig("edge-1")
    with closing(Cluster(grouped.kubeconfig("hub-dev"))) as hub, closing(Cluster(own)) as edge:

        def token() -> str:
            found = hub.find(*STORED)
            assert found is not None
            content = yaml.safe_load(base64.b64decode(found["data"]["value"]))
            return str(content["users"][0]["user"]["token"])

        def checked() -> int:
            return grouped.tenantry("preflight", "-e", "dev", "--cluster", "edge-1").code

        try:
            reader.admin.write_text(own.read_text())
            shown = reader.do(reader.declare) + reader.do(reader.account) + reader.do(reader.store)
            reader.do(reader.see, 1)
            assert "edges:  # of the connected clusters" in grouped.fleet.read_text()
            grouped.deploy("dev")
            seen = {token()}
            reader.do(reader.read)
            shown += reader.do(reader.store)
            seen.add(token())
            assert len(seen) == 2
            assert not any(each in shown for each in seen)
            assert (checked(), (grouped.root / "token.kubeconfig").exists()) == (0, False)
            hub.reconciled(*APP)
            # Without its account no earlier token is accepted, and the same steps make a new one.
            edge.client.delete(ServiceAccount, "tenantry-connection", namespace="tenantry-system")
            eventually(lambda: checked() == 1, "the token to be refused")
            reader.connect()
            hub.reconciled(*APP)
        finally:
            reader.admin.unlink(missing_ok=True)
            grouped.offboard("dev").ok()
            if hub.find(*STORED):
                hub.delete(*STORED)
