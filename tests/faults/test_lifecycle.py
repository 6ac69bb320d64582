"""How tenants and clusters leave, and what keeps them from leaving by mistake: a protected environment from up to nothing."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tenantry_sandbox.content import commit
from tests.e2e.clusters import Cluster, eventually
from tests.e2e.project import Project, Result, deployed, make_project
from tests.faults.parts import frozen
from tests.faults.report import Results, Row

pytestmark = [pytest.mark.e2e, pytest.mark.faults]

MOVY = "\n  # Deploys new versions of its chart.\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    made = make_project(tmp_path_factory.mktemp("lifecycle") / "project")
    made.edit("    management: hub-dev\n", "    management: hub-dev\n    protected: true\n")
    with deployed(made, "dev"):
        yield made


@pytest.fixture(scope="module")
def hub(project: Project) -> Iterator[Cluster]:
    with closing(Cluster(project.kubeconfig("hub-dev"))) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def edge(project: Project) -> Iterator[Cluster]:
    with closing(Cluster(project.kubeconfig("edge-1"))) as cluster:
        yield cluster


def noted(results: Results, what: str, verdict: str) -> AbstractContextManager[None]:
    return results.timed("lifecycle", {"what": what}, verdict)


@contextmanager
def fleet_as(project: Project, text: str) -> Iterator[None]:
    """Another tenants.yaml for a while."""
    before = project.fleet.read_text()
    project.fleet.write_text(text)
    try:
        yield
    finally:
        project.fleet.write_text(before)


def without_tenants(project: Project) -> str:
    return project.fleet.read_text().partition("\ntenants:")[0] + "\n"


def test_a_protected_environment_loses_no_tenant_that_was_not_given_up(
    project: Project, hub: Cluster, results: Results
) -> None:
    before = hub.fleet_uids()
    what = "a tenant without `state: offboarding` is removed from a protected environment: preview, then up"
    with fleet_as(project, project.fleet.read_text().partition(MOVY)[0]), noted(results, what, "refused"):
        for run in (project.preview_of, project.up):
            refused = run("dev")
            assert refused.code != 0
            assert "environment 'dev' is protected, and this run would remove" in refused.text
            assert "tenant 'movy' with its apps and rights, but not its data, on edge-1, hub-dev" in refused.text
    assert hub.fleet_uids() == before


def test_forged_labels_in_a_tenant_s_namespace_change_no_refusal(
    project: Project, hub: Cluster, results: Results
) -> None:
    forged = [_forged(*each) for each in (("hub-dev", NAMED), ("edge-1", NAMED), ("broken", [{"kind": "Namespace"}]))]
    for each in forged:
        hub.create(each)
    what = "releases in a tenant's namespace say that a neighbour was given up, and one is malformed; then the neighbour is removed"
    with fleet_as(project, project.fleet.read_text().partition(MOVY)[0]), noted(results, what, "refused"):
        refused = project.up()
    assert refused.code != 0
    assert "environment 'dev' is protected, and this run would remove" in refused.text
    assert "tenant 'movy' with its apps and rights, but not its data, on edge-1, hub-dev" in refused.text
    unchanged = project.preview_of("dev").ok()
    assert "3 objects with labels of environment 'dev' where the fleet puts no such object" in unchanged.text
    for each in forged:
        hub.delete("HelmRelease", "rocky", each["metadata"]["name"])


NAMED = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "movy"}}]


def _forged(cluster: str, objects: list[dict[str, Any]]) -> dict[str, Any]:
    """What looks like the baseline of tenant movy on a cluster, marked for removal, in the namespace of tenant rocky."""
    labels = {
        "app.kubernetes.io/managed-by": "tenantry",
        "tenantry/environment": "dev",
        "tenantry/cluster": cluster,
        "toolkit.fluxcd.io/tenant": "movy",
        "tenantry/state": "offboarding",
    }
    chart = {"kind": "HelmChart", "name": "none"}
    return {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": {"name": f"forged-{cluster}", "namespace": "rocky", "labels": labels},
        "spec": {
            "interval": "1h",
            "suspend": True,
            "serviceAccountName": "rocky",  # else the admission policy refuses it
            "chartRef": chart,
            "values": {"objects": objects},
        },
    }


MARKER = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "tenantry", "namespace": "fleet-system"},
    "data": {"cluster": "hub-dev"},
}
"""What makes the management cluster the environment's own for another `platform.namespace`, as `bootstrap` does."""
CHART = "          chart: movy-web\n          version: 1.x\n"
OTHER = "          chart: tenantry-objects\n          version: 0.x\n"
"""A chart that installs nothing without `objects` in its values."""
REINSTALL = "reinstall/edge-1/movy/web"


