"""The commands for live states with an invalid file or none: they go by the labels of what an API server in memory holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenantry.cluster import connect as connecting
from tenantry.cluster.requests import path_of
from tenantry.kube.objects import ObjectId
from tests.table import table
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.cli.test_tree import TEXT, WEB, Hub, live
from tests.unit.memory import SERVER, list_of
from tests.unit.texts import planned

BROKEN = TEXT.replace("rocky:", "rocky:\n    quotta: {}", 1)
NOTE = (
    "tenants.yaml is invalid (tenants.yaml:10: key 'quotta' is not known here)\n"
    f"  going by the labels of the objects on hub ({SERVER})\n"
)
KUSTOMIZE = "kustomize.toolkit.fluxcd.io/v1"


class Labelled(Hub):
    """Every kind is listed from the objects that requests for single ones find."""

    def client(self, server: str = SERVER) -> Any:
        found = {path: each for path, each in self.objects.items() if "items" not in each}
        self.objects = dict(found)
        for each in found.values():
            path = list_of(ObjectId(each["apiVersion"], each["kind"], "", ""))
            self.objects.setdefault(path, {"metadata": {}, "items": []})["items"].append(each)
        return super().client(server)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Labelled:
    """It holds all of the fleet's objects, ready; somebody has broken the file since."""
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(BROKEN)
    memory = Labelled()
    for each in planned(TEXT).objects:
        memory.objects[path_of(each.id)] = {**live(each), "apiVersion": each.id.api_version}
    monkeypatch.setattr(connecting, "connect", lambda *_: memory.client())
    return memory


def kustomization(namespace: str, name: str) -> tuple[str, dict[str, Any]]:
    """A Kustomization that a tenant has written, with labels as those of rocky/web on hub."""
    id = ObjectId(KUSTOMIZE, "Kustomization", namespace, name)
    marks = {
        "app.kubernetes.io/managed-by": "tenantry",
        "tenantry/environment": "dev",
        "tenantry/cluster": "hub",
        "toolkit.fluxcd.io/tenant": "rocky",
        "tenantry/app": "web",
    }
    metadata = {"name": name, "namespace": namespace, "labels": marks, "uid": name}
    return path_of(id), {"apiVersion": KUSTOMIZE, "kind": "Kustomization", "metadata": metadata, "spec": {}}


@pytest.mark.usefixtures("hub")
def test_status_shows_what_is_there_and_says_why_it_knows_no_more(capsys: Capture) -> None:
    code, out, err = tenantry(capsys, "status", "-e", "dev", "--app", "web")
    assert (code, [line.split()[:5] for line in out.splitlines()]) == (
        0,
        [
            ["TENANT", "CLUSTER", "APP", "KIND", "STATUS"],
            ["rocky", "edge", "web", "Kustomization", "ready"],
            ["rocky", "hub", "web", "Kustomization", "ready"],
        ],
    )
    assert err == f"{NOTE}without the file, nothing is known of missing, changed and undeclared objects\n"
    Path("tenants.yaml").unlink()
    code, out, err = tenantry(capsys, "status", "-e", "dev", "--app", "web", "-o", "json")
    document = json.loads(out)
    assert (code, document["byLabels"], document["environments"][0]["undeclared"], len(document["apps"])) == (
        0,
        True,
        None,
        2,
    )
    assert err.startswith(
        "there is no tenants.yaml in this directory or above it\n  going by the labels of the objects on hub"
    )


def test_a_failure_of_a_source_or_a_baseline_is_told_without_the_file(capsys: Capture, hub: Labelled) -> None:
    for path in list(hub.objects):
        if "/gitrepositories/" in path or path.endswith("/helmreleases/edge-rocky-baseline"):
            (ready,) = hub.objects[path]["status"]["conditions"]
            ready |= {"status": "False", "reason": "Failed", "message": "no such repository", "observedGeneration": 1}
    hub.objects[WEB]["status"] = {}
    code, out, _ = tenantry(capsys, "status", "-e", "dev", "-o", "json")
    states = {
        each["name"]: (each["status"], each["message"]) for key in ("apps", "objects") for each in json.loads(out)[key]
    }
    assert code == 1
    assert states["web"] == ("failed", "GitRepository rocky/manifests: no such repository")
    assert states["edge-rocky-baseline"] == ("failed", "no such repository")


