"""What `tenantry preflight` says of real clusters before anything is deployed, and a fleet made by hand that is taken over.

What a test breaks for a while, it mends.
"""

from __future__ import annotations

import base64
import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from lightkube.models.authentication_v1 import TokenRequestSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.core_v1 import ServiceAccountToken
from lightkube.types import PatchType

from tests.e2e.clusters import Cluster, cluster_of
from tests.e2e.project import Project, Result

pytestmark = pytest.mark.e2e

ALWAYS = ("no-controllers",)
"""In a sandbox the controllers are processes, and the remote is on the same machine."""


@pytest.fixture(scope="module")
def project(bare: Project) -> Project:
    if not bare.is_up:  # the sandboxes of the tests before may have ended
        bare.start("dev")
    return bare


hub = cluster_of("project", "hub-dev")
edge = cluster_of("project", "edge-1")


def preflight(project: Project, *options: str) -> Result:
    return project.tenantry("preflight", "--environment", "dev", *options)


def told(project: Project, code: int) -> dict[str, Any]:
    """The whole report, of a preflight that ends with an exit code."""
    result = preflight(project, "--output", "json")
    assert result.code == code, result.text
    (report,) = json.loads(result.out)["environments"]
    assert report["fit"] == (code == 0)
    return dict(report)


def problems(project: Project, code: int) -> dict[str, str]:
    """Code -> message of what there is to say beyond what it says of every sandbox."""
    found = told(project, code)["problems"]
    return {each["code"]: each["message"] for each in found if each["code"] not in ALWAYS}


def test_a_fresh_sandbox_is_fit_for_the_fleet(project: Project) -> None:
    assert problems(project, 0) == {}
    assert preflight(project).ok().out.endswith("dev: 32 objects for hub-dev: 1 warning\n")


def test_controllers_without_the_flags_of_the_lockdown_are_named(project: Project, hub: Cluster) -> None:
    gate, names = (
        "--feature-gates=ObjectLevelWorkloadIdentity=true",
        ("service", "kubeconfig-service", "decryption-service"),
    )
    locked = ["--no-cross-namespace-refs=true", gate, *(f"--default-{each}-account=default" for each in names)]
    made = {"helm-controller": locked, "kustomize-controller": locked}
    for name, flags in made.items():
        hub.create(_controller(name, flags))
    found = told(project, 0)["problems"]
    for name in made:
        hub.delete("Deployment", "flux-system", name)
    (unlocked,) = (each for each in found if each["code"] == "no-lockdown")
    assert "no-controllers" not in {each["code"] for each in found}
    assert unlocked["message"].startswith(
        "kustomize-controller (Deployment flux-system/kustomize-controller) runs without --no-remote-bases=true: "
    )
    assert "value: --no-remote-bases=true}" in unlocked["fix"]


def _controller(name: str, flags: list[str]) -> dict[str, Any]:
    labels = {"app": name}
    container = {"name": "manager", "image": f"ghcr.io/fluxcd/{name}:v1.9.5", "args": ["--log-level=info", *flags]}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    metadata = {"name": name, "namespace": "flux-system", "labels": {"app.kubernetes.io/part-of": "flux"}}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def test_a_field_that_flux_lacks_is_what_the_dry_run_names(project: Project, hub: Cluster) -> None:
    name = "kustomizations.kustomize.toolkit.fluxcd.io"
    known = hub.client.get(CustomResourceDefinition, name).to_dict()["spec"]["versions"]
    (index,) = (number for number, each in enumerate(known) if each["name"] == "v1")
    field = known[index]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["retryInterval"]
    at = f"/spec/versions/{index}/schema/openAPIV3Schema/properties/spec/properties/retryInterval"
    hub.client.patch(CustomResourceDefinition, name, [{"op": "remove", "path": at}], patch_type=PatchType.JSON)
    result = preflight(project, "--output", "json")
    again = [{"op": "add", "path": at, "value": field}]
    hub.client.patch(CustomResourceDefinition, name, again, patch_type=PatchType.JSON)
    (report,) = json.loads(result.out)["environments"]
    refused = [each["message"] for each in report["problems"] if each["code"] == "not-changeable"]
    assert result.code == 1
    assert refused
    for message in refused:
        assert message.startswith("the API server refuses Kustomization kamaji-edge/edge-1-")
        assert ".spec.retryInterval: field not declared in schema" in message


