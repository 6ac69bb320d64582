"""A change reaches six remote clusters in three waves, with the real engine and controllers, and stops where it fails.

The tests are one story: each begins where the one before ended.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tenantry_sandbox.content import commit
from tests.e2e.audit import changes_by_the_provider, deletions
from tests.e2e.clusters import KINDS, Cluster, cluster_of, eventually
from tests.e2e.project import Project, Result, begun, make_fleet

pytestmark = pytest.mark.e2e

WAVES = (("edge-1",), ("edge-2", "edge-3"), ("edge-4", "edge-5", "edge-6"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    made = make_fleet(tmp_path_factory.mktemp("rollouts") / "project", "rollouts", ("deploy", "operate"))
    with begun(made, "dev"):
        yield made


hub = cluster_of("project", "hub")


def test_a_first_installation_goes_from_wave_to_wave(project: Project, hub: Cluster) -> None:
    begun = time.monotonic()
    result = project.up().ok()
    print(f"first installation: {time.monotonic() - begun:.1f} s")
    assert "waiting: wave 1 of 3 (canary): edge-1: " in result.text
    assert "waiting: wave 2 of 3 (early): " in result.text
    _is_in_order(changes_by_the_provider(project, "hub"), "roll-web")
    _is_in_order(changes_by_the_provider(project, "hub"), "roll-baseline")
    for each in _apps(hub):
        hub.wait_ready(each["kind"], "clusters", each["metadata"]["name"])
    # Flux writes conditions before the history of a release.
    hub.wait_stored("clusters", *(each["metadata"]["name"] for each in _apps(hub) if each["kind"] == "HelmRelease"))


def _of_kind(cluster: Cluster, api: str, plural: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = cluster.client._client._client.get(f"/{api}/{plural}").json()["items"]
    return found


def _apps(hub: Cluster) -> list[dict[str, Any]]:
    found = _of_kind(hub, "apis/kustomize.toolkit.fluxcd.io/v1", "kustomizations")
    return [*found, *_of_kind(hub, "apis/helm.toolkit.fluxcd.io/v2", "helmreleases")]


def test_a_run_without_changes_waits_for_nothing(project: Project) -> None:
    told = project.up("dev", "--expect-no-changes").ok()
    assert "wave" not in told.text


def test_a_change_that_fails_in_the_second_wave_leaves_the_third_alone_and_can_be_reverted(
    project: Project, hub: Cluster
) -> None:
    last, first = _objects(hub, WAVES[2]), _path(hub, "edge-1")
    original = project.fleet.read_text()
    project.edit("./v1/", "./v2/")
    project.edit("timeout: 3m", "timeout: 1h")
    result = project.tenantry(
        "sandbox", "run", "--", "tenantry", "up", "-e", "dev", "--yes", "--skip-preview", "--no-preflight"
    )
    assert result.code == 1, result.text
    # Long before its timeout: the failure is still there after another attempt. One cluster may be seen to fail first.
    failed = r"failed: wave 2 of 3 \(early\): edge-[23]: roll/web: path '\./v2/early' does not exist in the source"
    assert re.search(failed, result.text), result.text
    assert "roll/web on edge-4, roll/web on edge-5, roll/web on edge-6" in result.text
    assert "tenantry up dev --ignore waves roll/web" in result.text
    assert "Traceback" not in result.text
    assert ("1 error;" in result.text, "unhandled" in result.text) == (True, False), result.text
    assert (_path(hub, "edge-1"), _path(hub, "edge-2")) == ("./v2/canary", "./v2/early")
    assert _objects(hub, WAVES[2]) == last
    status = json.loads(project.tenantry("status", "-e", "dev", "--app", "web", "--output", "json").out)
    states = {each["cluster"]: each for each in status["apps"] if each["cluster"] in WAVES[2]}
    assert {each["status"] for each in states.values()} == {"outdated"}
    assert all(each["message"].startswith("not applied yet: wave 2 of 3 (early): ") for each in states.values()), states
    # While Flux tries again, nobody knows whether it fails again.
    eventually(lambda: _progress(project) == ["ready", "failed", "blocked"], "the wave to have failed")

    # What is held goes back to what was applied last, whoever deletes or edits it.
    http, path = hub.client._client._client, "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/clusters/kustomizations"
    http.delete(f"{path}/edge-4-roll-web").raise_for_status()
    eventually(lambda: hub.find("Kustomization", "clusters", "edge-4-roll-web") is None, "the deletion")
    headers = {"Content-Type": "application/merge-patch+json"}
    edited = {"spec": {"path": "./other"}}
    http.patch(f"{path}/edge-5-roll-web", json=edited, headers=headers).raise_for_status()
    again = _up(project, 1)
    assert "the state does not know what is on the cluster: the same again, after a refresh" in again.text, again.text
    assert {each: _path(hub, each) for each in WAVES[2]} == dict.fromkeys(WAVES[2], "./v1/late")
    assert _path(hub, "edge-2") == "./v2/early"
    last = _objects(hub, WAVES[2])

    project.fleet.write_text(original)
    begun = time.monotonic()
    project.up().ok()
    print(f"revert: {time.monotonic() - begun:.1f} s")
    assert (_path(hub, "edge-1"), _objects(hub, WAVES[2])) == (first, last)
    assert _version(project, "edge-1") == "v1"


def _progress(project: Project) -> list[str]:
    status = json.loads(project.tenantry("status", "-e", "dev", "--app", "web", "--output", "json").out)
    return [each["progress"] for each in status["waves"]]


def test_paths_and_values_and_configs_and_a_moved_branch_go_from_wave_to_wave(project: Project) -> None:
    _branch(project)
    project.edit("./v1/", "./v3/")
    project.edit("ref: {branch: main}", "ref: {branch: next}")
    project.edit("color: red", "color: green")
    project.edit("COLOR: blue", "COLOR: yellow")
    begun = len(changes_by_the_provider(project, "hub"))
    # The engine has fewer slots than the last wave has clusters.
    start = time.monotonic()
    result = project.up("dev", "--parallel", "2").ok()
    print(f"a change through three waves: {time.monotonic() - start:.1f} s")
    assert "waiting: wave 2 of 3 (early): " in result.text
    changed = changes_by_the_provider(project, "hub")[begun:]
    _is_in_order(changed, "roll-web")
    _is_in_order(changed, "roll-db")
    # The gates have opened, so what came before them is there.
    for cluster in (*WAVES[0], *WAVES[1]):
        assert (_version(project, cluster), _color(project, cluster)) == ("next", "yellow")
    project.wait("dev")


def _up(project: Project, code: int, *options: str) -> Result:
    """`tenantry up`, which ends with a code."""
    told = project.engine("up", "-e", "dev", "--yes", "--skip-preview", "--no-preflight", "--no-wait", *options)
    assert told.code == code, told.text
    return told


def test_an_app_is_removed_from_the_first_wave_first(project: Project) -> None:
    """One app goes, and one leaves a cluster of each wave and stays on others."""
    text = project.fleet.read_text()
    kept = [each for each in text.splitlines(keepends=True) if "      db: {helm" not in each]
    project.fleet.write_text("".join(kept))
    project.edit("      web:\n", "      web:\n        clusters: {names: [edge-3, edge-4, edge-6]}\n")
    begun = len(deletions(project, "hub", "clusters"))
    project.pulumi("config", "set", "--stack", "dev", "tenantry:maxDeletions", "10").ok()
    result = project.engine("up", "-e", "dev", "--yes", "--skip-preview", "--no-preflight")
    assert result.code == 0, result.text
    assert result.text.count("the next wave loses what the file does not have any more") == 2, result.text
    gone = deletions(project, "hub", "clusters")[begun:]
    _is_in_order(gone, "roll-db")
    left = [each for each in gone if each.endswith("-roll-web")]
    assert left == [f"kustomizations/edge-{number}-roll-web" for number in (1, 2, 5)]


def test_a_change_waits_until_dev_runs_it(project: Project, hub: Cluster) -> None:
    """`live` comes after dev, on the same management cluster. In the end the file is as it was."""
    original = project.fleet.read_text()
    (project.root / "Pulumi.live.yaml").write_text((project.root / "Pulumi.dev.yaml").read_text())
    project.make_stack("live")
    own = 'namespace: "live-{tenant}", variables: {host: "http://sandbox.test"}'
    live = f"  live: {{management: hub, {own}, after: {{environment: dev, soak: 1h}}}}"
    project.edit("\ntemplates:", f"\n{live}\n\ntemplates:")
    project.edit("hub: {environments: [dev]}", "hub: {environments: [dev, live]}")
    site = (
        "site: {clusters: {names: [hub]}, helm: {source: charts, chart: plain, version: 1.0.0, values: {color: pink}}}"
    )
    project.edit("    apps:\n", f"    apps:\n      {site}\n")

    held = project.tenantry("sandbox", "run", "--", "tenantry", "up", "-e", "live", "--yes", "--skip-preview")
    assert held.code == 5, held.text
    waits = "waiting: waits until 'dev' runs it, ready for 1h: wave 3 of 3: hub: HelmRepository roll/charts is not applied yet"
    assert waits in held.text, held.text
    project.up("dev").ok()
    project.wait("dev")
    soaking = project.up("live").ok()
    assert "waits until 'dev' runs it, ready for 1h: wave 3 of 3 soaks until " in soaking.text, soaking.text
    assert hub.find("HelmRelease", "live-roll", "site") is None

    project.edit("soak: 1h", "soak: 1s")
    project.up("live").ok()
    assert hub.find("HelmRelease", "live-roll", "site")
    project.edit("color: pink", "color: green")
    assert "waits until 'dev' runs it" in project.up("live").ok().text
    project.fleet.write_text(original)


TAKES = ", postBuild: {substituteFrom: [{kind: ConfigMap, name: extra}]}"
EXTRA = "{extra: {data: {COLOR: red}}}"
FEW = "clusters: {names: [edge-1, edge-2, edge-3]}, "
OTHERS = "".join(
    f"""\
  {name}:
    configs: {EXTRA}
    sources: {{manifests: {{git: {{url: "{{host}}/git/roll/manifests.git", ref: {{branch: main}}, interval: 1h}}}}}}
    apps: {{web: {{{few}kustomize: {{source: manifests, path: "./v1/{ring}"{TAKES}}}}}}}