def test_another_platform_namespace_is_refused_as_it_would_reinstall_every_baseline(
    project: Project, hub: Cluster, edge: Cluster, results: Results, tmp_path: Path
) -> None:
    before, there = hub.fleet_uids(), edge.fleet_uids()
    hub.apply("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fleet-system"}})
    hub.create(MARKER)
    base = tmp_path / "tenants.yaml"
    base.write_text(project.fleet.read_text())
    text = base.read_text().replace("\nplatform:\n", "\nplatform:\n  namespace: fleet-system\n")
    what = "`platform.namespace` is changed, and the management cluster bootstrapped for it: `tenantry up`, `diff`"
    with fleet_as(project, text), noted(results, what, "refused"):
        diff = project.tenantry("diff", str(base), "--environment", "dev")
        for run in (diff, tenantry_up(project)):
            assert run.code == 4
            assert "the baseline of tenant 'rocky' on edge-1 (storageNamespace tenantry-system -> fleet-" in run.text
            assert "put 'platform.namespace: tenantry-system' back" in run.text
    hub.remove_namespaces("fleet-system")
    assert (hub.fleet_uids(), edge.fleet_uids()) == (before, there)


def tenantry_up(project: Project) -> Result:
    run = ("tenantry", "up", "-e", "dev", "--yes", "--skip-preview", "--no-preflight")
    return project.tenantry("sandbox", "run", "--", *run)


def test_another_chart_of_an_app_is_refused_unless_a_permission_names_it(
    project: Project, hub: Cluster, edge: Cluster, results: Results, tmp_path: Path
) -> None:
    before, others = hub.fleet_uids(), {each: uid for each, uid in edge.fleet_uids().items() if "movy" not in each}
    base = tmp_path / "tenants.yaml"
    base.write_text(project.fleet.read_text())
    project.edit(CHART, OTHER)
    with noted(results, "`helm.chart` of an app is another one", "refused"):
        runs = [project.up(), project.tenantry("diff", str(base), "--environment", "dev")]
    for run in runs:
        assert "app 'web' of tenant 'movy' on edge-1 (chart movy-web -> tenantry-objects)" in run.text
        assert f"--path 'tenantry:allowDeletions[0]' {REINSTALL}" in run.text
    assert (runs[0].code != 0, runs[1].code) == (True, 4)
    assert hub.fleet_uids() == before
    project.pulumi("config", "set", "--stack", "dev", "--path", "tenantry:allowDeletions[0]", REINSTALL).ok()
    with noted(results, "`helm.chart` of an app is another one, and a permission names the app", "installed anew"):
        project.up().ok()
        eventually(lambda: _chart_of(hub) == "tenantry-objects", "the other chart")
    project.fleet.write_text(base.read_text())
    project.up().ok()
    eventually(lambda: _chart_of(hub) == "movy-web", "the former chart")
    project.wait("dev")
    project.pulumi("config", "rm", "--stack", "dev", "--path", "tenantry:allowDeletions[0]").ok()
    assert {each: uid for each, uid in edge.fleet_uids().items() if "movy" not in each} == others