def test_a_cluster_that_was_not_bootstrapped_is_told_with_what_else_is_wrong(project: Project, hub: Cluster) -> None:
    hub.delete("ConfigMap", "tenantry-system", "tenantry")
    with without_kubeconfig(hub):
        found = problems(project, 1)
    assert "is not marked as 'hub-dev'" in found["unmarked-cluster"]
    assert found["no-secret"] == "cluster 'edge-1': there is no Secret kamaji-edge/edge-1-admin-kubeconfig"
    assert set(found) == {"unmarked-cluster", "no-secret"}
    kubeconfig = str(project.kubeconfig("hub-dev"))
    project.tenantry("bootstrap", "hub-dev", "--kubeconfig", kubeconfig).ok()


SECRET = ("Secret", "kamaji-edge", "edge-1-admin-kubeconfig")


@contextmanager
def without_kubeconfig(hub: Cluster) -> Iterator[None]:
    """The Secret of the remote's kubeconfig is gone for a while."""
    secret = hub.find(*SECRET)
    assert secret is not None
    hub.delete(*SECRET)
    try:
        yield
    finally:
        kept = {key: secret["metadata"][key] for key in ("name", "namespace", "labels")}
        hub.create({**secret, "apiVersion": "v1", "kind": "Secret", "metadata": kept})


def test_a_kubeconfig_that_may_not_impersonate_is_told(project: Project, hub: Cluster, edge: Cluster) -> None:
    administrator = project.kubeconfig("edge-1")
    metadata = {"name": "nobody", "namespace": "tenantry-system"}
    edge.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    request = ServiceAccountToken(metadata=ObjectMeta(), spec=TokenRequestSpec(audiences=[], expirationSeconds=3600))
    answer = edge.client.create(request, "nobody", namespace="tenantry-system")
    assert answer.status is not None
    _write_kubeconfig(hub, _as_token(administrator, answer.status.token))
    found = problems(project, 1)
    _write_kubeconfig(hub, administrator.read_bytes())
    edge.delete("ServiceAccount", "tenantry-system", "nobody")
    assert found == {
        "no-impersonation": "cluster 'edge-1': its kubeconfig may not impersonate tenantry-platform, rocky, movy"
        " of namespace 'kamaji-edge', which Flux acts as there"
    }
    assert problems(project, 0) == {}


def _as_token(administrator: Path, token: str) -> bytes:
    content = yaml.safe_load(administrator.read_text())
    return yaml.safe_dump(
        {**content, "users": [{"name": content["users"][0]["name"], "user": {"token": token}}]}
    ).encode()


def _write_kubeconfig(hub: Cluster, content: bytes) -> None:
    hub.patch(*SECRET, {"data": {"admin.conf": base64.b64encode(content).decode()}})


def context(project: Project, cluster: str) -> dict[str, str]:
    """What stands for the words in capitals of a fix."""
    file = project.kubeconfig(cluster)
    return {"FILE": str(file), "NAME": yaml.safe_load(file.read_text())["current-context"]}


def follow(project: Project, fix: str, cluster: str) -> Result:
    """Run a command of Tenantry's that a fix prints, as it is printed."""
    words = context(project, cluster)
    program, *arguments = [words.get(each, each) for each in shlex.split(fix)]
    assert program == "tenantry"
    return project.tenantry(*arguments)


def test_the_fix_for_policies_of_another_platform_works_as_printed(project: Project) -> None:
    text = project.fleet.read_text()
    platform = "platform:\n"
    for edited in (text.replace(platform, f"{platform}  sharedIdentity: true\n"), text):
        project.fleet.write_text(edited)
        (fix,) = (each["fix"] for each in told(project, 0)["problems"] if each["code"] == "other-policy")
        follow(project, fix, "hub-dev").ok()
        assert "other-policy" not in problems(project, 0)