"""
    for name, few, ring in (("calm", "", "{ring}"), ("cool", "", "{ring}"), ("cord", FEW, "late"))
)
"""Three tenants beside `roll`, on the same clusters, but for those of the last wave that one comes to later."""


def test_a_tenant_whose_app_fails_is_held_and_two_others_reach_the_end(project: Project, hub: Cluster) -> None:
    """One of the others changes, and one comes to new clusters."""
    project.fleet.write_text(project.fleet.read_text() + OTHERS)
    _up(project, 0)
    project.wait("dev")
    project.edit(FEW, "")
    before = project.fleet.read_text()
    paths = _paths(hub, "calm")

    broken, others, new = (before.index(f"  {name}:") for name in ("calm", "cool", "cord"))
    changed = before[others:new].replace("./v1/", "./v3/").replace(TAKES, "").replace(f"    configs: {EXTRA}\n", "")
    project.fleet.write_text(
        before[:broken] + before[broken:others].replace("./v1/", "./none/") + changed + before[new:]
    )
    begun = len(changes_by_the_provider(project, "hub"))
    failed = _up(project, 1)
    text = r"failed: wave 1 of 3 \(canary\): edge-1: calm/web: "
    assert re.search(text, failed.text), failed.text
    assert _paths(hub, "calm") == {**paths, "edge-1": "./none/canary"}
    assert {each[:5] for each in _paths(hub, "cool").values()} == {"./v3/"}
    assert {each[:5] for each in _paths(hub, "cord").values()} == {"./v1/"}
    order = [each.rpartition("/")[2] for each in changes_by_the_provider(project, "hub")[begun:]]
    assert order.index("edge-6-cord-web") < order.index("edge-2-cool-web")
    # What the others no longer have is deleted although the run has failed.
    left = {each: bool(hub.find("ConfigMap", "clusters", f"edge-6.{each}.extra")) for each in ("calm", "cool")}
    assert left == {"calm": True, "cool": False}

    again = _up(project, 1)
    assert re.search(text, again.text), "what has failed in the run before is not taken for good"
    project.fleet.write_text(before)


def _paths(hub: Cluster, tenant: str) -> dict[str, str]:
    """The path of a tenant's app on each remote cluster."""
    return {each: _spec(hub, f"clusters/{each}-{tenant}-web")["path"] for wave in WAVES for each in wave}


