"""A tenant that was made with the flux command and is applied from a repository by a Kustomization that prunes. It runs on a remote
cluster, too, whose kubeconfig lies beside the platform's apps and beside the tenant's: `tenantry import` reads all from the live
cluster, and the commands of docs/import.md adopt it, back and forth. Nothing may be deleted, and no pod may restart.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import yaml
from lightkube.resources.core_v1 import Pod, Secret

from tests.blocks import blocks
from tests.e2e.audit import deletions
from tests.e2e.clusters import KINDS, Cluster, cluster_of, eventually
from tests.e2e.project import Project
from tests.resident import programs

pytestmark = pytest.mark.e2e

RBAC = "rbac.authorization.k8s.io"
SOURCE, KUSTOMIZE, HELM = (
    f"{group}.toolkit.fluxcd.io/{version}" for group, version in (("source", "v1"), ("kustomize", "v1"), ("helm", "v2"))
)
PLURALS = {kind: plural for _, _, kind, plural in KINDS}
EDGE, KUBECONFIGS = {"name": "edge-1-admin-kubeconfig", "key": "admin.conf"}, "kamaji-edge"
GENERATED = "HelmChart harbour-web"
"""What helm-controller made for `spec.chart`, and removes once the release has a `chartRef`."""


def made(api_version: str, kind: str, name: str, namespace: str = "harbour", **rest: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **rest}


def tenant() -> list[dict[str, Any]]:
    """As `flux create tenant|source|kustomization|helmrelease --export` writes it."""
    labels = {"toolkit.fluxcd.io/tenant": "harbour"}
    subjects = [
        {"apiGroup": RBAC, "kind": "User", "name": "gotk:harbour:reconciler"},
        {"kind": "ServiceAccount", "name": "harbour", "namespace": "harbour"},
    ]
    admin = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"}
    chart = {
        "chart": "movy-web",
        "reconcileStrategy": "ChartVersion",
        "sourceRef": {"kind": "HelmRepository", "name": "charts"},
        "version": "1.x",
    }
    git = {
        "interval": "1m0s",
        "ref": {"branch": "main"},
        "url": "http://sandbox.test/git/rocky/manifests.git",
    }
    app = {
        "interval": "1m0s",
        "path": "./db",
        "prune": True,
        "serviceAccountName": "harbour",
        "sourceRef": {"kind": "GitRepository", "name": "manifests"},
        "targetNamespace": "harbour",
    }
    release = {
        "chart": {"spec": chart},
        "interval": "1m0s",
        "serviceAccountName": "harbour",
        "values": {"host": "harbour.example.com", "replicas": 2},
    }
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "harbour", "labels": labels}},
        made("v1", "ServiceAccount", "harbour"),
        made(f"{RBAC}/v1", "RoleBinding", "harbour-reconciler", roleRef=admin, subjects=subjects),
        made(SOURCE, "GitRepository", "manifests", spec=git),
        made(SOURCE, "HelmRepository", "charts", spec={"interval": "1m0s", "url": "http://sandbox.test/charts"}),
        made(KUSTOMIZE, "Kustomization", "db", spec=app),
        made(KUSTOMIZE, "Kustomization", "edge-1-db", spec={**app, "kubeConfig": {"secretRef": EDGE}}),
        made(HELM, "HelmRelease", "web", spec=release),
    ]


def owner() -> list[tuple[str, dict[str, Any]]]:
    """The Kustomization that applies the tenant from the platform's repository."""
    flux = "flux-system"
    admin = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"}
    subjects = [{"kind": "ServiceAccount", "name": "flux", "namespace": flux}]
    binding = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "flux"}}
    git = {
        "interval": "1m0s",
        "ref": {"branch": "main"},
        "url": "http://sandbox.test/git/platform/fleet.git",
    }
    tenants = {
        "interval": "1m0s",
        "path": "./tenants",
        "prune": True,
        "serviceAccountName": "flux",
        "sourceRef": {"kind": "GitRepository", "name": "fleet"},
    }
    beside = {**tenants, "path": "./edge", "serviceAccountName": "tenantry-platform", "kubeConfig": {"secretRef": EDGE}}
    return [
        ("serviceaccounts", made("v1", "ServiceAccount", "flux", flux)),
        ("clusterrolebindings", {**binding, "roleRef": admin, "subjects": subjects}),
        ("gitrepositories", made(SOURCE, "GitRepository", "fleet", flux, spec=git)),
        ("kustomizations", made(KUSTOMIZE, "Kustomization", "tenants", flux, spec=tenants)),
        ("gitrepositories", made(SOURCE, "GitRepository", "fleet", KUBECONFIGS, spec=git)),
        ("kustomizations", made(KUSTOMIZE, "Kustomization", "edge-1-settings", KUBECONFIGS, spec=beside)),
    ]