def _chart_of(hub: Cluster) -> str:
    """The chart of the release that helm-controller has recorded last."""
    release = hub.find("HelmRelease", "kamaji-edge", "edge-1-movy-web") or {}
    newest = (release.get("status", {}).get("history") or [{}])[0]
    return str(newest.get("chartName", "")) if newest.get("status") == "deployed" else ""


def test_an_emptied_file_is_refused_with_the_state_lost_too(project: Project, hub: Cluster, results: Results) -> None:
    before = hub.fleet_uids()
    project.pulumi("stack", "rm", "dev", "--yes", "--force", "--preserve-config").ok()
    project.pulumi("stack", "init", "dev").ok()
    what = "all tenants are removed, with the state lost too"
    with fleet_as(project, without_tenants(project)), noted(results, what, "refused"):
        refused = project.up()
        assert refused.code != 0
        assert "this run would remove" in refused.text
    with noted(results, "a stack whose state was lost is run again", "nothing created again"):
        project.up().ok()
    assert hub.fleet_uids() == before, "a new state takes over what is there, and makes nothing anew"


def test_destroy_leaves_the_tenants_of_a_protected_environment(
    project: Project, hub: Cluster, edge: Cluster, results: Results
) -> None:
    before = {each: uid for each, uid in hub.fleet_uids().items() if each.startswith(("Kustomization", "HelmRelease"))}
    with noted(results, "`pulumi destroy` of a protected environment", "tenants stay"):
        refused = project.destroy()
    assert refused.code != 0
    assert "cannot be deleted" in refused.text
    after = hub.fleet_uids()
    assert {each: after.get(each) for each in before} == before
    assert {"rocky", "movy"} <= hub.namespaces() & edge.namespaces()
    project.deploy("dev")


def test_a_kubeconfig_that_leads_to_another_cluster_is_refused(
    project: Project, hub: Cluster, results: Results
) -> None:
    before = hub.fleet_uids()
    project.pulumi("config", "set", "--stack", "dev", "tenantry:kubeconfig", str(project.kubeconfig("edge-1"))).ok()
    with noted(results, "the stack's kubeconfig leads to another cluster", "refused"):
        refused = project.up()
    project.pulumi("config", "set", "--stack", "dev", "tenantry:kubeconfig", str(project.kubeconfig("hub-dev"))).ok()
    assert refused.code != 0
    assert "is marked as 'edge-1', but the management cluster of environment 'dev' is 'hub-dev'" in refused.text
    assert hub.fleet_uids() == before


def test_another_reference_to_a_kubeconfig_is_refused(project: Project, results: Results) -> None:
    project.edit("controlPlane: edge-1,", "controlPlane: edge-2,")
    with noted(results, "a cluster's kubeconfig is another Secret", "refused"):
        refused = project.up()
    project.edit("controlPlane: edge-2,", "controlPlane: edge-1,")
    assert refused.code != 0
    assert "cluster 'edge-1' is reached through kamaji-edge/edge-1-admin-kubeconfig today" in refused.text


def test_another_name_for_a_cluster_is_refused(project: Project, hub: Cluster, results: Results) -> None:
    before = hub.fleet_uids()
    project.edit("  edge-1:\n", "  edge-one:\n")
    with noted(results, "a remote cluster gets another name in the file", "refused"):
        refused = project.up()
    project.edit("  edge-one:\n", "  edge-1:\n")
    assert refused.code != 0
    assert (
        "'edge-one' would be reached through kamaji-edge/edge-1-admin-kubeconfig, which is the kubeconfig of cluster 'edge-1'"
        in (refused.text)
    )
    assert hub.fleet_uids() == before