def _spec(hub: Cluster, name: str) -> dict[str, Any]:
    """Of a Kustomization."""
    found = hub.find("Kustomization", *name.split("/"))
    assert found
    return dict(found["spec"])


def _is_in_order(changed: list[str], name: str) -> None:
    """Whether an object of each cluster was changed, and all of a wave before any of the next."""
    at = [
        [index for index, each in enumerate(changed) if each.endswith(f"/{cluster}-{name}")]
        for wave in WAVES
        for cluster in wave
    ]
    assert all(at), (name, changed)
    one, two, three = at[:1], at[1:3], at[3:]
    for before, after in ((one, two), (two, three)):
        assert max(map(max, before)) < min(map(min, after)), (name, changed)


def _objects(hub: Cluster, clusters: tuple[str, ...]) -> dict[str, Any]:
    """What tells a change of each of the fleet's objects for some clusters, but for its status, which Flux writes when it likes."""
    found: dict[str, Any] = {}
    for group, version, kind, plural in KINDS:
        path = f"/{f'apis/{group}' if group else 'api'}/{version}/{plural}"
        selector = f"tenantry/cluster in ({','.join(clusters)})"
        answer = hub.client._client._client.get(path, params={"labelSelector": selector})
        for item in answer.json().get("items", ()) if answer.status_code == 200 else ():
            metadata: dict[str, Any] = item["metadata"]
            content = metadata.get("generation") or metadata["resourceVersion"]
            found[f"{kind} {metadata['name']}"] = content, metadata.get("labels"), metadata.get("annotations")
    assert found
    return found