hub = cluster_of("bare", "hub-dev")
edge = cluster_of("bare", "edge-1")


@pytest.fixture(scope="module")
def running(bare: Project, hub: Cluster, edge: Cluster) -> Iterator[Project]:
    """The sandbox with the tenant on it, applied by Flux. Whoever connected the remote cluster has made its rights there.

    In the end the clusters have the policies of the sandbox's own file again: those of the imported one name its namespaces.
    """
    files = bare.content / "git" / "platform" / "fleet"
    settings = made("v1", "ConfigMap", "settings", "default", data={"region": "edge"})
    space, account, binding, *_ = there = tenant()
    for path, manifests in (("tenants/harbour.yaml", there), ("edge/settings.yaml", [settings])):
        (files / path).parent.mkdir(parents=True)
        (files / path).write_text(yaml.safe_dump_all(manifests))
    bare.start("dev")
    for plural, manifest in (("namespaces", space), ("serviceaccounts", account), ("rolebindings", binding)):
        edge.apply(plural, manifest)
    hub.apply("namespaces", space)
    kubeconfig = hub.client.get(Secret, EDGE["name"], namespace=KUBECONFIGS).data
    hub.apply("secrets", made("v1", "Secret", EDGE["name"], data=kubeconfig))
    for plural, manifest in owner():
        hub.apply(plural, manifest)
    for namespace, name in (("harbour", "db"), ("harbour", "edge-1-db"), (KUBECONFIGS, "edge-1-settings")):
        hub.wait_ready("Kustomization", namespace, name)
    hub.wait_ready("HelmRelease", "harbour", "web")
    hub.wait_scaled("harbour", "web", 2)
    for cluster in (hub, edge):
        what = "the database to run"
        cluster.until("StatefulSet", "harbour", "db", lambda found: found["status"].get("readyReplicas"), what)
    yield bare
    for name in ("hub-dev", "edge-1"):
        bare.tenantry("bootstrap", name, "--kubeconfig", str(bare.kubeconfig(name))).ok()


