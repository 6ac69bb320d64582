"""Preparing and checking clusters, with real ones; the fleet is left as it was found."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_namespaced_resource
from lightkube.resources.core_v1 import Namespace, Secret
from lightkube.resources.rbac_authorization_v1 import ClusterRoleBinding
from lightkube.types import PatchType

from tests.e2e.clusters import Cluster, eventually
from tests.e2e.project import Project

pytestmark = pytest.mark.e2e

SECRET, NAMESPACE, KEY = "edge-1-admin-kubeconfig", "kamaji-edge", "admin.conf"
BINDING = ("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings")


def check(project: Project) -> tuple[int, list[tuple[str, str]]]:
    result = project.tenantry("cluster", "check", "edge-1", "--output", "json")
    problems = json.loads(result.out)["problems"]
    return result.code, [(problem["severity"], problem["code"]) for problem in problems]


def test_the_sandbox_s_kubeconfig_is_fine_but_for_being_on_this_machine(sandbox: Project) -> None:
    assert (0, [("warning", "loopback")]) == check(sandbox)


def test_the_management_cluster_is_the_one_that_the_stack_names(sandbox: Project) -> None:
    edge = str(sandbox.kubeconfig("edge-1"))
    result = sandbox.tenantry("cluster", "check", "edge-1", "--kubeconfig", edge)
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
        shown = sandbox.tenantry("cluster", "check", "edge-1").text
    assert (1, [("error", "file-reference"), ("error", "exec-plugin"), ("warning", "loopback")]) == found
    assert secret not in shown
    assert "/etc/kubernetes" not in shown
    assert (0, [("warning", "loopback")]) == check(sandbox)


def test_a_remote_that_answers_says_when_and_one_that_does_not_fails(sandbox: Project) -> None:
    document = json.loads(sandbox.tenantry("cluster", "check", "edge-1", "--output", "json").ok().out)
    assert (document["answered"]["version"].startswith("v1."), document["answered"]["milliseconds"] >= 0) == (
        True,
        True,
    )
    assert "the user's certificate" in document["expires"]
    kubeconfig = yaml.safe_load(sandbox.kubeconfig("edge-1").read_text())
    kubeconfig["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    with replaced(sandbox, yaml.safe_dump(kubeconfig)):
        assert check(sandbox) == (1, [("error", "unreachable"), ("warning", "loopback")])
        assert sandbox.tenantry("cluster", "check", "edge-1", "--offline").code == 0
    found = sandbox.tenantry("cluster", "check", "hub-dev", "--output", "json")
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


# --- discover -----------------------------------------------------------------------------------------------------

TOOLS = (
    ("kamaji.clastix.io", "v1alpha1", "TenantControlPlane", "tenantcontrolplanes"),
    ("cluster.x-k8s.io", "v1beta1", "Cluster", "clusters"),
    ("multicluster.x-k8s.io", "v1alpha1", "ClusterProfile", "clusterprofiles"),
)
"""The kinds that stand for clusters, of which a sandbox has none: group, version, kind and plural."""
DEFINITION = ("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions")


def test_discover_writes_what_the_management_cluster_knows_and_marks_what_is_gone(
    sandbox: Project, hub: Cluster, tmp_path: Path
) -> None:
    file, found = tmp_path / "tenants.yaml", tmp_path / "clusters.d" / "discovered.yaml"
    include = 'include: [{clusters: "clusters.d/*.yaml"}]\nenvironments:'
    file.write_text(sandbox.fleet.read_text().replace("environments:", include, 1))
    place = ("--file", str(file), "--kubeconfig", str(sandbox.kubeconfig("hub-dev")))

    def discover(*options: str) -> dict[str, Any]:
        out = sandbox.tenantry("cluster", "discover", "-e", "dev", *place, *options, "--output", "json").ok().out
        assert "certificate" not in out
        told: dict[str, Any] = json.loads(out)
        return told

    assert (discover()["added"], found.exists()) == ({}, False)
    with tools(hub):
        make(hub, "TenantControlPlane", "edge-1", NAMESPACE)
        make(hub, "TenantControlPlane", "edge-2", NAMESPACE)
        make(hub, "Cluster", "us-2", "default")
        make(hub, "ClusterProfile", "member", "default")
        labels = {"x-k8s.io/cluster-profile": "member"}
        metadata = {"name": "member-kubeconfig", "namespace": "default", "labels": labels}
        hub.create(
            {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"Config": "certificate"}}
        )
        try:
            told = discover("--prefix", "new-")
            assert (sorted(told["added"]), told["known"]) == (["new-edge-2", "new-member", "new-us-2"], ["edge-1"])
            assert "certificate" not in found.read_text()
            before = found.read_text()
            assert sandbox.tenantry("cluster", "discover", "-e", "dev", *place, "--check").code == 0
            hub.client.delete(_kind("Cluster"), "us-2", namespace="default")
            assert discover()["gone"] == ["new-us-2"]
        finally:
            hub.delete("Secret", "default", "member-kubeconfig")
    assert found.read_text() == before.replace("  new-us-2:\n", "  new-us-2:\n    state: decommissioned\n")


@contextmanager
def tools(hub: Cluster) -> Iterator[None]:
    """The kinds of the tools that make clusters, without the tools, for a while."""
    for group, version, kind, plural in TOOLS:
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        spec = {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
        }
        definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
        hub.apply("customresourcedefinitions", {**definition, "metadata": {"name": f"{plural}.{group}"}})
    try:
        for _, _, kind, plural in TOOLS:
            eventually(partial(_served, hub, kind), f"{plural} to be served")
        yield
    finally:
        for group, _, _, plural in TOOLS:
            hub.remove(*DEFINITION, f"{plural}.{group}")


def _kind(name: str) -> Any:
    group, version, kind, plural = next(each for each in TOOLS if each[2] == name)
    return create_namespaced_resource(group, version, kind, plural)


def _served(hub: Cluster, kind: str) -> bool:
    """Whether the API server serves a kind that it has just learned of."""
    try:
        list(hub.client.list(_kind(kind), namespace="default"))
    except httpx2.HTTPStatusError as error:
        # Of a group that nothing serves yet, the answer is a text and no Status, so this is no `ApiError`. The second one is
        # the answer while the kind's storage is made.
        if error.response.status_code not in (HTTPStatus.NOT_FOUND, HTTPStatus.TOO_MANY_REQUESTS):
            raise
        return False
    return True


def make(hub: Cluster, kind: str, name: str, namespace: str) -> None:
    hub.client.create(_kind(kind)(metadata={"name": name}), namespace=namespace)


def _write(hub: Cluster, content: str) -> None:
    hub.client.patch(Secret, SECRET, {"data": {KEY: content}}, namespace=NAMESPACE, patch_type=PatchType.MERGE)


@pytest.mark.parametrize("cluster", ["edge-1", "hub-dev"])
def test_bootstrap_of_a_cluster_that_has_it_all_changes_nothing(sandbox: Project, cluster: str) -> None:
    command = ["cluster", "bootstrap", cluster, "--kubeconfig", str(sandbox.kubeconfig(cluster))]
    for _ in range(2):
        lines = sandbox.tenantry(*command).ok().out.splitlines()
        assert ["unchanged"] * len(lines) == [line.rpartition(": ")[2] for line in lines]
        assert len(lines) >= 2


def test_bootstrap_makes_what_is_not_there_and_a_dry_run_only_says_so(sandbox: Project) -> None:
    text = sandbox.fleet.read_text()
    command = ["cluster", "bootstrap", "edge-1", "--kubeconfig", str(sandbox.kubeconfig("edge-1"))]
    with closing(Cluster(sandbox.kubeconfig("edge-1"))) as edge:
        try:
            sandbox.edit("platform:\n", "platform:\n  namespace: ops\n")
            sandbox.edit("kamaji-edge}}", "kamaji-edge}}\n    platformServiceAccount: boss")
            would = sandbox.tenantry(*command, "--dry-run").ok().out
            begins = (
                "Namespace ops: {0}\nClusterRoleBinding boss-kamaji-edge: {0}\nConfigMap ops/tenantry: {0}\n"
                "ValidatingAdmissionPolicy tenantry-"
            )
            assert would.startswith(begins.format("would be created"))
            assert edge.get(*BINDING, "boss-kamaji-edge") is None
            made = sandbox.tenantry(*command).ok().out
            assert made.startswith(begins.format("created"))
            # These do not depend on the names that were changed.
            policies = [line.rpartition(": ")[2] for line in made.splitlines() if "Admission" in line]
            assert policies == ["unchanged"] * 8
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
