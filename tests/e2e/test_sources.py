"""Sources of all kinds, credentials and configs: from the file and the stack's secret config to what runs on both clusters."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tenantry.charts import OBJECTS
from tenantry_sandbox import content
from tests.e2e.clusters import Cluster, cluster_of, eventually
from tests.e2e.project import Project, Result, begun, make_fleet
from tests.registry import Registry, push_chart, serving

pytestmark = pytest.mark.e2e

AGE_KEY = "AGE-SECRET-KEY-1L0HPCTFZQ2Z55D780KYKUZ4Z52NJTEW85PJA04EQXP3PHADPSUFQ7305V5"
"""Made for the file that is encrypted below the fleet's content, and of no use elsewhere."""
VALUES = {
    "credentials.rocky.git.username": "flux",
    "credentials.rocky.git.password": "only-flux-knows",
    "credentials.rocky.pull.username": "robot",
    "credentials.rocky.pull.password": "pulls",
    "credentials.rocky.blobs.accesskey": "AKIAROCKY",
    "credentials.rocky.blobs.secretkey": "blobs-of-rocky",
    'credentials.rocky.sops["age.agekey"]': AGE_KEY,
    "credentials.rocky.words.GREETING": "first-secret-word",
    'credentials.rocky.values["values.yaml"]': "greeting: first-secret-value",
    "platformCredentials.pull.username": "robot",
    "platformCredentials.pull.password": "pulls",
}
PLAIN = ("flux", "robot", "pulls")
"""Values that stand elsewhere too: the names of users, and words of the fleet's."""
SECOND = {"credentials.rocky.words.GREETING": "second-secret-word"}
COMMAND = re.compile(r"pulumi config set --stack dev --secret --path 'tenantry:([^']+)'")
SECRETS = {f"Secret rocky/{name}" for name in ("blobs", "git", "pull", "sops", "values", "words")}
COPIES = {f"Secret clusters/rocky.{name}" for name in ("blobs", "git", "pull", "sops", "values", "words")}


class Told(list[str]):
    """Everything that pulumi has printed."""

    def run(self, project: Project, *arguments: str) -> Result:
        result = project.pulumi(*arguments, "--stack", "dev")
        self.append(result.text)
        return result

    def up(self, project: Project, *arguments: str) -> Result:
        return self.run(project, "up", "--yes", "--skip-preview", "--diff", *arguments)


@pytest.fixture(scope="module")
def told() -> Told:
    return Told()