@pytest.fixture(scope="module")
def project(running: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A directory of its own beside the sandbox, which the steps make a project."""
    root = tmp_path_factory.mktemp("import") / "project"
    root.mkdir()
    (root / ".venv").symlink_to(programs() / "venv")
    (root / ".sandbox").symlink_to(running.sandbox)
    return Project(root)


def imported(project: Project, name: str) -> dict[str, Any]:
    """The report of an import of the live cluster into a file."""
    kubeconfig = str(project.kubeconfig("hub-dev"))
    source = ("-e", "imported=context:hub-dev", "--cluster", "imported=hub-dev", "--kubeconfig", kubeconfig)
    result = project.tenantry("import", *source, "--to", name, "--output", "json")
    report = dict(json.loads(result.ok().out))
    # What the report asks for at `platform.chart`.
    file = project.root / name
    file.write_text(
        file.read_text().replace("url: oci://registry.example.com/charts, type: oci", "url: http://sandbox.test/charts")
    )
    return report


def state(*places: tuple[Cluster, str]) -> dict[str, str]:
    """Everything in some namespaces, by its uid, and how often containers restarted."""
    found: dict[str, str] = {}
    for number, (cluster, namespace) in enumerate(places):
        at = f"{number} {namespace}"
        found[f"{at} Namespace"] = _uid(cluster, "", "v1", "Namespace", "namespaces", namespace)
        for group, version, kind, plural in KINDS:
            # A remote cluster has none of Flux's kinds.
            for name in () if number and "toolkit" in group else cluster.names(group, version, kind, plural, namespace):
                found[f"{at} {kind} {name}"] = _uid(cluster, group, version, kind, plural, name, namespace)
        for pod in cluster.client.list(Pod, namespace=namespace):
            assert pod.metadata
            assert pod.status
            restarts = [each.restartCount for each in pod.status.containerStatuses or ()]
            found[f"{at} Pod {pod.metadata.name}"] = f"{pod.metadata.uid} {restarts}"
    return found


def _uid(cluster: Cluster, *row: str) -> str:
    object = cluster.get(*row)
    assert object
    return str(object["metadata"]["uid"])


@dataclass(frozen=True, slots=True)
class Adopted:
    """before: what was in the tenant's namespaces. deleted: what was deleted there meanwhile. announced: what preflight said."""

    project: Project
    report: dict[str, Any]
    before: dict[str, str]
    deleted: frozenset[str]
    announced: dict[str, Any]

    def named(self, *lists: str) -> set[str]:
        """`Kind namespace/name` of the objects in some lists of the adoptions that preflight has shown."""
        ids = [
            each.get("id", each) for adoption in self.announced["adoptions"] for key in lists for each in adoption[key]
        ]
        return {f"{each['kind']} {each['namespace']}/{each['name']}" for each in ids if each["namespace"]}


@pytest.fixture(scope="module")
def adopted(project: Project, hub: Cluster, edge: Cluster) -> Iterator[Adopted]:
    """The fleet after the steps of docs/import.md, each of its commands run in turn, undone and run again."""
    project.tenantry("sandbox", "run", "--", "true").ok()  # which puts kubectl on the PATH
    report = imported(project, "tenants.yaml")
    before = state((hub, "harbour"), (edge, "harbour"))
    clusters = ("hub-dev", "edge-1")
    earlier = [len(deletions(project, each, "harbour")) for each in clusters]
    announced: dict[str, Any] = {}
    for command in steps():
        obey(project, command)
        if "preflight" in command:
            announced = announcement(project)
    deleted = {
        each
        for cluster, count in zip(clusters, earlier, strict=True)
        for each in deletions(project, cluster, "harbour")[count:]
    }
    yield Adopted(project, report, before, frozenset(deleted), announced)
    project.destroy("imported").ok()
    hub.delete("GitRepository", KUBECONFIGS, "fleet")
    for cluster in (hub, edge):
        cluster.remove_namespaces("harbour")


def steps() -> list[str]:
    """The commands of the page, each block that can be undone with that, and once more."""
    found: list[list[str]] = []
    for block in blocks("docs/import.md"):
        lines = block.text.splitlines()
        if block.runs == "adoption":
            found.append(lines)
        elif block.runs == "adoption, back":
            found += [lines, found[-1]]
    return [line for lines in found for line in lines]


def _is_gone(hub: Cluster, namespace: str, name: str) -> bool:
    return hub.find("Kustomization", namespace, name) is None


def announcement(project: Project) -> dict[str, Any]:
    found = project.tenantry("preflight", "--environment", "imported", "--output", "json")
    (environment,) = json.loads(found.out)["environments"]
    codes = [each["code"] for each in environment["problems"]]
    assert {"not-adoptable", "still-applied"} <= {*codes}
    assert "not-changeable" not in codes
    return dict(environment)


FLUX = re.compile(r"flux (suspend|resume) (\S+) (\S+) --namespace (\S+)")


def obey(project: Project, command: str) -> None:
    """Run a command of the page. There is no flux on the machine: its commands are told to kubectl."""
    if found := FLUX.fullmatch(command):
        what, kind, name, namespace = found.groups()
        patch = json.dumps({"spec": {"suspend": what == "suspend"}})
        command = f"kubectl patch {kind} {name} --namespace {namespace} --type merge --patch '{patch}'"
    command = re.sub("tenantry up .*", r"\g<0> --yes --skip-preview", command)
    named = re.match(r"tenantry bootstrap (\S+)", command)
    kubeconfig = project.kubeconfig(named[1] if named else "hub-dev")
    command = command.replace(" FILE", f" {kubeconfig}").replace(" NAME", f" {named[1] if named else ''}")
    environment = {**project.environment(), "PATH": f"{programs()}:{project.environment()['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=project.root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    # What has to be done before the run is an error of preflight.
    assert done.returncode == (1 if "preflight" in command else 0), f"$ {command}\n{done.stdout}{done.stderr}"
    if "grep server:" in command:
        assert done.stdout.strip().startswith("server: https://127.0.0.1:")
        assert len(done.stdout.splitlines()) == 1


def test_the_two_kubeconfigs_are_taken_for_one_cluster(adopted: Adopted) -> None:
    text = (adopted.project.root / "tenants.yaml").read_text()
    assert list(yaml.safe_load(text)["clusters"]) == ["hub-dev", "edge-1"]
    assert "are taken for that of cluster edge-1" in json.dumps(adopted.report)
    assert adopted.report["counts"]["inexpressible"] == 0


def test_adoption_deletes_nothing_and_restarts_no_pod(adopted: Adopted, hub: Cluster, edge: Cluster) -> None:
    after = state((hub, "harbour"), (edge, "harbour"))
    generated = f"0 harbour {GENERATED}"
    assert {name: uid for name, uid in adopted.before.items() if name != generated} == {
        name: uid for name, uid in after.items() if name in adopted.before
    }
    kind, name = GENERATED.split()
    assert adopted.deleted == {f"{PLURALS[kind]}/{name}"}
    assert [each for each in after if "sh.helm.release" in each] == ["0 harbour Secret sh.helm.release.v1.web.v1"]


def test_preflight_has_said_what_the_run_would_do(adopted: Adopted, hub: Cluster) -> None:
    assert adopted.named("made", "taken") <= hub.fleet_objects()
    assert "Kustomization kamaji-edge/edge-1-harbour-db" in adopted.named("made")
    assert "HelmRelease harbour/web" in adopted.named("taken")


def test_what_applied_the_objects_can_go_and_takes_nothing_along(adopted: Adopted, hub: Cluster, edge: Cluster) -> None:
    before = state((hub, "harbour"), (edge, "harbour"))
    for namespace, name in (("flux-system", "tenants"), ("harbour", "edge-1-db")):
        hub.delete("Kustomization", namespace, name)
        eventually(partial(_is_gone, hub, namespace, name), "the old Kustomization to go")
    assert before.pop("0 harbour Kustomization edge-1-db")
    assert state((hub, "harbour"), (edge, "harbour")) == before
    objects = [each for each in adopted.report["objects"] if each["planned"]]
    ids = [each["id"] for each in objects if each["planned"]["name"] == each["id"]["name"]]
    kept = {f"{each['kind']} {each['namespace']}/{each['name']}" for each in ids if each["namespace"]}
    assert kept <= hub.fleet_objects()


def test_nothing_is_left_to_do(adopted: Adopted) -> None:
    assert adopted.project.preview(stack="imported") == {}


def test_a_change_of_the_file_arrives_on_both_clusters(adopted: Adopted, hub: Cluster, edge: Cluster) -> None:
    before = state((hub, "harbour"), (edge, "harbour"))
    obey(adopted.project, "tenantry set tenants.harbour.quota '{pods: 40}'")
    obey(adopted.project, "tenantry up --environment imported")
    for cluster in (hub, edge):
        quota = cluster.find("ResourceQuota", "harbour", "tenantry")
        assert quota
        assert quota["spec"]["hard"] == {"pods": "40"}
    assert before.items() <= state((hub, "harbour"), (edge, "harbour")).items()
