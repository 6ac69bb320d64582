"""`tenantry cluster` against an API server in memory."""

from __future__ import annotations

import base64
import json
import re
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
import yaml

from tenantry.cli import cluster as cluster_module
from tenantry.cli.management import Reached
from tenantry.cluster.register import Address
from tenantry.load import plan_one
from tests.table import table
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.cluster.test_register import Edge as NewCluster
from tests.unit.cluster.test_register import Hub
from tests.unit.memory import Memory
from tests.unit.preflight import clusters as fleets
from tests.unit.preflight.clusters import Edge
from tests.unit.texts import FRAME

NAMESPACE = "/api/v1/namespaces/tenantry-system"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(FRAME)


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Memory:
    memory = Memory()
    monkeypatch.setattr(cluster_module, "connect", lambda *_: memory.client())
    return memory


WHERE = "cluster https://hub.example.com, context 'hub'\n"


def told(first: str, second: str) -> str:
    policies = (
        f"{kind} {name}: {second}\n"
        for name in ("tenantry-baselines", "tenantry-images", "tenantry-namespaces", "tenantry-labels")
        for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
    )
    others = f"ClusterRoleBinding tenantry-platform-kamaji: {second}\nConfigMap tenantry-system/tenantry: {second}\n"
    return "".join([f"Namespace tenantry-system: {first}\n", others, *policies])


def test_bootstrap_with_a_kubeconfig_applies_and_says_where_and_what(capsys: Capture, remote: Memory) -> None:
    command = ("cluster", "bootstrap", "edge", "--kubeconfig", "admin")
    assert tenantry(capsys, *command) == (0, told("created", "created"), WHERE)
    assert tenantry(capsys, *command) == (0, told("unchanged", "unchanged"), WHERE)
    del remote.objects[NAMESPACE]["metadata"]["labels"]
    assert tenantry(capsys, *command) == (0, told("changed", "unchanged"), WHERE)


def test_bootstrap_as_a_dry_run_says_what_would_be_done(capsys: Capture, remote: Memory) -> None:
    command = ("cluster", "bootstrap", "edge", "--kubeconfig", "admin", "--context", "hub", "--dry-run")
    assert tenantry(capsys, *command) == (0, told("would be created", "would be created"), WHERE)
    assert {} == remote.objects


@pytest.mark.parametrize("option", [["--dry-run"], ["--context", "edge"]])
def test_options_of_applying_need_a_kubeconfig(capsys: Capture, option: list[str]) -> None:
    code, out, err = tenantry(capsys, "cluster", "bootstrap", "edge", *option)
    assert (2, "") == (code, out)
    assert "--context and --dry-run need --kubeconfig: without it nothing is applied" in err


def test_a_kubeconfig_that_is_not_there_is_refused_with_what_helps_here(capsys: Capture) -> None:
    expected = (
        "error: kubeconfig nowhere cannot be read: No such file or directory\n"
        "  fix: name an administrator's kubeconfig and context for this cluster with --kubeconfig and --context\n"
    )
    assert tenantry(capsys, "cluster", "bootstrap", "edge", "--kubeconfig", "nowhere") == (2, "", expected)


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> Memory:
    """The management cluster, which is prepared; its remote's kubeconfig is not there yet."""
    memory = Memory()
    memory.objects[NAMESPACE] = {"metadata": {"name": "tenantry-system"}}
    memory.objects[fleets.MARKER] = {"metadata": {"name": "tenantry"}, "data": {"cluster": "hub"}}
    client, planned = memory.client(), plan_one(fleets.FLEET, "dev")
    reached = Reached(client, planned, {})
    monkeypatch.setattr("tenantry.cli.prepare.open_management", lambda *_, **__: nullcontext(reached))
    return memory