def _path(hub: Cluster, cluster: str) -> str:
    found = hub.find("Kustomization", "clusters", f"{cluster}-roll-web")
    assert found
    return str(found["spec"]["path"])


def _data(project: Project, cluster: str, name: str = "web") -> dict[str, str]:
    """What an app has put on a remote cluster."""
    with closing(Cluster(project.kubeconfig(cluster))) as remote:
        found = remote.find("ConfigMap", "roll", name)
    return dict(found["data"]) if found else {}


def _version(project: Project, cluster: str) -> str:
    return _data(project, cluster)["version"]


def _color(project: Project, cluster: str) -> str:
    return _data(project, cluster)["color"]


def _branch(project: Project) -> None:
    """Push a branch `next` with a version of that name; `main` stays as it is."""
    (repository,) = project.sandbox.rglob("roll/manifests.git")
    git = ["git", "-C", str(repository)]
    main = subprocess.run([*git, "rev-parse", "main"], check=True, capture_output=True, text=True).stdout.strip()
    text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {version: next, color: "${COLOR:=none}"}\n'
    after = commit(
        project.sandbox,
        "roll/manifests",
        {f"v3/{ring}/settings.yaml": text for ring in ("canary", "early", "late")},
        "a",
    )
    subprocess.run([*git, "update-ref", "refs/heads/next", after], check=True)
    subprocess.run([*git, "update-ref", "refs/heads/main", main], check=True)