def test_a_decommissioned_cluster_gets_another_name_and_keeps_what_it_has(
    project: Project, hub: Cluster, edge: Cluster, results: Results
) -> None:
    before = edge.fleet_uids()
    database = edge.find("StatefulSet", "rocky", "db")
    for old, new in (("edge-1", "edge-one"), ("edge-one", "edge-1")):
        with noted(
            results, f"cluster `{old}` is decommissioned, then renamed to `{new}`", "the cluster's content stays"
        ):
            project.edit(f"  {old}:\n", f"  {old}:\n    state: decommissioned\n")
            project.up().ok()
            project.edit(f"  {old}:\n    state: decommissioned\n", f"  {new}:\n")
            project.up().ok()
            project.wait("dev")
        assert not {each for each in hub.fleet_objects() if f"/{old}-" in each}
        assert edge.fleet_uids() == before
    after = edge.find("StatefulSet", "rocky", "db")
    assert database
    assert after
    assert after["metadata"]["uid"] == database["metadata"]["uid"]
    assert project.preview() == {}


def test_a_paused_cluster_is_left_as_it_is(project: Project, hub: Cluster, edge: Cluster, results: Results) -> None:
    project.edit("    labels: {tier: edge, region: eu-west}\n    variables: {domain: edge-1", PAUSED)
    with noted(results, "a cluster is paused", "left as it is"):
        project.up().ok()
    path = "db/kustomization.yaml"
    text = (project.content / "git" / "rocky" / "manifests" / path).read_text()
    commit(
        project.sandbox, "rocky/manifests", {path: text + "commonAnnotations: {pushed: late}\n"}, "Push while paused"
    )
    shared = hub.shared("GitRepository", "kamaji-edge", "rocky.manifests")
    for namespace, source in (("rocky", "manifests"), ("kamaji-edge", shared)):
        hub.reconcile("GitRepository", namespace, source)
    eventually(lambda: _pushed(hub), "the push on the management cluster")
    assert not _pushed(edge)
    project.edit(PAUSED, "    labels: {tier: edge, region: eu-west}\n    variables: {domain: edge-1")
    with noted(results, "a cluster is active again, and gets what was pushed in the meantime", "as pushed"):
        project.up().ok()
        eventually(lambda: _pushed(edge), "the push on the cluster that is no longer paused")


PAUSED = "    labels: {tier: edge, region: eu-west}\n    state: paused\n    variables: {domain: edge-1"


def _pushed(cluster: Cluster) -> bool:
    found = cluster.find("StatefulSet", "rocky", "db")
    return bool(found) and found["metadata"].get("annotations", {}).get("pushed") == "late"


def commands_in(refused: Result) -> list[list[str]]:
    """What a refusal says to type."""
    assert refused.code != 0
    lines = (line.strip() for line in refused.text.splitlines())
    return [
        shlex.split(line)[1:] for line in lines if line.startswith(("tenantry set", "tenantry remove", "tenantry up"))
    ]


def type_in(project: Project, commands: list[list[str]]) -> None:
    for command in commands:
        if command[0] == "up":
            project.engine(*command, "--yes", "--skip-preview").ok()
        else:
            project.tenantry(*command).ok()