def test_a_kubeconfig_that_reaches_another_cluster_is_refused_until_the_marker_says_otherwise(
    project: Project, edge: Cluster
) -> None:
    marker = ("ConfigMap", "tenantry-system", "tenantry")
    edge.patch(*marker, {"data": {"cluster": "edge-9"}})
    (found,) = (each for each in told(project, 1)["problems"] if each["severity"] == "error")
    assert found["code"] == "other-cluster"
    assert found["message"] == (
        "cluster 'edge-1': its kubeconfig reaches another cluster, which is marked as 'edge-9' (ConfigMap"
        " tenantry-system/tenantry)"
    )
    refused = project.tenantry("bootstrap", "edge-1", "--kubeconfig", str(project.kubeconfig("edge-1")))
    assert refused.code == 2
    assert "error: this cluster is marked as 'edge-9', not as 'edge-1'" in refused.text
    words = shlex.split(found["fix"].partition("in the file: ")[2])
    assert words[:5] == ["kubectl", "patch", "configmap", "tenantry", "--namespace"]
    edge.patch(*marker, json.loads(words[-1]))
    assert problems(project, 0) == {}
    project.tenantry("bootstrap", "edge-1", "--kubeconfig", str(project.kubeconfig("edge-1"))).ok()


# --- a tenant that was made by hand ---------------------------------------------------------------------------------

LABELS = {"toolkit.fluxcd.io/tenant": "rocky"}
RBAC = "rbac.authorization.k8s.io"