@pytest.mark.usefixtures("whole")
def test_bootstrap_of_all_says_a_line_for_each_cluster_and_fails_if_one_does(capsys: Capture) -> None:
    command = ("cluster", "bootstrap", "--all", "--environment", "dev")
    edge = (
        "edge: not prepared: there is no Secret kamaji/edge-admin-kubeconfig, which holds the cluster's kubeconfig\n"
        "  fix: have the kubeconfig's writer write it\n"
    )
    would = f"hub: 16 would be created, 2 would be changed\n{edge}dev: 2 clusters, 1 would change, 1 not prepared\n"
    assert tenantry(capsys, *command, "--dry-run") == (1, would, "")
    done = f"hub: 16 created, 2 changed\n{edge}dev: 2 clusters, 1 changed, 1 not prepared\n"
    assert tenantry(capsys, *command) == (1, done, "")
    assert tenantry(capsys, *command)[1].startswith("hub: nothing to do\n")
    Path("tenants.yaml").write_text(FRAME.replace("namespace: kamaji}}}", "namespace: kamaji}}, state: paused}"))
    idle = "hub: nothing to do\nedge: left out, because it is paused\ndev: 1 cluster, 0 changed, 0 not prepared\n"
    assert tenantry(capsys, *command) == (0, idle, "")


@table(
    "options, message",
    [
        (["--all", "edge", "--environment", "dev"], "--all takes no NAME"),
        (["--all"], "--all takes no NAME"),
        ([], "Name a cluster, or all of an environment: --all --environment NAME"),
    ],
)
def test_bootstrap_needs_a_cluster_or_all_of_an_environment(capsys: Capture, options: list[str], message: str) -> None:
    code, out, err = tenantry(capsys, "cluster", "bootstrap", *options)
    assert (2, "") == (code, out)
    assert message in err


# --- check ------------------------------------------------------------------------------------------------------


SECRET = "/api/v1/namespaces/kamaji/secrets/edge-admin-kubeconfig"
LABELS = {"reconcile.fluxcd.io/watch": "Enabled"}
KUBECONFIG = {
    "clusters": [{"name": "edge", "cluster": {"server": "https://127.0.0.1", "insecure-skip-tls-verify": True}}],
    "users": [{"name": "admin", "user": {"token": "marker"}}],
    "contexts": [{"name": "edge", "context": {"cluster": "edge", "user": "admin"}}],
    "current-context": "edge",
}
INSECURE = (
    "error[insecure]: 'insecure-skip-tls-verify' is set, but Flux ignores it and verifies the server\n"
    "  fix: remove it, and put the server's CA certificate under 'certificate-authority-data'\n"
)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Memory:
    memory = Memory()
    content = base64.b64encode(yaml.safe_dump(KUBECONFIG).encode()).decode()
    metadata = {"name": "edge-admin-kubeconfig", "labels": LABELS}
    memory.objects[SECRET] = {"kind": "Secret", "metadata": metadata, "data": {"admin.conf": content}}
    monkeypatch.setattr(cluster_module, "connect_management", lambda *_, **__: memory.client())
    return memory


def test_check_finds_the_kubeconfig_of_a_cluster_through_its_group(capsys: Capture, hub: Memory) -> None:
    group = 'clusterGroups: {g: {kubeconfig: {kamaji: {controlPlane: "{cluster}", namespace: kamaji}}}}\n'
    own = "kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}"
    Path("tenants.yaml").write_text(FRAME.replace(own, "group: g").replace("clusters:\n", f"{group}clusters:\n", 1))
    assert tenantry(capsys, "cluster", "check", "edge")[0] == 1
    assert [("GET", SECRET)] == [(method, path) for method, path, _ in hub.requests]


def test_check_names_what_flux_will_refuse_and_counts_it(capsys: Capture, hub: Memory) -> None:
    loopback = (
        "error[loopback]: the server is a loopback address, which is the pod itself in Flux's pods\n"
        "  fix: write an address that the pods can reach; for vCluster set exportKubeConfig.server\n"
    )
    assert tenantry(capsys, "cluster", "check", "edge") == (1, f"{loopback}{INSECURE}edge: 2 errors\n", "")
    assert [("GET", SECRET)] == [(method, path) for method, path, _ in hub.requests]


def test_check_of_a_management_cluster_on_loopback_takes_a_remote_there_for_reachable(
    capsys: Capture, hub: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "connect_management", lambda *_, **__: hub.client("https://127.0.0.1:6443"))
    code, out, _ = tenantry(capsys, "cluster", "check", "edge")
    assert (1, "edge: 1 error, 1 warning") == (code, out.splitlines()[-1])