def with_data(cluster: Cluster, namespace: str) -> list[str]:
    """The uids of a namespace, and of data in it that is made if it is missing."""
    metadata = {"name": "data", "namespace": namespace}
    if cluster.get("", "v1", "ConfigMap", "configmaps", "data", namespace) is None:
        cluster.apply("configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
    there = cluster.get("", "v1", "Namespace", "namespaces", namespace)
    data = cluster.get("", "v1", "ConfigMap", "configmaps", "data", namespace)
    assert there
    assert data
    return [str(each["metadata"]["uid"]) for each in (there, data)]


BROKEN = """
      lost: {kustomize: {source: manifests, path: ./nowhere}}
      typo: {helm: {source: charts, chart: no-such-chart, version: 1.x}}
"""


def test_a_change_that_never_became_ready_is_undone_by_the_file_before(
    project: Project, hub: Cluster, results: Results
) -> None:
    before, text = hub.fleet_uids(), project.fleet.read_text()
    with fleet_as(project, text.rstrip("\n") + BROKEN):
        project.up().ok()
        for kind, name in (("Kustomization", "lost"), ("HelmRelease", "typo")):
            hub.refused(kind, "movy", name)
            hub.refused(kind, "kamaji-edge", f"edge-1-movy-{name}")
    bare = project.up()
    assert bare.code != 0
    assert "pulumi state unprotect --yes --stack dev 'urn:pulumi:dev::" in bare.text
    with noted(results, "new apps of which nothing was ever applied leave a protected environment", "gone in one run"):
        project.engine("up", "-e", "dev", "--yes", "--skip-preview").ok()
    assert hub.fleet_uids() == before


def test_a_tenant_leaves_one_cluster_by_the_commands_of_the_refusal_and_finds_its_data_again(
    project: Project, hub: Cluster, edge: Cluster, results: Results
) -> None:
    text, data = project.fleet.read_text(), with_data(edge, "movy")
    own = ("edge-1-movy", "kamaji-edge/movy")
    others = {each: uid for each, uid in hub.fleet_uids().items() if not any(name in each for name in own)}
    leave = ("set", "tenants.movy.apps.web.clusters.exclude", "[edge-1]")
    project.tenantry(*leave).ok()
    refused = project.up()
    assert "namespace 'movy' of tenant 'movy' on edge-1, which stays there with its data" in refused.text
    project.fleet.write_text(text)
    mark, up, *unmark = commands_in(refused)
    with noted(results, "a tenant leaves one cluster of a protected environment, in two runs", "its data stays"):
        type_in(project, [mark, up])
        project.tenantry(*leave).ok()
        type_in(project, unmark)
    assert not [each for each in hub.fleet_objects() if "edge-1-movy" in each]
    assert edge.deployment("movy", "web") is None
    assert with_data(edge, "movy") == data
    assert others.items() <= hub.fleet_uids().items()
    with fleet_as(project, text.replace("  movy:\n    role", "  movy:\n    adopt: true\n    role")):
        project.engine("up", "-e", "dev", "--yes", "--skip-preview").ok()
    project.fleet.write_text(text)
    assert edge.deployment("movy", "web")
    assert with_data(edge, "movy") == data


def test_a_cluster_that_answers_is_off_boarded_and_removed_in_two_runs(
    project: Project, hub: Cluster, edge: Cluster, results: Results
) -> None:
    text = project.fleet.read_text()
    with_data(edge, "rocky")
    change = ["remove", "cluster", "edge-1", "--cascade"]
    project.tenantry(*change).ok()
    refused = project.up()
    project.fleet.write_text(text)
    mark, announce, remove = commands_in(refused)
    assert mark == ["set", "clusters.edge-1.state", "removing"]
    with noted(results, "a cluster that answers is off-boarded and removed, in two runs", "nothing left"):
        type_in(project, [[*mark[:-1], "offboarding"], announce, change, remove])
    assert not [each for each in hub.fleet_objects() if "edge-1" in each]
    assert edge.fleet_objects() == set()
    assert not {"rocky", "movy"} & edge.namespaces()
    assert {"rocky", "movy"} <= hub.namespaces()
    project.fleet.write_text(text)
    project.engine("up", "-e", "dev", "--yes", "--skip-preview").ok()


def test_a_tenant_leaves_in_two_runs_and_takes_all_it_has(
    project: Project, hub: Cluster, edge: Cluster, results: Results
) -> None:
    project.edit("  movy:\n    role: edit\n", "  movy:\n    state: offboarding\n    role: edit\n")
    with noted(
        results,
        "a tenant leaves a protected environment, first run: `state: offboarding`",
        "nothing changed but marks",
    ):
        project.up().ok()
        hub.wait_stored("kamaji-edge", "edge-1-movy-baseline")
    others = {each: uid for each, uid in hub.fleet_uids().items() if "movy" not in each}
    project.fleet.write_text(project.fleet.read_text().partition(MOVY)[0])
    with noted(results, "a tenant leaves a protected environment, second run: it is removed", "nothing left"):
        project.up().ok()
    assert not {each for each in hub.fleet_objects() | edge.fleet_objects() if "movy" in each}
    assert "movy" not in hub.namespaces() | edge.namespaces()
    assert {each: uid for each, uid in hub.fleet_uids().items() if "movy" not in each} == others


def test_a_cluster_that_does_not_answer_is_given_up_in_two_runs(
    project: Project, hub: Cluster, edge: Cluster, results: Results
) -> None:
    kept = edge.fleet_uids()
    with frozen(project, "edge-1"):
        started = time.monotonic()
        project.edit("    labels: {tier: edge, region: eu-west}\n    variables: {domain: edge-1", GIVEN_UP)
        project.up().ok()
        project.edit(ENTRY, "")
        project.up().ok()
        took = time.monotonic() - started
        assert took < BOUND
        assert not {each for each in hub.fleet_objects() if "edge-1" in each}
        assert "ready" in project.tenantry("status", "--environment", "dev", "--wait", "--timeout", "120").ok().text
    assert edge.fleet_uids() == kept, "what runs on a cluster that was given up stays as it is"
    what = f"a cluster that does not answer is decommissioned and removed, in two runs (at most {BOUND} s)"
    results.add(Row("lifecycle", {"what": what}, took, "the cluster's content stays"))


BOUND = 300
"""Seconds for both runs: half of what Pulumi would wait for a single object whose finalizer needs the cluster."""
GIVEN_UP = PAUSED.replace("paused", "decommissioned")
ENTRY = """\
  edge-1:
    environments: [dev]
    labels: {tier: edge, region: eu-west}
    state: decommissioned
    variables: {domain: edge-1.dev.example.com}
    kubeconfig: {kamaji: {controlPlane: edge-1, namespace: kamaji-edge}}
"""


def test_without_protection_no_number_permits_that_the_last_tenant_goes(project: Project, results: Results) -> None:
    project.edit("    protected: true\n", "")
    project.up().ok()
    project.pulumi("config", "set", "--stack", "dev", "tenantry:maxDeletions", "10").ok()
    what = "the last tenant is removed, with `maxDeletions` raised: preview"
    with fleet_as(project, without_tenants(project)), noted(results, what, "refused"):
        refused = project.preview_of("dev")
    assert refused.code != 0
    assert "this run would remove every tenant of environment 'dev'" in refused.text
    assert "run `pulumi config set --stack dev --path 'tenantry:allowDeletions[0]' tenant/rocky`" in refused.text
    project.pulumi("config", "rm", "--stack", "dev", "tenantry:maxDeletions").ok()


def test_a_permission_names_what_may_go_and_is_told_of_where_it_is_not_used(project: Project, results: Results) -> None:
    permission = ("--stack", "dev", "--path", "tenantry:allowDeletions[0]")
    project.pulumi("config", "set", *permission, "tenant/rocky").ok()
    what = "the last tenant is removed, with `allowDeletions`: preview"
    with fleet_as(project, without_tenants(project)), noted(results, what, "allowed"):
        project.preview_of("dev").ok()
    unused = project.preview_of("dev").ok()
    assert "tenantry:allowDeletions permits the removal of tenant/rocky, which this run does not remove" in unused.text
    project.pulumi("config", "rm", *permission).ok()
    assert "tenantry:allowDeletions" not in project.preview_of("dev").ok().text


def test_without_protection_destroy_leaves_the_namespaces(project: Project, hub: Cluster, results: Results) -> None:
    with noted(results, "`pulumi destroy`, with the protection removed", "only namespaces left"):
        project.destroy().ok()
    assert hub.fleet_objects() == set()
    assert "rocky" in hub.namespaces()
