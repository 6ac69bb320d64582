"""Preparing and checking clusters, with real ones; the fleet is left as it was found."""

from __future__ import annotations

import base64
import json
import subprocess
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
from lightkube.resources.core_v1 import Namespace, Secret, ServiceAccount
from lightkube.resources.rbac_authorization_v1 import ClusterRoleBinding
from lightkube.types import PatchType

from tests.e2e import rights
from tests.e2e.clusters import Cluster, eventually
from tests.e2e.project import Project

pytestmark = pytest.mark.e2e

SECRET, NAMESPACE, KEY = "edge-1-admin-kubeconfig", "kamaji-edge", "admin.conf"
BINDING = ("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings")


@pytest.fixture(scope="module", autouse=True)
def _administrator(sandbox: Project) -> Iterator[None]:
    """Who prepares and registers clusters may do everything there."""
    with rights.as_administrator(sandbox.root):
        yield


def check(project: Project) -> tuple[int, list[tuple[str, str]]]:
    result = project.tenantry("preflight", "--cluster", "edge-1", "--output", "json")
    problems = json.loads(result.out)["problems"]
    return result.code, [(problem["severity"], problem["code"]) for problem in problems]


def test_the_sandbox_s_kubeconfig_is_fine_but_for_being_on_this_machine(sandbox: Project) -> None:
    assert (0, [("warning", "loopback")]) == check(sandbox)


def test_the_management_cluster_is_the_one_that_the_stack_names(sandbox: Project) -> None:
    edge = str(sandbox.kubeconfig("edge-1"))
    result = sandbox.tenantry("preflight", "--cluster", "edge-1", "--kubeconfig", edge)
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
        shown = sandbox.tenantry("preflight", "--cluster", "edge-1").text
    assert (1, [("error", "file-reference"), ("error", "exec-plugin"), ("warning", "loopback")]) == found
    assert secret not in shown
    assert "/etc/kubernetes" not in shown
    assert (0, [("warning", "loopback")]) == check(sandbox)