def by_hand() -> list[tuple[str, dict[str, Any]]]:
    """What `flux create tenant rocky --with-namespace=rocky` makes, and the source and the app of such a tenant."""
    subjects = [
        {"apiGroup": RBAC, "kind": "User", "name": "gotk:rocky:reconciler"},
        {"kind": "ServiceAccount", "name": "rocky", "namespace": "rocky"},
    ]
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"}
    url = "http://sandbox.test/git/rocky/manifests.git"
    source = {"interval": "1m", "url": url, "ref": {"branch": "main"}}
    app = {
        "interval": "1m",
        "path": "./db",
        "prune": True,
        "serviceAccountName": "rocky",
        "targetNamespace": "rocky",
        "sourceRef": {"kind": "GitRepository", "name": "manifests"},
    }
    return [
        ("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rocky", "labels": LABELS}}),
        ("serviceaccounts", _rockys("v1", "ServiceAccount", "rocky", labels=LABELS)),
        (
            "rolebindings",
            {
                **_rockys(f"{RBAC}/v1", "RoleBinding", "rocky-reconciler", labels=LABELS),
                "roleRef": role,
                "subjects": subjects,
            },
        ),
        (
            "gitrepositories",
            {**_rockys("source.toolkit.fluxcd.io/v1", "GitRepository", "manifests"), "spec": source},
        ),
        ("kustomizations", {**_rockys("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "db"), "spec": app}),
    ]


def _rockys(api_version: str, kind: str, name: str, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "rocky", **metadata}}


TAKEN = [
    ("", "v1", "Namespace", "namespaces", "rocky", ""),
    ("", "v1", "ServiceAccount", "serviceaccounts", "rocky", "rocky"),
    ("source.toolkit.fluxcd.io", "v1", "GitRepository", "gitrepositories", "manifests", "rocky"),
    ("kustomize.toolkit.fluxcd.io", "v1", "Kustomization", "kustomizations", "db", "rocky"),
]
KEPT = [
    ("apps", "v1", "StatefulSet", "statefulsets", "db", "rocky"),
    (RBAC, "v1", "RoleBinding", "rolebindings", "rocky-reconciler", "rocky"),
]


def uids(hub: Cluster) -> dict[str, str | None]:
    found = {f"{row[2]} {row[4]}": hub.get(*row) for row in (*TAKEN, *KEPT)}
    return {name: each["metadata"]["uid"] if each else None for name, each in found.items()}


@pytest.fixture(scope="module")
def handmade(project: Project, hub: Cluster) -> Project:
    """The project with a tenant on the cluster that was made by hand."""
    for plural, manifest in by_hand():
        hub.apply(plural, manifest)
    hub.until(
        "StatefulSet", "rocky", "db", lambda found: found["status"].get("readyReplicas"), "the tenant's app to run"
    )
    project.make_stack("dev")
    return project


@pytest.fixture(scope="module")
def adopting(handmade: Project) -> Project:
    """The same with a file that says to take the tenant over."""
    handmade.edit("  rocky:\n    sources:\n", "  rocky:\n    adopt: true\n    sources:\n")
    return handmade


@dataclass(frozen=True, slots=True)
class Adopted:
    """before: the uids of what was taken over."""

    project: Project
    before: dict[str, str | None]


@pytest.fixture(scope="module")
def adopted(adopting: Project, hub: Cluster) -> Adopted:
    """The same after the run that takes it over."""
    before = uids(hub)
    adopting.deploy("dev")
    return Adopted(adopting, before)


def test_a_tenant_that_was_made_by_hand_is_refused_object_by_object(handmade: Project, hub: Cluster) -> None:
    project = handmade
    found = problems(project, 4)
    refused = (
        "4 objects exist already on 'hub-dev' outside of environment 'dev': tenant 'rocky' would take them over\n"
        "    Namespace rocky\n    ServiceAccount rocky/rocky\n    GitRepository rocky/manifests\n    Kustomization rocky/db"
    )
    assert found == {"not-the-fleets": refused, "foreign-rights": FORMER}
    before = uids(hub)
    result = project.up()
    assert result.code != 0
    assert [line for line in refused.splitlines() if line.strip() not in result.text] == []
    assert uids(hub) == before
    fleets = hub.fleet_objects()
    assert "Kustomization movy/worker" in fleets, "it costs this tenant alone"
    assert not [each for each in fleets if " rocky/" in each or each == "Namespace rocky"]


FORMER = (
    "1 role binding in namespaces of tenant 'rocky' is not Tenantry's and stays in effect, whatever the tenant's role is\n"
    "    rocky/rocky-reconciler: ClusterRole cluster-admin for User gotk:rocky:reconciler, ServiceAccount rocky/rocky"
)


def test_what_adopting_changes_is_shown_first(adopting: Project, hub: Cluster) -> None:
    project, before, fleets = adopting, uids(hub), hub.fleet_objects()
    report = told(project, 0)
    (adoption,) = report["adoptions"]
    assert [each["id"]["kind"] for each in adoption["taken"]] == [
        "Namespace",
        "ServiceAccount",
        "GitRepository",
        "Kustomization",
    ]
    changes = {tuple(each["path"]): each for each in adoption["taken"][-1]["fields"]}
    assert changes["metadata", "labels"]["after"]["tenantry/app"] == "db"
    assert (changes["spec", "interval"]["before"], changes["spec", "interval"]["after"]) == ("1m", "10m")
    assert {"RoleBinding", "ResourceQuota", "Kustomization"} <= {each["kind"] for each in adoption["made"]}
    text = preflight(project).ok().out
    assert "\ntenant 'rocky' takes over 4 objects, gets " in text
    assert "~ Kustomization rocky/db\n" in text
    assert "~ spec.interval: 1m -> 10m\n" in text
    assert uids(hub) == before
    assert hub.fleet_objects() == fleets, "a preflight changes nothing"


def test_up_takes_it_over_without_a_deletion_or_a_duplicate(adopted: Adopted, hub: Cluster) -> None:
    project = adopted.project
    assert uids(hub) == adopted.before
    ours = {each for each in hub.fleet_objects() if each.startswith("Kustomization rocky/")}
    assert ours == {"Kustomization rocky/db", "Kustomization rocky/web"}
    assert problems(project, 0) == {"foreign-rights": FORMER}
    assert told(project, 0)["adoptions"] == []
    hub.delete("RoleBinding", "rocky", "rocky-reconciler")
    assert problems(project, 0) == {}


def test_destroy_leaves_the_data_of_a_fleet_that_was_taken_over(adopted: Adopted, hub: Cluster, edge: Cluster) -> None:
    adopted.project.destroy().ok()
    assert hub.fleet_objects() | edge.fleet_objects() == set()
    for cluster in (hub, edge):
        cluster.remove_namespaces("rocky", "movy")