@pytest.mark.usefixtures("hub")
def test_tree_follows_an_app_to_its_source(capsys: Capture) -> None:
    code, out, err = tenantry(capsys, "tree", "rocky", "shop", "-e", "dev", "-o", "json")
    (app,) = json.loads(out)["apps"]
    assert (code, [each["kind"] for each in app["steps"]], err) == (
        0,
        ["HelmRepository", "HelmChart", "HelmRelease"],
        NOTE,
    )


LOOKS = "has the labels of rocky/web on hub, but is not where Tenantry puts that"


@table(
    ("forged", "message"),
    [
        (kustomization("rocky", "mine"), f"Kustomization rocky/mine {LOOKS}"),
        (kustomization("movy", "web"), f"Kustomization movy/web {LOOKS}"),
        (kustomization("elsewhere", "web"), f"Kustomization elsewhere/web {LOOKS}"),
        (
            kustomization("rocky-jobs", "web"),
            "Kustomization rocky/web, Kustomization rocky-jobs/web all have the labels of rocky/web on hub: only the file tells"
            " which it is",
        ),
    ],
    ids=("another name", "another tenant's namespace", "nobody's namespace", "a second namespace"),
)
def test_what_only_looks_like_an_app_is_left_out_and_told(
    forged: tuple[str, dict[str, Any]], message: str, capsys: Capture, hub: Labelled
) -> None:
    path, manifest = forged
    before = dict(hub.objects)
    main = hub.objects["/api/v1/namespaces/rocky"]
    for name, tenant in (("movy", "movy"), ("rocky-jobs", "rocky")):
        labels = {**main["metadata"]["labels"], "toolkit.fluxcd.io/tenant": tenant}
        hub.objects[f"/api/v1/namespaces/{name}"] = {**main, "metadata": {"name": name, "labels": labels}}
    hub.objects[path] = manifest
    try:
        _, _, err = tenantry(capsys, "tree", "rocky", "web", "-e", "dev", "-c", "hub")
        assert err.startswith(f"{NOTE}left out: {message}\n"), err
        assert tenantry(capsys, "status", "-e", "dev")[2].count(f"left out: {message}\n") == 1
    finally:
        hub.objects = before
        hub.requests.clear()


@table(
    ("command", "message"),
    [
        (("tree", "rocky", "webb"), "environment 'dev' has no app 'webb'"),
        (("tree", "tina"), "environment 'dev' has no apps of tenant 'tina'"),
        (("status", "--cluster", "us-1"), "environment 'dev' has no apps on cluster 'us-1'"),
        (("status", "--cluster", "tier=edge"), "the labels of clusters, such as 'tier=edge', are in the file alone"),
        (("status", "--wait"), "key 'quotta' is not known"),
        (("status", "--output", "prometheus"), "key 'quotta' is not known"),
        (("-f", "nowhere.yaml", "tree", "rocky", "web"), "nowhere.yaml: no such file"),
    ],
)
@pytest.mark.usefixtures("hub")
def test_what_labels_do_not_answer_is_refused(command: tuple[str, ...], message: str, capsys: Capture) -> None:
    code, out, err = tenantry(capsys, *command, "-e", "dev")
    assert (code, out) == (2, "")
    assert message in err


def test_a_cluster_without_the_environment_is_no_help(capsys: Capture, hub: Labelled) -> None:
    hub.objects = {}
    code, out, err = tenantry(capsys, "status", "-e", "dev")
    assert (code, out) == (2, "")
    assert err.startswith(
        "tenants.yaml is invalid (tenants.yaml:10: key 'quotta' is not known here)\n"
        f"  and the labels on the management cluster cannot be read: no object on {SERVER} has the labels of an app of environment"
        " 'dev'\n  fix: name the management cluster with --kubeconfig and --context\n"
    )
    assert "key 'quotta' is not known" in err
