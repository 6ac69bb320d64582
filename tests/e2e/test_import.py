"""A tenant that was made with the flux command and is applied from a repository by a Kustomization that prunes: `tenantry import`
reads it from the live cluster, and the steps of the report adopt it. Nothing may be deleted, and no pod may restart.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from lightkube.resources.core_v1 import Pod

from tests.e2e.audit import deletions
from tests.e2e.clusters import KINDS, Cluster, eventually
from tests.e2e.project import REPOSITORY, Project

pytestmark = pytest.mark.e2e

TENANTRY = str(Path(sys.executable).with_name("tenantry"))
RBAC = "rbac.authorization.k8s.io"
SOURCE, KUSTOMIZE, HELM = (
    f"{group}.toolkit.fluxcd.io/{version}" for group, version in (("source", "v1"), ("kustomize", "v1"), ("helm", "v2"))
)
PLURALS = {kind: plural for _, _, kind, plural in KINDS}
GENERATED = "HelmChart harbour-web"
"""What helm-controller made for `spec.chart`, and removes once the release has a `chartRef`."""


def made(api_version: str, kind: str, name: str, namespace: str = "harbour", **rest: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **rest}


def tenant(port: int) -> list[dict[str, Any]]:
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
        "url": f"http://127.0.0.1:{port}/git/rocky/manifests.git",
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
        made(SOURCE, "HelmRepository", "charts", spec={"interval": "1m0s", "url": f"http://127.0.0.1:{port}/charts"}),
        made(KUSTOMIZE, "Kustomization", "db", spec=app),
        made(HELM, "HelmRelease", "web", spec=release),
    ]


def owner(port: int) -> list[tuple[str, dict[str, Any]]]:
    """The Kustomization that applies the tenant from the platform's repository."""
    flux = "flux-system"
    admin = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"}
    subjects = [{"kind": "ServiceAccount", "name": "flux", "namespace": flux}]
    binding = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "flux"}}
    git = {
        "interval": "1m0s",
        "ref": {"branch": "main"},
        "url": f"http://127.0.0.1:{port}/git/platform/fleet.git",
    }
    tenants = {
        "interval": "1m0s",
        "path": "./tenants",
        "prune": True,
        "serviceAccountName": "flux",
        "sourceRef": {"kind": "GitRepository", "name": "fleet"},
    }
    return [
        ("serviceaccounts", made("v1", "ServiceAccount", "flux", flux)),
        ("clusterrolebindings", {**binding, "roleRef": admin, "subjects": subjects}),
        ("gitrepositories", made(SOURCE, "GitRepository", "fleet", flux, spec=git)),
        ("kustomizations", made(KUSTOMIZE, "Kustomization", "tenants", flux, spec=tenants)),
    ]


@pytest.fixture(scope="module")
def hub(bare: Project) -> Iterator[Cluster]:
    with closing(Cluster(bare.kubeconfig("hub-dev"))) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def running(bare: Project, hub: Cluster) -> Project:
    """The sandbox with the tenant on it, applied by Flux."""
    files = bare.content / "git" / "platform" / "fleet" / "tenants"
    files.mkdir(parents=True)
    (files / "harbour.yaml").write_text(yaml.safe_dump_all(tenant(bare.port)))
    bare.start("dev")
    for plural, manifest in owner(bare.port):
        hub.apply(plural, manifest)
    hub.wait_ready("Kustomization", "harbour", "db")
    hub.wait_ready("HelmRelease", "harbour", "web")
    hub.wait_scaled("harbour", "web", 2)
    hub.until("StatefulSet", "harbour", "db", lambda found: found["status"].get("readyReplicas"), "the database to run")
    return bare