@pytest.fixture
def edge(hub: Memory, monkeypatch: pytest.MonkeyPatch) -> Edge:
    """The remote, on which all is well, and in the hub's Secret a kubeconfig that expires in ten days."""
    end = datetime.now(UTC) + timedelta(days=10, hours=1)
    claims = base64.urlsafe_b64encode(json.dumps({"exp": end.timestamp()}).encode()).decode().rstrip("=")
    clusters = [{"name": "edge", "cluster": {"server": "https://edge.example.com"}}]
    users = [{"name": "admin", "user": {"token": f"marker.{claims}.marker"}}]
    content = yaml.safe_dump({**KUBECONFIG, "clusters": clusters, "users": users})
    hub.objects[SECRET]["data"] = {"admin.conf": base64.b64encode(content.encode()).decode()}
    remote = Edge()
    remote.objects["/version"] = {"gitVersion": "v1.36.0"}
    monkeypatch.setattr("tenantry.preflight.remotes.connect", remote.connect)
    return remote


@pytest.mark.usefixtures("edge")
def test_check_says_how_a_cluster_answers_and_until_when(capsys: Capture) -> None:
    code, out, err = tenantry(capsys, "cluster", "check", "edge")
    answered, expires, warning, _, last = out.splitlines()
    assert (code, err, last) == (0, "", "edge: 1 warning")
    assert re.fullmatch(r"edge answered in [0-9]+ ms, Kubernetes v1\.36\.0", answered)
    assert re.fullmatch(r"the user's token is valid until 20.*:.. UTC, for 10 days", expires)
    assert warning.startswith("warning[no-authority]: ")


def test_check_of_a_cluster_that_does_not_answer_or_lacks_its_bootstrap_fails(capsys: Capture, edge: Edge) -> None:
    del edge.objects[NAMESPACE]
    code, out, _ = tenantry(capsys, "cluster", "check", "edge")
    assert (code, "error[not-bootstrapped]: namespace 'tenantry-system' does not exist on it" in out) == (1, True)
    edge.fail(httpx2.ConnectError("https://edge.example.com"))
    code, out, _ = tenantry(capsys, "cluster", "check", "edge")
    assert (code, "error[unreachable]: it cannot be reached from here" in out, "answered" in out) == (1, True, False)
    assert "edge.example.com" not in out
    edge.requests.clear()
    code, out, _ = tenantry(capsys, "cluster", "check", "edge", "--offline")
    assert (code, out.splitlines()[-1], edge.requests) == (0, "edge: 1 warning", [])


def test_check_as_json_has_the_answer(capsys: Capture, edge: Edge) -> None:
    found = json.loads(tenantry(capsys, "cluster", "check", "edge", "-o", "json")[1])
    assert found["answered"]["version"] == "v1.36.0"
    assert list(found["expires"]) == ["the user's token"]
    assert edge.configs


def test_check_as_json_says_the_same(capsys: Capture, hub: Memory) -> None:
    del hub.objects[SECRET]
    code, out, err = tenantry(capsys, "cluster", "check", "edge", "--output", "json")
    problem = {
        "severity": "error",
        "code": "no-secret",
        "message": "there is no Secret kamaji/edge-admin-kubeconfig",
        "fix": "wait until it is created, or correct the cluster's 'kubeconfig' in tenants.yaml",
    }
    assert (
        1,
        {
            "apiVersion": "tenantry/v1",
            "kind": "KubeconfigCheck",
            "cluster": "edge",
            "problems": [problem],
            "answered": None,
            "expires": {},
        },
        "",
    ) == (code, json.loads(out), err)


def test_check_shows_nothing_of_the_kubeconfig(capsys: Capture, hub: Memory) -> None:
    _, out, err = tenantry(capsys, "cluster", "check", "edge", "--output", "json")
    assert hub.requests
    assert "marker" not in out + err


