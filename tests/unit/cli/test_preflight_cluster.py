"""`tenantry preflight --cluster` against API servers in memory."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import httpx2
import pytest
import yaml

from tenantry.cli import preflight
from tenantry.preflight import remotes
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.memory import Memory
from tests.unit.preflight import clusters as fleets
from tests.unit.preflight.clusters import Edge
from tests.unit.texts import FRAME

NAMESPACE = "/api/v1/namespaces/tenantry-system"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(FRAME)


SECRET = "/api/v1/namespaces/kamaji/secrets/edge-admin-kubeconfig"
LABELS = {"reconcile.fluxcd.io/watch": "Enabled"}
KUBECONFIG = {
    "clusters": [{"name": "edge", "cluster": {"server": "https://127.0.0.1", "insecure-skip-tls-verify": True}}],
    "users": [{"name": "admin", "user": {"token": "marker"}}],
    "contexts": [{"name": "edge", "context": {"cluster": "edge", "user": "admin"}}],
    "current-context": "edge",
}
INSECURE = (
    "error[not-taken]: Flux refuses or ignores 'insecure-skip-tls-verify' of the kubeconfig\n"
    "  fix: write certificates or a token into it: kubectl config view --flatten; or use workload identity: 'configMap'\n"
)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Memory:
    memory = Memory()
    content = base64.b64encode(yaml.safe_dump(KUBECONFIG).encode()).decode()
    metadata = {"name": "edge-admin-kubeconfig", "labels": LABELS}
    memory.objects[SECRET] = {"kind": "Secret", "metadata": metadata, "data": {"admin.conf": content}}
    monkeypatch.setattr(preflight, "connect_management", lambda *_, **__: memory.client())
    return memory


def test_it_finds_the_kubeconfig_of_a_cluster_through_its_template(capsys: Capture, hub: Memory) -> None:
    template = 'templates: {clusters: {g: {kubeconfig: {kamaji: {controlPlane: "{cluster}", namespace: kamaji}}}}}\n'
    own = "kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}"
    Path("tenants.yaml").write_text(
        FRAME.replace(own, "from: g").replace("\nclusters:\n", f"\n{template}clusters:\n", 1)
    )
    assert tenantry(capsys, "preflight", "dev", "--cluster", "edge")[0] == 1
    assert [("GET", SECRET)] == [(method, path) for method, path, _ in hub.requests]


def test_it_names_what_flux_will_refuse_and_counts_it(capsys: Capture, hub: Memory) -> None:
    assert tenantry(capsys, "preflight", "dev", "--cluster", "edge") == (1, f"{INSECURE}edge: 1 error\n", "")
    assert [("GET", SECRET)] == [(method, path) for method, path, _ in hub.requests]


@pytest.fixture
def edge(hub: Memory, monkeypatch: pytest.MonkeyPatch) -> Edge:
    """The remote, on which all is well, and in the hub's Secret a kubeconfig that it accepts."""
    clusters = [{"name": "edge", "cluster": {"server": "https://edge.example.com"}}]
    users = [{"name": "admin", "user": {"token": "marker"}}]
    content = yaml.safe_dump({**KUBECONFIG, "clusters": clusters, "users": users})
    hub.objects[SECRET]["data"] = {"admin.conf": base64.b64encode(content.encode()).decode()}
    remote = Edge()
    monkeypatch.setattr(remotes, "connect_remote", remote.connect)
    return remote


@pytest.mark.usefixtures("edge")
def test_it_says_that_nothing_is_wrong(capsys: Capture) -> None:
    assert tenantry(capsys, "preflight", "dev", "--cluster", "edge") == (0, "edge: no problems\n", "")
    found = json.loads(tenantry(capsys, "preflight", "dev", "--cluster", "edge", "-o", "json")[1])
    assert found["fit"] is True


def test_it_of_a_cluster_that_does_not_answer_or_lacks_its_bootstrap_fails(capsys: Capture, edge: Edge) -> None:
    del edge.objects[NAMESPACE]
    code, out, _ = tenantry(capsys, "preflight", "dev", "--cluster", "edge")
    assert (code, "error[not-bootstrapped]: namespace 'tenantry-system' does not exist on it" in out) == (1, True)
    edge.fail(httpx2.ConnectError("https://edge.example.com"))
    code, out, _ = tenantry(capsys, "preflight", "dev", "--cluster", "edge")
    assert (code, "error[unreachable]: it cannot be reached from here" in out) == (1, True)
    assert "edge.example.com" not in out


def test_it_as_json_says_the_same(capsys: Capture, hub: Memory) -> None:
    del hub.objects[SECRET]
    code, out, err = tenantry(capsys, "preflight", "dev", "--cluster", "edge", "--output", "json")
    problem = {
        "severity": "error",
        "code": "no-secret",
        "path": [],
        "notes": [],
        "message": "there is no Secret kamaji/edge-admin-kubeconfig",
        "fix": "wait until it is created, or correct the cluster's 'kubeconfig' in tenants.yaml",
    }
    assert (
        1,
        {
            "apiVersion": "tenantry/v1",
            "kind": "Preflight",
            "cluster": "edge",
            "fit": False,
            "problems": [problem],
        },
        "",
    ) == (code, json.loads(out), err)


def test_it_without_the_right_to_read_the_secret_is_refused(capsys: Capture, hub: Memory) -> None:
    hub.refuse("GET", SECRET, 403, "no")
    expected = (
        "error: cannot read Secret kamaji/edge-admin-kubeconfig: HTTP 403\n"
        "  fix: use credentials that may read Secret kamaji/edge-admin-kubeconfig\n"
    )
    assert tenantry(capsys, "preflight", "dev", "--cluster", "edge") == (2, "", expected)


def test_it_of_the_management_cluster_looks_at_flux(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("tenants.yaml").write_text(fleets.TEXT)
    memory = fleets.hub()
    monkeypatch.setattr(preflight, "connect_management", lambda *_, **__: memory.client())
    assert tenantry(capsys, "preflight", "dev", "--cluster", "hub") == (0, "hub: no problems\n", "")
    (deployment,) = memory.objects[fleets.DEPLOYMENTS]["items"]
    deployment["spec"]["template"]["spec"]["containers"][0]["args"] = []
    code, out, _ = tenantry(capsys, "preflight", "dev", "--cluster", "hub")
    assert (code, "warning[no-lockdown]: source-controller" in out) == (0, True)


def test_it_of_a_cluster_reached_by_workload_identity_is_refused(capsys: Capture) -> None:
    secret = "kamaji: {controlPlane: edge, namespace: kamaji}"
    Path("tenants.yaml").write_text(FRAME.replace(secret, "configMap: {namespace: clusters, name: edge}"))
    expected = (
        "error: cluster 'edge' is reached by workload identity: there is no kubeconfig to check\n"
        "  fix: see `tenantry status` for what Flux says about it\n"
    )
    assert tenantry(capsys, "preflight", "dev", "--cluster", "edge") == (2, "", expected)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("egde", "-e", "dev"), "tenants.yaml declares no cluster 'egde' (declared: hub, edge)"),
        (("edge", "-e", "qa"), "cluster 'edge' does not belong to environment 'qa'"),
    ],
)
def test_what_cannot_be_checked_is_refused(capsys: Capture, given: tuple[str, ...], message: str) -> None:
    code, out, err = tenantry(capsys, "preflight", "--cluster", *given)
    assert (code, out, message in err) == (2, "", True), err