@pytest.fixture(scope="module")
def rocky(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    made = make_fleet(tmp_path_factory.mktemp("sources") / "project", "sources")
    with begun(made, "dev"):
        yield made


hub = cluster_of("rocky", "hub")
edge = cluster_of("rocky", "edge")


PUBLIC = ("interval: 1h}, credentials: blobs}", "interval: 1h}}")
"""The edit that leaves the bucket without credentials."""


@pytest.fixture(scope="module")
def denied(rocky: Project, told: Told) -> Project:
    """The fleet after its first `up`, with a wrong password for Git and no credentials for the bucket."""
    rocky.set_secrets("dev", {**VALUES, "credentials.rocky.git.password": "guessed"})
    rocky.edit(*PUBLIC)
    told.up(rocky).ok()
    return rocky


@pytest.fixture(scope="module")
def ready(rocky: Project, told: Told) -> Project:
    """The fleet with the right credentials, and everything ready."""
    rocky.set_secrets("dev", VALUES)
    without, credentials = reversed(PUBLIC)
    if without in rocky.fleet.read_text():
        rocky.edit(without, credentials)
    told.up(rocky).ok()
    rocky.wait("dev")
    return rocky


@pytest.fixture(scope="module")
def changed(ready: Project, told: Told) -> dict[str, str]:
    """A second value for a secret is in use; what the preview said of that."""
    ready.set_secrets("dev", SECOND)
    told.append(ready.pulumi("preview", "--stack", "dev", "--diff").ok().text)
    previewed = ready.preview()
    told.up(ready).ok()
    return previewed


def data(cluster: Cluster, name: str) -> dict[str, str]:
    """What a ConfigMap of the tenant's holds; nothing if it does not exist."""
    found = cluster.find("ConfigMap", "rocky", name) or {}
    values: dict[str, str] = found.get("data", {})
    return values


def decoded(cluster: Cluster, namespace: str, name: str) -> dict[str, str]:
    found = cluster.find("Secret", namespace, name)
    assert found, f"Secret {namespace}/{name}"
    return {key: base64.b64decode(value).decode() for key, value in found["data"].items()}


def test_missing_values_of_the_platform_end_the_run_with_the_commands_that_set_them(
    rocky: Project, hub: Cluster
) -> None:
    refused = rocky.up()
    assert refused.code != 0
    assert "2 values missing in the stack's secret config" in refused.text
    assert set(COMMAND.findall(refused.text)) == {name for name in VALUES if name.startswith("platformCredentials.")}
    assert "kubernetes:" not in refused.text.partition("Diagnostics:")[0]
    assert hub.fleet_objects() == set()


@pytest.mark.usefixtures("denied")
def test_wrong_and_missing_credentials_do_not_open_a_source(hub: Cluster) -> None:
    for namespace in ("rocky", "clusters"):
        for kind, name, message in (
            ("GitRepository", "manifests", "authentication required"),
            ("Bucket", "blobs", "Access Denied"),
        ):
            hub.refused(
                kind, namespace, name if namespace == "rocky" else hub.shared(kind, namespace, f"rocky.{name}"), message
            )
    assert data(hub, "from-git") == data(hub, "from-bucket") == {}


def test_with_the_right_ones_everything_is_ready(ready: Project, told: Told) -> None:
    told.up(ready, "--expect-no-changes").ok()


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize(("cluster", "color"), [("hub", "blue"), ("edge", "green")])
def test_what_every_kind_of_source_held_runs_with_what_configs_and_credentials_said(
    request: pytest.FixtureRequest, cluster: str, color: str
) -> None:
    here: Cluster = request.getfixturevalue(cluster)
    assert data(here, "from-git") == {"kind": "GitRepository"}
    assert data(here, "from-bucket") == {"kind": "Bucket"}
    assert data(here, "from-registry") == {"color": color, "greeting": "first-secret-word"}
    assert data(here, "whole-chart") == {"color": color, "greeting": "first-secret-value"}
    assert data(here, "listed-chart") == {"color": "none", "greeting": "plain"}
    assert decoded(here, "rocky", "sealed") == {"token": "opened"}


@pytest.mark.usefixtures("ready")
def test_an_add_on_comes_from_where_the_platform_s_credentials_lead(edge: Cluster) -> None:
    agent = edge.find("ConfigMap", "default", "agent")
    assert agent
    assert agent["data"] == {"kind": "OCIRepository"}


def test_a_baseline_follows_the_version_of_the_chart_in_git_and_not_each_commit(ready: Project, hub: Cluster) -> None:
    assert _installed(hub, "edge-rocky-baseline") == ("tenantry-objects", VERSION)
    _push(ready, hub, {"tenants.yaml": "changed: true\n"}, VERSION)
    _push_chart(ready, hub, "tenantry-objects", NEWER[0])


def test_another_name_in_the_chart_of_baselines_reinstalls_nothing(ready: Project, hub: Cluster, edge: Cluster) -> None:
    edge.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "data", "namespace": "rocky"}})
    before = _uids(edge)
    _push_chart(ready, hub, "renamed", NEWER[1])
    assert _uids(edge) == before
    ready.up().ok()  # the guard knows that nothing is reinstalled
    edge.delete("ConfigMap", "rocky", "data")