def test_a_remote_that_answers_says_when_and_one_that_does_not_fails(sandbox: Project) -> None:
    document = json.loads(sandbox.tenantry("preflight", "--cluster", "edge-1", "--output", "json").ok().out)
    assert (document["answered"]["version"].startswith("v1."), document["answered"]["milliseconds"] >= 0) == (
        True,
        True,
    )
    assert "the user's certificate" in document["expires"]
    kubeconfig = yaml.safe_load(sandbox.kubeconfig("edge-1").read_text())
    kubeconfig["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    with replaced(sandbox, yaml.safe_dump(kubeconfig)):
        assert check(sandbox) == (1, [("error", "unreachable"), ("warning", "loopback")])
        assert sandbox.tenantry("preflight", "--cluster", "edge-1", "--offline").code == 0
    found = sandbox.tenantry("preflight", "--cluster", "hub-dev", "--output", "json")
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
    command = ["bootstrap", cluster, "--kubeconfig", str(sandbox.kubeconfig(cluster))]
    for _ in range(2):
        lines = sandbox.tenantry(*command).ok().out.splitlines()
        assert ["unchanged"] * len(lines) == [line.rpartition(": ")[2] for line in lines]
        assert len(lines) >= 2


def test_bootstrap_of_all_clusters_mends_what_is_amiss_and_has_nothing_to_do_then(
    sandbox: Project, edge: Cluster
) -> None:
    command = ("bootstrap", "--all", "--environment", "dev")
    nothing = "hub-dev: nothing to do\nedge-1: nothing to do\ndev: 2 clusters, 0 changed, 0 not prepared\n"
    assert sandbox.tenantry(*command).ok().out == nothing
    edge.client.delete(ClusterRoleBinding, "tenantry-platform-kamaji-edge")
    would = sandbox.tenantry(*command, "--dry-run").ok().out
    assert "edge-1: 1 would be created\n" in would
    assert "edge-1: 1 created\n" in sandbox.tenantry(*command).ok().out
    kubeconfig = yaml.safe_load(sandbox.kubeconfig("edge-1").read_text())
    kubeconfig["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    with replaced(sandbox, yaml.safe_dump(kubeconfig)):
        result = sandbox.tenantry(*command)
    assert (result.code, "edge-1: not prepared: it refuses the connection\n" in result.out) == (1, True)
    assert sandbox.tenantry(*command).ok().out == nothing


def test_bootstrap_makes_what_is_not_there_and_a_dry_run_only_says_so(sandbox: Project) -> None:
    text = sandbox.fleet.read_text()
    command = ["bootstrap", "edge-1", "--kubeconfig", str(sandbox.kubeconfig("edge-1"))]
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


# --- register -----------------------------------------------------------------------------------------------------

EDGE = """\
  edge-1:
    environments: [dev]
    labels: {tier: edge, region: eu-west}
    variables: {domain: edge-1.dev.example.com}
    kubeconfig: {kamaji: {controlPlane: edge-1, namespace: kamaji-edge}}
"""
GROUP = """\
clusterGroups:
  edges:  # of the registered clusters
    environments: [dev]
    labels: {tier: edge, region: eu-west}
    variables: {domain: edge-1.dev.example.com}
"""
REGISTERED = ("Secret", "clusters", "edge-1-kubeconfig")


@pytest.fixture(scope="module")
def grouped(sandbox: Project) -> Iterator[Project]:
    """The sandbox before the first `up`, and a file that does not declare edge-1; in the end both are as they were."""
    text = sandbox.fleet.read_text()
    sandbox.edit(EDGE, "")
    sandbox.edit("clusters:\n  hub-dev:", f"{GROUP}clusters:\n  hub-dev:")
    yield sandbox
    sandbox.fleet.write_text(text)


def test_a_registered_cluster_is_reached_with_a_token_and_with_every_later_one(
    grouped: Project, tmp_path: Path
) -> None:
    admin = grouped.kubeconfig("edge-1")
    context = yaml.safe_load(admin.read_text())["current-context"]
    place = ("--kubeconfig", str(admin), "--context", context)
    register = ("cluster", "register", "edge-1", *place)
    with closing(Cluster(grouped.kubeconfig("hub-dev"))) as hub, closing(Cluster(admin)) as edge:

        def token() -> str:
            found = hub.find(*REGISTERED)
            assert found is not None
            content = yaml.safe_load(base64.b64decode(found["data"]["value"]))
            return str(content["users"][0]["user"]["token"])

        group = ("--group", "edges", "--namespace", "clusters")
        before = grouped.fleet.read_text()
        grouped.tenantry(*register, *group, "--dry-run").ok()
        assert (grouped.fleet.read_text(), hub.find(*REGISTERED)) == (before, None)
        shown = grouped.tenantry(*register, *group).ok().text
        assert "Secret clusters/edge-1-kubeconfig: written, valid until 20" in shown
        secret = {"name": "edge-1-kubeconfig", "namespace": "clusters", "key": "value"}
        entry = yaml.safe_load(grouped.fleet.read_text())["clusters"]["edge-1"]
        assert entry == {"group": "edges", "kubeconfig": {"secret": secret}}
        assert "edges:  # of the registered clusters" in grouped.fleet.read_text()
        grouped.deploy("dev")
        try:
            seen = {token()}
            assert not any(each in shown for each in seen)
            assert grouped.tenantry("preflight", "--cluster", "edge-1").code == 0
            renewed = grouped.tenantry("cluster", "register", "--all", "--renew", "-e", "dev", "--valid", "48h").ok()
            assert renewed.out.startswith("edge-1: renewed, valid until 20")
            seen.add(token())
            cronjob = grouped.tenantry("cluster", "register", "--all", "--cronjob", "kubectl", "-e", "dev").ok().out
            renewed_by_cronjob(grouped, cronjob, tmp_path)
            seen.add(token())
            assert len(seen) == 3
            reconciled(hub)
            # Without its account no earlier token is accepted, and what bootstrap made lets the command go on.
            edge.client.delete(ServiceAccount, "tenantry-connection", namespace="tenantry-system")
            eventually(
                lambda: grouped.tenantry("preflight", "--cluster", "edge-1").code == 1, "the token to be refused"
            )
            lost = grouped.tenantry("cluster", "register", "edge-1", "--renew")
            assert (lost.code, lost.out) == (
                1,
                "edge-1: not renewed: its token is not valid any more, or may not be renewed\n"
                "  fix: tenantry cluster register edge-1 --kubeconfig FILE --context NAME\n",
            )
            grouped.tenantry(*register).ok()
            reconciled(hub)
            assert "edge-1: nothing to do" in grouped.tenantry("bootstrap", "--all", "-e", "dev").ok().out
            exported_by_another_stack(grouped, hub, tmp_path / "clusters")
        finally:
            grouped.offboard("dev").ok()
            if hub.find(*REGISTERED):
                hub.delete(*REGISTERED)


def reconciled(hub: Cluster) -> None:
    """Have Flux apply an app on the remote cluster once more."""
    app = ("Kustomization", "clusters", "edge-1-rocky-web")
    hub.reconcile(*app)
    found = hub.find(*app)
    assert found is not None
    asked = found["metadata"]["annotations"]["reconcile.fluxcd.io/requestedAt"]
    hub.until(*app, lambda now: now["status"].get("lastHandledReconcileAt") == asked, f"{app} to be applied again")
    hub.wait_ready(*app)


EXPORTER = """\
import pathlib, pulumi
pulumi.export("kubeconfig", pulumi.Output.secret(pathlib.Path("kubeconfig").read_text()))
"""


def exported_by_another_stack(project: Project, hub: Cluster, root: Path) -> None:
    """Have the kubeconfig come from a stack, which a run stores once the Secret of another writer is out of the way."""
    origin = "{stack: organization/clusters/edge-1, output: kubeconfig}"
    project.tenantry("set", "clusters.edge-1.kubeconfig.secret.from", origin).ok()
    root.mkdir()
    (root / ".venv").symlink_to(project.root / ".venv")
    (root / "Pulumi.yaml").write_text(
        "name: clusters\nruntime: {name: python, options: {toolchain: pip, virtualenv: .venv}}\n"
    )
    (root / "__main__.py").write_text(EXPORTER)
    kubeconfig = project.kubeconfig("edge-1").read_text()
    (root / "kubeconfig").write_text(kubeconfig)
    stack = ("--cwd", str(root), "--stack", "edge-1")
    project.pulumi("stack", "init", *stack).ok()
    project.pulumi("up", *stack, "--yes", "--skip-preview").ok()
    before = hub.find(*REGISTERED)
    refused = "Secret clusters/edge-1-kubeconfig exists already on 'hub-dev' outside of environment 'dev'"
    assert refused in project.up().text
    assert hub.find(*REGISTERED) == before
    hub.patch(*REGISTERED, {"metadata": {"labels": {"tenantry/environment": "dev"}}})
    assert project.preview() == {"Secret clusters/edge-1-kubeconfig": "create"}
    shown = project.up().ok().text
    found = hub.find(*REGISTERED)
    assert found is not None
    assert base64.b64decode(found["data"]["value"]).decode() == kubeconfig
    key = yaml.safe_load(kubeconfig)["users"][0]["user"]["client-key-data"]
    state = project.pulumi("stack", "export", "--stack", "dev").ok().out
    assert not any(secret in text for secret in (key, found["data"]["value"]) for text in (shown, state))
    reconciled(hub)
    assert project.preview() == {}


def renewed_by_cronjob(project: Project, printed: str, directory: Path) -> None:
    """Do what the job would do, with the rights of its account alone."""
    *objects, cronjob = yaml.safe_load_all(printed)
    applied = directory / "rights.yaml"
    applied.write_text(yaml.safe_dump_all(objects))
    kubectl = ("sandbox", "run", "--", "kubectl")
    project.tenantry(*kubectl, "apply", "--filename", str(applied)).ok()
    create = ("create", "token", "tenantry-renewal", "--namespace", "tenantry-system")
    token = project.tenantry(*kubectl, *create).ok().out.strip()
    content = yaml.safe_load(project.kubeconfig("hub-dev").read_text())
    content["users"][0]["user"] = {"token": token}
    kubeconfig = directory / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(content))
    (container,) = cronjob["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    environment = {each["name"]: each["value"] for each in container["env"]} | {"HOME": str(directory)}
    done = subprocess.run(
        [*container["command"], *container["args"]],
        env={**project.environment(), **environment, "KUBECONFIG": str(kubeconfig)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
