"""Preparing and checking clusters, with real ones; the fleet is left as it was found."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
import yaml
from lightkube.core.exceptions import ApiError
from lightkube.resources.core_v1 import Namespace, Secret, ServiceAccount
from lightkube.resources.rbac_authorization_v1 import ClusterRoleBinding
from lightkube.types import PatchType

from tests.e2e import rights
from tests.e2e.clusters import Cluster, eventually
from tests.e2e.connecting import Connector
from tests.e2e.project import Project

pytestmark = pytest.mark.e2e

SECRET, NAMESPACE, KEY = "edge-1-admin-kubeconfig", "kamaji-edge", "admin.conf"
BINDING = ("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings")


@pytest.fixture(scope="module", autouse=True)
def _administrator(sandbox: Project) -> Iterator[None]:
    """Who prepares and connects clusters may do everything there."""
    with rights.as_administrator(sandbox.root):
        yield


def check(project: Project) -> tuple[int, list[tuple[str, str]]]:
    result = project.tenantry("preflight", "-e", "dev", "--cluster", "edge-1", "--output", "json")
    problems = json.loads(result.out)["problems"]
    return result.code, [(problem["severity"], problem["code"]) for problem in problems]


def test_the_sandbox_s_kubeconfig_is_fine(sandbox: Project) -> None:
    assert (0, []) == check(sandbox)


def test_the_management_cluster_is_the_one_that_the_stack_names(sandbox: Project) -> None:
    edge = str(sandbox.kubeconfig("edge-1"))
    result = sandbox.tenantry("preflight", "dev", "--cluster", "edge-1", "--kubeconfig", edge)
    assert (1, "error[no-secret]: there is no Secret kamaji-edge/edge-1-admin-kubeconfig") == (
        result.code,
        result.out.splitlines()[0],
    )


def test_what_flux_would_refuse_is_told_without_what_the_secret_holds(sandbox: Project) -> None:
    kubeconfig = yaml.safe_load(sandbox.kubeconfig("edge-1").read_text())
    secret = kubeconfig["users"][0]["user"].pop("client-key-data")
    kubeconfig["users"][0]["user"] |= {"client-key": "/etc/kubernetes/key", "exec": {"command": "aws"}}
    with replaced(sandbox, yaml.safe_dump(kubeconfig)):
        found = check(sandbox)
        shown = sandbox.tenantry("preflight", "dev", "--cluster", "edge-1").text
    assert (1, [("error", "not-taken")]) == found
    assert secret not in shown
    assert "/etc/kubernetes" not in shown
    assert (0, []) == check(sandbox)


def test_a_remote_that_does_not_answer_fails(sandbox: Project) -> None:
    kubeconfig = yaml.safe_load(sandbox.kubeconfig("edge-1").read_text())
    kubeconfig["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    with replaced(sandbox, yaml.safe_dump(kubeconfig)):
        assert check(sandbox) == (1, [("error", "unreachable")])
    found = sandbox.tenantry("preflight", "dev", "--cluster", "hub-dev", "--output", "json")
    assert (found.code, [each["code"] for each in json.loads(found.out)["problems"]]) == (0, ["no-controllers"])


@contextmanager
def replaced(project: Project, kubeconfig: str) -> Iterator[None]:
    """Another kubeconfig in the Secret, for a while in which nothing on the cluster has to change."""
    with closing(Cluster(project.kubeconfig("hub-dev"))) as hub:
        found: Any = hub.client.get(Secret, SECRET, namespace=NAMESPACE).data
        before = found[KEY]
        _write(hub, base64.b64encode(kubeconfig.encode()).decode())
        try:
            yield
        finally:
            _write(hub, before)


def _write(hub: Cluster, content: str) -> None:
    hub.client.patch(Secret, SECRET, {"data": {KEY: content}}, namespace=NAMESPACE, patch_type=PatchType.MERGE)


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