def test_the_chart_of_baselines_can_come_pinned_from_a_registry_and_go_back_to_git(
    ready: Project, hub: Cluster, edge: Cluster
) -> None:
    before, in_git, installed = _uids(edge), ready.fleet.read_text(), _installed(hub, BASELINES[0])
    (line,) = (each for each in in_git.splitlines() if each.startswith("  chart: {git:"))
    with serving(Registry()) as registry:
        digest, address = push_chart(OBJECTS, registry), f"oci://{registry.host}/charts/tenantry-objects"
        pinned = f'  chart: {{oci: {{url: "{address}", ref: {{digest: "{digest}"}}, insecure: true}}}}'
        ready.fleet.write_text(in_git.replace(line, pinned))
        ready.up().ok()
        for release in BASELINES:  # helm-controller adds the digest to the version
            eventually(lambda release=release: f"{VERSION}+" in _installed(hub, release)[1] or None, release)  # type: ignore[misc]
        assert _installed(hub, BASELINES[0])[0] == "tenantry-objects"
        assert _uids(edge) == before
    ready.fleet.write_text(in_git)
    ready.up().ok()
    for release in BASELINES:
        eventually(lambda release=release: _installed(hub, release) == installed or None, release)  # type: ignore[misc]
    assert _uids(edge) == before


CHART = OBJECTS / "Chart.yaml"
VERSION = str(yaml.safe_load(CHART.read_text())["version"])
NEWER = [f"{VERSION.rpartition('.')[0]}.{patch}" for patch in (101, 102)]
BASELINES = ("edge-rocky-baseline", "edge-movy-baseline")


def _uids(edge: Cluster) -> dict[str, str]:
    """What would be made anew if the baselines of the remote were installed anew."""
    found = {f"Namespace {name}": edge.get("", "v1", "Namespace", "namespaces", name) for name in ("rocky", "movy")}
    found["ConfigMap rocky/data"] = edge.find("ConfigMap", "rocky", "data")
    uids = {name: each["metadata"]["uid"] for name, each in found.items() if each}
    return uids | {each: uid for each, uid in edge.fleet_uids().items() if each.startswith("RoleBinding")}


def _installed(hub: Cluster, release: str) -> tuple[str, str]:
    """Name and version of the chart that helm-controller has installed last."""
    newest = ((hub.find("HelmRelease", "clusters", release) or {}).get("status", {}).get("history") or [{}])[0]
    return newest.get("chartName", ""), newest.get("chartVersion", "")


def _push_chart(project: Project, hub: Cluster, name: str, version: str) -> None:
    """Push the chart of baselines under a name and version, and wait until both releases have it."""
    chart = CHART.read_text().replace(f"version: {VERSION}", f"version: {version}")
    chart = chart.replace("name: tenantry-objects", f"name: {name}")
    _push(project, hub, {"charts/objects/Chart.yaml": chart}, version)
    for release in BASELINES:
        eventually(lambda release=release: _installed(hub, release) == (name, version) or None, release)  # type: ignore[misc]


def _push(project: Project, hub: Cluster, changes: dict[str, str], version: str) -> None:
    """Push to the repository with the chart of baselines, and wait until Flux has packed the chart of the commit."""

    def status(kind: str, name: str) -> dict[str, Any]:
        return (hub.find(kind, "clusters", name) or {}).get("status", {})

    commit = content.commit(project.sandbox, "tenantry/fleet", changes, "change")
    source = ("GitRepository", hub.shared("GitRepository", "clusters", "tenantry-system.fleet"))
    hub.reconcile(source[0], "clusters", source[1])
    eventually(lambda: status(*source)["artifact"]["revision"].endswith(commit) or None, "the commit")
    chart = ("HelmChart", hub.shared("HelmChart", "clusters", "tenantry-system.fleet.objects"))

    def is_packed() -> bool | None:
        """The controller writes the commit down before it packs the chart, and the version afterwards."""
        found = status(*chart)
        seen = str(found.get("observedSourceArtifactRevision")).endswith(commit)
        return (seen and found["artifact"]["revision"] == version) or None

    eventually(is_packed, f"version {version} of the chart, of the commit")


@pytest.mark.usefixtures("ready")
def test_clusters_share_the_secrets_beside_their_kubeconfigs(hub: Cluster, edge: Cluster) -> None:
    made = {each for each in hub.fleet_objects() if each.startswith("Secret ")}
    assert made == {*SECRETS, *COPIES, "Secret clusters/tenantry-system.pull"}
    login = {"username": "flux", "password": "only-flux-knows"}
    assert login == decoded(hub, "rocky", "git") == decoded(hub, "clusters", "rocky.git")
    registry = json.loads(decoded(hub, "rocky", "pull")[".dockerconfigjson"])["auths"]
    assert [(each["username"], each["password"]) for each in registry.values()] == [("robot", "pulls")]
    assert edge.find("Secret", "rocky", "git") is None