@pytest.fixture(scope="module")
def project(running: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project of its own beside the sandbox, without a fleet."""
    root = tmp_path_factory.mktemp("import") / "project"
    root.mkdir()
    shutil.copy(REPOSITORY / "Pulumi.yaml", root)
    shutil.copy(running.root / "Pulumi.dev.yaml", root / "Pulumi.imported.yaml")
    for name in ("__main__.py", ".venv"):
        (root / name).symlink_to(REPOSITORY / name)
    (root / ".sandbox").symlink_to(running.sandbox)
    return Project(root, running.port)


def imported(project: Project, name: str) -> dict[str, Any]:
    """The report of an import of the live cluster into a file."""
    kubeconfig = str(project.kubeconfig("hub-dev"))
    source = ("-e", "imported=context:hub-dev", "--cluster", "imported=hub-dev", "--kubeconfig", kubeconfig)
    result = project.tenantry("import", *source, "--to", name, "--output", "json")
    return dict(json.loads(result.ok().out))


def state(hub: Cluster) -> dict[str, str]:
    """Everything in the namespace, by kind and name: its uid, and how often its containers restarted."""
    found = {"Namespace harbour": _uid(hub, "", "v1", "Namespace", "namespaces", "harbour")}
    for group, version, kind, plural in KINDS:
        for name in hub.names(group, version, kind, plural, "harbour"):
            found[f"{kind} {name}"] = _uid(hub, group, version, kind, plural, name, "harbour")
    for pod in hub.client.list(Pod, namespace="harbour"):
        assert pod.metadata
        assert pod.status
        restarts = [each.restartCount for each in pod.status.containerStatuses or ()]
        found[f"Pod {pod.metadata.name}"] = f"{pod.metadata.uid} {restarts}"
    return found


def _uid(hub: Cluster, *row: str) -> str:
    object = hub.get(*row)
    assert object
    return str(object["metadata"]["uid"])


@dataclass(frozen=True, slots=True)
class Adopted:
    """before: what was in the tenant's namespace. deleted: what was deleted there meanwhile, as `resource/name`."""

    project: Project
    report: dict[str, Any]
    before: dict[str, str]
    deleted: frozenset[str]


@pytest.fixture(scope="module")
def adopted(project: Project, hub: Cluster) -> Iterator[Adopted]:
    """The fleet after the steps of the report, each of its commands run in turn."""
    report = imported(project, "tenants.yaml")
    before, earlier = state(hub), len(deletions(project, "hub-dev", "harbour"))
    for step in report["steps"]:
        for command in step["commands"]:
            obey(project, hub, shlex.split(command))
    deleted = frozenset(deletions(project, "hub-dev", "harbour")[earlier:])
    yield Adopted(project, report, before, deleted)
    project.destroy("imported").ok()
    hub.remove_namespace("harbour")


def obey(project: Project, hub: Cluster, words: list[str]) -> None:
    """Run a command of the report; those of kubectl by the test's own client."""
    kinds = {kind.lower(): kind for kind in PLURALS}
    match words:
        case ["kubectl", "patch", kind, name, "--namespace", namespace, "--type", "merge", "--patch", patch]:
            hub.patch(kinds[kind], namespace, name, json.loads(patch))
        case ["flux", "suspend", kind, name, "--namespace", namespace]:
            hub.patch(kinds[kind], namespace, name, {"spec": {"suspend": True}})
        case ["kubectl", "get", kind, name, "--namespace", namespace, "--output", "yaml"]:
            assert hub.find(kinds[kind], namespace, name)
        case ["tenantry", "cluster", "bootstrap", "hub-dev", "--kubeconfig", "FILE", "--context", "NAME"]:
            project.tenantry(*words[1:5], str(project.kubeconfig("hub-dev")), "--context", "hub-dev").ok()
        case ["tenantry", "preflight", "--environment", "imported", "--dry-run"]:
            found = project.tenantry(*words[1:])
            assert "not-adoptable" in found.text
            assert found.code == 1, found.text
        case ["tenantry", "up", *_]:
            project.make_stack("imported")
            project.tenantry("sandbox", "run", "--", TENANTRY, *words[1:], "--yes", "--skip-preview").ok()
        case ["tenantry", *arguments]:
            project.tenantry(*arguments).ok()
        case _:
            pytest.fail(f"the report has an unknown command: {words}")


def test_adoption_deletes_nothing_and_restarts_no_pod(adopted: Adopted, hub: Cluster) -> None:
    after = state(hub)
    assert {name: uid for name, uid in adopted.before.items() if name != GENERATED} == {
        name: uid for name, uid in after.items() if name in adopted.before
    }
    kind, name = GENERATED.split()
    assert adopted.deleted == {f"{PLURALS[kind]}/{name}"}
    assert [each for each in after if "sh.helm.release" in each] == ["Secret sh.helm.release.v1.web.v1"]


def test_what_applied_the_objects_can_go_and_takes_nothing_along(adopted: Adopted, hub: Cluster) -> None:
    before = state(hub)
    hub.delete("Kustomization", "flux-system", "tenants")
    eventually(lambda: hub.find("Kustomization", "flux-system", "tenants") is None, "the old Kustomization to go")
    assert state(hub) == before
    kept = {
        f"{each['kind']} {each['namespace']}/{each['name']}" for each in adopted.report["kept"] if each["namespace"]
    }
    assert kept <= hub.fleet_objects()


def test_nothing_is_left_to_do_and_a_second_import_gives_the_same_fleet(adopted: Adopted) -> None:
    project = adopted.project
    assert project.preview(stack="imported") == {}
    again = imported(project, "again.yaml")
    first, second = (yaml.safe_load((project.root / name).read_text()) for name in ("tenants.yaml", "again.yaml"))
    assert first == second
    assert (again["counts"]["changed"], again["counts"]["added"]) == (0, 0)