def test_check_without_the_right_to_read_the_secret_is_refused(capsys: Capture, hub: Memory) -> None:
    hub.refuse("GET", SECRET, 403, "no")
    expected = (
        "error: cannot read Secret kamaji/edge-admin-kubeconfig: HTTP 403\n"
        "  fix: use credentials that may read Secret kamaji/edge-admin-kubeconfig\n"
    )
    assert tenantry(capsys, "cluster", "check", "edge") == (2, "", expected)


def test_check_of_the_management_cluster_looks_at_flux(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("tenants.yaml").write_text(fleets.TEXT)
    memory = fleets.hub()
    memory.objects["/version"] = {"gitVersion": "v1.36.0"}
    (deployment,) = memory.objects[fleets.DEPLOYMENTS]["items"]
    deployment["status"] = {"availableReplicas": 1}
    monkeypatch.setattr(cluster_module, "connect_management", lambda *_, **__: memory.client())
    code, out, _ = tenantry(capsys, "cluster", "check", "hub")
    assert (code, out.splitlines()[0][:15], "controller-down" in out) == (0, "hub answered in", False)
    del deployment["status"]
    code, out, _ = tenantry(capsys, "cluster", "check", "hub")
    assert code == 1
    assert (
        "error[controller-down]: source-controller (Deployment flux-system/source-controller) has no pod that is available, so"
        " Flux does not do that controller's work\n"
        "  fix: kubectl describe deployment source-controller --namespace flux-system\n"
    ) in out
    assert tenantry(capsys, "cluster", "check", "hub", "--offline")[0] == 2


def test_check_of_a_cluster_reached_by_workload_identity_is_refused(capsys: Capture) -> None:
    secret = "kamaji: {controlPlane: edge, namespace: kamaji}"
    Path("tenants.yaml").write_text(FRAME.replace(secret, "configMap: {namespace: clusters, name: edge}"))
    expected = (
        "error: cluster 'edge' is reached by workload identity: there is no kubeconfig to check\n"
        "  fix: see `tenantry status` for what Flux says about it\n"
    )
    assert tenantry(capsys, "cluster", "check", "edge") == (2, "", expected)


FROM_STACK = (
    "secret: {namespace: kamaji, name: edge, key: value, from: {stack: acme/clusters/edge, output: kubeconfig}}"
)


def test_a_kubeconfig_of_another_stack_is_that_stack_s_to_write(capsys: Capture) -> None:
    secret = "kamaji: {controlPlane: edge, namespace: kamaji}"
    Path("tenants.yaml").write_text(FRAME.replace(secret, FROM_STACK))
    assert tenantry(capsys, "cluster", "register", "edge", "--context", "admin") == (
        2,
        "",
        "error: a run writes the kubeconfig of cluster 'edge': it comes from stack 'acme/clusters/edge'\n"
        "  fix: tenantry up dev; or remove 'from' from its 'secret'\n",
    )


# --- register ---------------------------------------------------------------------------------------------------


@pytest.fixture
def registering(monkeypatch: pytest.MonkeyPatch) -> tuple[Hub, NewCluster]:
    """The management cluster, and the cluster to register."""
    there, cluster = Hub(), NewCluster()
    there.objects[fleets.MARKER] = {"metadata": {"name": "tenantry"}, "data": {"cluster": "hub"}}
    monkeypatch.setattr("tenantry.cli.register.connect_management", lambda *_, **__: there.client())
    monkeypatch.setattr("tenantry.cli.register.connect", lambda *_: cluster.client("https://far.example.com"))
    monkeypatch.setattr("tenantry.cli.register.address_of", lambda *_: Address("https://far.example.com", ""))
    monkeypatch.setattr("tenantry.cluster.prepare.connect", cluster.connect)
    monkeypatch.setattr("tenantry.cluster.register.time.sleep", lambda _: None)
    return there, cluster


REGISTER = ("cluster", "register", "far", "--context", "admin", "--environment", "dev")


def test_register_adds_the_cluster_to_the_file_and_keeps_comments(
    capsys: Capture, registering: tuple[Hub, NewCluster]
) -> None:
    there, cluster = registering
    Path("tenants.yaml").write_text(f"# mine\n{FRAME}")
    code, out, err = tenantry(capsys, *REGISTER)
    assert (0, "https://far.example.com" in err) == (code, True)
    assert "Role clusters/tenantry-connection: created\n" in out
    assert "Secret clusters/far-kubeconfig: written, valid until 2030-01-31 00:00 UTC\n" in out
    assert "tenants.yaml: added cluster 'far'\n" in out
    text = Path("tenants.yaml").read_text()
    assert text.startswith("# mine\n")
    assert "kubeconfig: {secret: {name: far-kubeconfig, namespace: clusters, key: value}}" in text
    assert not [each for each in cluster.accepted if each in f"{out}{err}{text}"]
    again = tenantry(capsys, *REGISTER)
    assert (again[0], again[1]) == (
        0,
        "Secret clusters/far-kubeconfig: written, valid until 2030-01-31 00:00 UTC\n",
    )
    metadata = {"name": "far-kubeconfig", "namespace": "clusters", "labels": {"tenantry/registered": "far"}}
    there.objects["/api/v1/namespaces/clusters/secrets"] = {"metadata": {}, "items": [{"metadata": metadata}]}
    renewed = "far: renewed, valid until 2030-01-31 00:00 UTC\n"
    assert tenantry(capsys, "cluster", "register", "far", "--renew") == (0, renewed, "")
    cluster.accepted.clear()
    failed = (
        "far: not renewed: its token is not valid any more, or may not be renewed\n"
        "  fix: tenantry cluster register far --kubeconfig FILE --context NAME\n"
    )
    assert tenantry(capsys, "cluster", "register", "--all", "--renew", "-e", "dev") == (1, failed, "")
    code, printed, _ = tenantry(capsys, "cluster", "register", "--all", "--cronjob", "image", "-e", "dev")
    assert (0, ["clusters/far-kubeconfig/value"]) == (code, args_of(printed))


def args_of(printed: str) -> list[str]:
    *_, cronjob = yaml.safe_load_all(printed)
    (container,) = cronjob["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    return list(container["args"])


def test_register_as_a_dry_run_changes_nothing(capsys: Capture, registering: tuple[Hub, NewCluster]) -> None:
    code, out, _ = tenantry(capsys, *REGISTER, "--dry-run")
    assert (0, True) == (code, "Secret clusters/far-kubeconfig: would be written\n" in out)
    assert "+  far:" in out
    there, cluster = registering
    assert ([*there.objects], cluster.objects, Path("tenants.yaml").read_text()) == ([fleets.MARKER], {}, FRAME)


@pytest.mark.usefixtures("registering")
@table(
    "arguments, message",
    [
        (["far", "--environment", "dev"], "Name the context of an administrator of the cluster: --context NAME"),
        (["--all"], "Name a cluster. --all is for --renew and --cronjob, and needs --environment."),
        (["--all", "--renew"], "Name a cluster. --all is for --renew and --cronjob, and needs --environment."),
        ([], "Name a cluster."),
        (["edge", "--renew", "--cronjob", "image"], "--renew and --cronjob exclude each other."),
        (
            ["edge", "--context", "admin"],
            "the kubeconfig of cluster 'edge' is not this command's to write: it is 'kamaji'",
        ),
        (["edge", "--context", "admin", "--namespace", "a"], "--namespace: cluster 'edge' is declared already"),
        (["hub", "--context", "admin"], "'hub' is a management cluster"),
        (["far", "--context", "admin"], "cluster 'far' needs an environment"),
        (["far", "-e", "dev", "--context", "admin", "--valid", "5m"], "no token for less than 600 seconds"),
        (["--all", "--renew", "-e", "dev"], "no cluster of 'dev' is registered"),
        (["edge", "--renew"], "cluster 'edge' is not registered"),
    ],
)
def test_register_refuses_what_it_cannot_do(capsys: Capture, arguments: list[str], message: str) -> None:
    code, out, err = tenantry(capsys, "cluster", "register", *arguments)
    assert (2, "") == (code, out)
    assert message in err
    assert Path("tenants.yaml").read_text() == FRAME