@pytest.mark.parametrize("name", ["words", "rocky.words", "edge-admin-kubeconfig"])
def test_another_tenant_of_the_same_remote_can_not_name_them(rocky: Project, name: str) -> None:
    sound = rocky.fleet.read_text()
    rocky.edit(
        "helm: {source: charts, chart: greeter, version: 1.x}",
        f"helm: {{source: charts, chart: greeter, version: 1.x, valuesFrom: [{{kind: Secret, name: {name}}}]}}",
    )
    refused = rocky.tenantry("validate")
    rocky.fleet.write_text(sound)
    assert refused.code == 2
    assert f"tenant 'movy' names credentials '{name}', which are not declared" in refused.text


def test_a_changed_value_reaches_flux_without_another_change(
    changed: dict[str, str], hub: Cluster, edge: Cluster
) -> None:
    assert changed == {"Secret rocky/words": "update", "Secret clusters/rocky.words": "update"}
    for cluster in (hub, edge):
        cluster.until("ConfigMap", "rocky", "from-registry", second, "the new value to be applied")


def second(found: dict[str, Any]) -> bool:
    return bool(found["data"]["greeting"] == "second-secret-word")


@pytest.mark.usefixtures("changed")
def test_no_value_stands_in_any_output_in_the_state_or_in_the_stack_s_file(rocky: Project, told: Told) -> None:
    told.append(rocky.pulumi("preview", "--stack", "dev", "--json").ok().out)
    told.append(rocky.pulumi("stack", "output", "--stack", "dev", "--json").ok().out)
    told.append(rocky.tenantry("render").ok().text)
    told.append(rocky.tenantry("status", "--environment", "dev").text)
    told.append((rocky.root / "Pulumi.dev.yaml").read_text())
    files = [file for file in (rocky.sandbox / "state").rglob("*") if file.is_file()]
    assert any(file.name == "dev.json" for file in files)
    texts = [*told, *(file.read_bytes().decode("utf-8", "replace") for file in files)]
    for value in {*VALUES.values(), *SECOND.values()} - {*PLAIN}:
        for form in (value, base64.b64encode(value.encode()).decode()):
            assert not any(form in text for text in texts), "a value that is secret was found"


def test_credentials_can_become_those_of_a_registry_and_back(ready: Project, hub: Cluster, told: Told) -> None:
    """Of what Flux reads, a Helm repository with `type: oci` takes both forms."""
    rocky = ready
    sound = rocky.fleet.read_text()
    rocky.set_secrets("dev", {f"credentials.rocky.index.{key}": "robot" for key in ("username", "password")})
    source = 'charts: {helm: {url: "oci://{host}/charts", type: oci, insecure: true}'
    login, registry = "{keys: [username, password]}", '{registry: "sandbox.test"}'
    for written, expected in ((login, "Opaque"), (registry, "kubernetes.io/dockerconfigjson"), (login, "Opaque")):
        text = sound.replace(source, f"{source}, credentials: index")
        rocky.fleet.write_text(
            text.replace("    credentials:\n      git:", f"    credentials:\n      index: {written}\n      git:")
        )
        told.up(rocky).ok()
        made = hub.find("Secret", "rocky", "index")
        assert made
        assert made["type"] == expected
    rocky.fleet.write_text(sound)
    told.up(rocky).ok()
    assert not hub.find("Secret", "rocky", "index")


def test_what_is_removed_from_the_file_takes_its_secrets_along(ready: Project, hub: Cluster, told: Told) -> None:
    rocky = ready
    sound = rocky.fleet.read_text()
    rocky.edit("      from-bucket: {kustomize: {source: blobs}}\n", "")
    told.up(rocky).ok()
    rocky.fleet.write_text(sound)
    assert not {each for each in hub.fleet_objects() if "blobs" in each}
