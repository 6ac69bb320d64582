"""`tenantry cluster discover` against an API server in memory: what it writes, keeps, and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tenantry.cli import discover as discover_module
from tenantry.load import load_fleet
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.memory import Memory

MAIN = """\
apiVersion: tenantry/v1
include: [{clusters: "clusters.d/*.yaml"}]
environments:
  dev: {management: hub}
  prod: {management: hub-prod}
clusterGroups:
  edge: {environments: [dev], labels: {tier: edge}, kubeconfig: {kamaji: {controlPlane: "{cluster}", namespace: kamaji}}}
clusters:
  hub: {environments: [dev]}
  hub-prod: {environments: [prod]}
  near: {group: edge}
"""
FILE = Path("clusters.d/discovered.yaml")
PLANES = "/apis/kamaji.clastix.io/v1alpha1/tenantcontrolplanes"
CAPI = "/apis/cluster.x-k8s.io/v1beta1/clusters"
PROFILES = "/apis/multicluster.x-k8s.io/v1alpha1/clusterprofiles"
SETS, SECRETS = "/apis/apps/v1/statefulsets", "/api/v1/secrets"
HEAD = (
    "# Written by `tenantry cluster discover`, which adds new clusters and marks those that are gone."
    " Everything else is yours to edit.\nclusters:\n"
)


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(MAIN)
    memory = Memory()
    monkeypatch.setattr(discover_module, "connect_management", lambda *_, **__: memory.client())
    known(memory, PLANES, item("near", "kamaji"))
    return memory


def item(name: str, namespace: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace, **metadata}}


def known(hub: Memory, path: str, *items: dict[str, Any]) -> None:
    hub.objects[path] = {"items": list(items)}


def run(capsys: Capture, *options: str) -> tuple[int, str, str]:
    return tenantry(capsys, "cluster", "discover", "-e", "dev", *options)


def found(capsys: Capture, *options: str) -> Any:
    """The clusters in the file, after a run that wrote it."""
    code, _, err = run(capsys, *options)
    assert code == 0, err
    return yaml.safe_load(FILE.read_text())["clusters"]


def refused(capsys: Capture, *options: str) -> str:
    before = FILE.read_text() if FILE.exists() else None
    code, out, err = run(capsys, *options)
    assert (code, out) == (2, "")
    assert before == (FILE.read_text() if FILE.exists() else None)
    return err


def test_new_clusters_are_written_into_a_file_that_the_fleet_includes(capsys: Capture, hub: Memory) -> None:
    known(hub, PLANES, item("near", "kamaji"), item("edge-1", "kamaji"), item("far", "other"))
    code, out, err = run(capsys)
    assert (code, out) == (
        0,
        "+ edge-1: TenantControlPlane kamaji/edge-1\n"
        "+ far: TenantControlPlane other/far\n"
        "clusters.d/discovered.yaml: 2 new, 0 gone, 1 declared already\n",
    )
    assert err == (
        "note: Cluster API is not installed on the management cluster\n"
        "note: ClusterProfile is not installed on the management cluster\n"
    )
    assert FILE.read_text() == HEAD + (
        "  edge-1:\n    environments: [dev]\n    kubeconfig: {kamaji: {controlPlane: edge-1, namespace: kamaji}}\n"
        "  far:\n    environments: [dev]\n    kubeconfig: {kamaji: {controlPlane: far, namespace: other}}\n"
    )
    assert list(load_fleet(Path("tenants.yaml")).clusters) == ["hub", "hub-prod", "near", "edge-1", "far"]
    assert run(capsys) == (0, "clusters.d/discovered.yaml: 0 new, 0 gone, 3 declared already\n", err)


def test_a_group_is_named_and_only_what_differs_is_written(capsys: Capture, hub: Memory) -> None:
    labels = {"region.example.com/name": "eu", "other": "x"}
    known(hub, PLANES, item("near", "kamaji"), item("edge-1", "kamaji", labels=labels), item("far", "other"))
    options = ("--group", "edge", "--labels", "region.example.com/")
    assert found(capsys, *options) == {
        "edge-1": {"group": "edge", "labels": {"region.example.com/name": "eu"}},
        "far": {"group": "edge", "kubeconfig": {"kamaji": {"controlPlane": "far", "namespace": "other"}}},
    }
    assert load_fleet(Path("tenants.yaml")).clusters["edge-1"].labels["tier"] == "edge"


def test_every_tool_has_its_kind_of_kubeconfig(capsys: Capture, hub: Memory) -> None:
    owner = [{"kind": "KamajiControlPlane", "name": "c"}]
    known(hub, PLANES, item("near", "kamaji"), item("managed", "capi", ownerReferences=owner))
    known(hub, CAPI, item("managed", "capi"))
    known(hub, SETS, item("my-vcluster", "team", labels={"app": "vcluster", "release": "my"}))
    known(hub, PROFILES, item("member", "fleet"), item("silent", "fleet"))
    known(hub, SECRETS, item("member-kubeconfig", "fleet", labels={"x-k8s.io/cluster-profile": "member"}))
    code, _, err = run(capsys)
    assert (code, err) == (
        0,
        "note: ClusterProfile fleet/silent has no Secret with label x-k8s.io/cluster-profile, so it is left out\n",
    )
    assert {name: each["kubeconfig"] for name, each in yaml.safe_load(FILE.read_text())["clusters"].items()} == {
        "managed": {"capi": {"cluster": "managed", "namespace": "capi"}},
        "member": {"secret": {"name": "member-kubeconfig", "namespace": "fleet", "key": "Config"}},
        "my": {"vcluster": {"name": "my", "namespace": "team"}},
    }


def test_secrets_are_found_by_a_label_and_without_what_they_hold(capsys: Capture, hub: Memory) -> None:
    known(hub, SECRETS, {**item("bought-kubeconfig", "clusters"), "data": {"value": "bWFya2Vy"}})
    code, out, err = run(capsys, "--secrets", "example.com/cluster=true", "--key", "value", "--output", "json")
    assert code == 0
    assert "bWFya2Vy" not in out + err + FILE.read_text()
    assert json.loads(out)["added"] == {
        "bought": {
            "environments": ["dev"],
            "kubeconfig": {"secret": {"name": "bought-kubeconfig", "namespace": "clusters", "key": "value"}},
        }
    }
    asked = [parameters for _, path, parameters in hub.requests if path == SECRETS]
    assert asked == [{"limit": "500", "labelSelector": "example.com/cluster=true"}]


EDITED = """\
# ours
clusters:
  edge-1:  # in the attic
    environments: [dev]
    kubeconfig: {kamaji: {controlPlane: edge-1, namespace: kamaji}}
  edge-2: {group: edge, labels: {a: b}}   # flow
  edge-3:
    group: edge
    state: paused  # for now
  # the last one
"""


def test_what_is_gone_is_marked_and_all_else_stays_as_it_was_written(capsys: Capture, hub: Memory) -> None:
    FILE.parent.mkdir()
    FILE.write_text(EDITED)
    known(hub, PLANES, item("near", "kamaji"), item("new", "kamaji"))
    code, out, _ = run(capsys, "--group", "edge")
    assert (code, out) == (
        0,
        "+ new: TenantControlPlane kamaji/new\n"
        "~ edge-1: gone, so it gets 'state: decommissioned'\n"
        "~ edge-2: gone, so it gets 'state: decommissioned'\n"
        "~ edge-3: gone, so it gets 'state: decommissioned'\n"
        "clusters.d/discovered.yaml: 1 new, 3 gone, 1 declared already\n",
    )
    expected = EDITED.replace("    environments", "    state: decommissioned\n    environments")
    expected = expected.replace("{group: edge, labels", "{state: decommissioned, group: edge, labels")
    expected = expected.replace("state: paused ", "state: decommissioned ")
    assert FILE.read_text() == expected.replace("  # the last", "  new:\n    group: edge\n  # the last")
    assert run(capsys, "--check")[0] == 0


def test_a_cluster_that_is_being_deleted_is_gone(capsys: Capture, hub: Memory) -> None:
    FILE.parent.mkdir()
    FILE.write_text("clusters:\n  edge-1: {group: edge}\n")
    known(hub, PLANES, item("near", "kamaji"), item("edge-1", "kamaji", deletionTimestamp="2026-01-01T00:00:00Z"))
    assert found(capsys) == {"edge-1": {"state": "decommissioned", "group": "edge"}}
    known(hub, PLANES, item("near", "kamaji"), item("edge-1", "kamaji"))
    _, _, err = run(capsys)
    assert "note: cluster 'edge-1' is decommissioned in the file, but it is on the management cluster\n" in err


def test_a_cluster_of_another_file_that_is_gone_is_named_and_left_alone(capsys: Capture, hub: Memory) -> None:
    known(hub, PLANES)
    code, out, err = run(capsys)
    assert (code, out) == (0, "clusters.d/discovered.yaml: 0 new, 0 gone, 0 declared already\n")
    assert "note: cluster 'near' is gone; set 'state: decommissioned' where it is declared\n" in err
    assert not FILE.exists()


def test_nothing_is_gone_whose_kind_is_not_installed_or_whose_secret_is_there(capsys: Capture, hub: Memory) -> None:
    text = (
        "clusters:\n  a: {group: edge}\n"
        "  b: {environments: [dev], kubeconfig: {secret: {name: s, namespace: n, key: k}}}\n"
        "  c: {environments: [prod], kubeconfig: {vcluster: {name: c, namespace: n}}}\n"
    )
    FILE.parent.mkdir()
    FILE.write_text(text)
    del hub.objects[PLANES]
    known(hub, "/api/v1/namespaces/n/secrets", item("s", "n"))
    assert run(capsys, "--secrets", "a=b", "--key", "k")[:2] == (
        0,
        "clusters.d/discovered.yaml: 0 new, 0 gone, 0 declared already\n",
    )
    assert FILE.read_text() == text


def test_a_dry_run_shows_the_change_and_check_says_it_by_its_exit_code(capsys: Capture, hub: Memory) -> None:
    known(hub, PLANES, item("near", "kamaji"), item("1e3", "kamaji"))
    code, out, _ = run(capsys, "--dry-run")
    assert code == 0
    assert "clusters.d/discovered.yaml: 1 new, 0 gone, 1 declared already; not written\n" in out
    assert '+    kubeconfig: {kamaji: {controlPlane: "1e3", namespace: kamaji}}\n' in out
    assert run(capsys, "--check")[0] == 1
    assert not FILE.exists()
    run(capsys)
    assert run(capsys, "--check")[0] == 0


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ([("near", "other")], "'near' (TenantControlPlane other/near) is declared at tenants.yaml:11:3"),
        ([("x", "a"), ("x", "b")], "'x' is TenantControlPlane a/x and TenantControlPlane b/x"),
    ],
)
def test_a_name_that_is_taken_is_refused_with_ways_out(
    capsys: Capture, hub: Memory, items: list[tuple[str, str]], told: str
) -> None:
    known(hub, PLANES, item("near", "kamaji"), *(item(*each) for each in items))
    assert refused(capsys) == (
        f"error: discovered clusters have names of other clusters: {told}; nothing was written\n"
        "  fix: use --with-namespace, which names them NAMESPACE-NAME, or --prefix TEXT; or declare them by hand\n"
    )
    assert sorted(found(capsys, "--with-namespace")) == [f"{namespace}-{name}" for name, namespace in items]
    assert run(capsys, "--check")[0] == 0


def test_the_management_cluster_itself_is_left_out(capsys: Capture, hub: Memory) -> None:
    known(hub, CAPI, item("hub", "capi"))
    code, out, err = run(capsys)
    assert (code, out) == (0, "clusters.d/discovered.yaml: 0 new, 0 gone, 1 declared already\n")
    assert "note: Cluster capi/hub has the name of the management cluster, so it is left out\n" in err


def test_a_read_that_is_forbidden_names_the_right(capsys: Capture, hub: Memory) -> None:
    hub.refuse("GET", PLANES, 403, "forbidden")
    assert refused(capsys) == (
        "error: cannot read tenantcontrolplanes: HTTP 403\n"
        "  fix: grant the right to list tenantcontrolplanes.kamaji.clastix.io in all namespaces\n"
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ("--group", "egde"),
            "declares no group 'egde'\n  fix: name another; declared: edge (closest: edge)\n",
        ),
        (("--secrets", "a=b"), "--secrets and --key belong together"),
        (("--prefix", "No_"), "cannot be declared as 'No_new': must be lower-case letters"),
    ],
)
def test_options_that_do_not_fit_are_refused(capsys: Capture, hub: Memory, options: tuple[str, ...], told: str) -> None:
    known(hub, PLANES, item("near", "kamaji"), item("new", "kamaji"))
    assert told in refused(capsys, *options)


def test_an_environment_that_is_not_declared_is_refused(capsys: Capture) -> None:
    assert tenantry(capsys, "cluster", "discover", "-e", "dve") == (
        2,
        "",
        "error: tenants.yaml declares no environment 'dve'\n  fix: name 'dev'\n",
    )


def test_a_file_that_cannot_be_edited_is_refused(capsys: Capture, hub: Memory) -> None:
    FILE.parent.mkdir()
    FILE.write_text("clusters: {a: &a {group: edge}, b: *a}\n")
    known(hub, PLANES, item("near", "kamaji"), item("b", "kamaji"))
    assert "cannot be edited by command: the edit would change every '*a' too" in refused(capsys)


def test_clusters_in_brackets_get_more(capsys: Capture, hub: Memory) -> None:
    FILE.parent.mkdir()
    FILE.write_text("clusters: {a: {group: edge}}\n")
    known(hub, PLANES, item("near", "kamaji"), item("a", "kamaji"), item("new", "kamaji"))
    assert found(capsys, "--group", "edge") == {"a": {"group": "edge"}, "new": {"group": "edge"}}


def test_an_empty_file_and_one_that_is_not_included_yet_are_filled(capsys: Capture, hub: Memory) -> None:
    known(hub, PLANES, item("near", "kamaji"), item("new", "kamaji"))
    other = Path("more/found.yaml")
    other.parent.mkdir()
    other.write_text("# mine\nclusters: {}\n")
    code, _, err = run(capsys, "--output-file", str(other), "--group", "edge")
    assert code == 0
    assert other.read_text() == "# mine\nclusters:\n  new: {group: edge}\n"
    assert (
        'note: tenants.yaml does not include more/found.yaml yet; add to it: include: [{clusters: "more/found.yaml"}]'
        in err
    )
    assert run(capsys, "--output-file", str(other), "--check")[0] == 0


NAMESPACES, DEPLOYMENTS = "/api/v1/namespaces", "/apis/apps/v1/deployments"


def of_tenant(name: str, tenant: str = "rocky", **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {"toolkit.fluxcd.io/tenant": tenant, **labels}}}


LEFT_OUT = "is in a tenant's namespace, so it is left out; if it is a cluster of the fleet, declare it by hand"


@pytest.mark.parametrize(
    ("path", "made", "what"),
    [
        (DEPLOYMENTS, item("evil", "rocky", labels={"app": "vcluster", "release": "evil"}), "Deployment rocky/evil"),
        (SETS, item("evil", "rocky", labels={"app": "vcluster", "release": "near"}), "StatefulSet rocky/evil"),
        (PLANES, item("evil", "rocky"), "TenantControlPlane rocky/evil"),
        (CAPI, item("evil", "rocky"), "Cluster rocky/evil"),
        (SECRETS, item("evil-kubeconfig", "rocky", labels={"cluster": "true"}), "Secret rocky/evil-kubeconfig"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_a_tenant_makes_in_its_namespace_is_no_cluster(
    path: str, made: dict[str, Any], what: str, capsys: Capture, hub: Memory
) -> None:
    known(hub, NAMESPACES, of_tenant("rocky"), item("kamaji", ""))
    known(hub, PLANES, item("near", "kamaji"), *([made] if path == PLANES else []))
    if path != PLANES:
        known(hub, path, made)
    code, out, err = run(capsys, "--secrets", "cluster=true", "--key", "value")
    assert (code, out) == (0, "clusters.d/discovered.yaml: 0 new, 0 gone, 1 declared already\n")
    assert f"note: {what} (tenant rocky) {LEFT_OUT}\n" in err


def test_a_namespace_with_the_role_of_a_tenant_alone_is_one(capsys: Capture, hub: Memory) -> None:
    known(hub, NAMESPACES, {"metadata": {"name": "blue", "labels": {"toolkit.fluxcd.io/role": "tenant"}}})
    known(hub, PLANES, item("near", "kamaji"), item("evil", "blue"))
    assert f"TenantControlPlane blue/evil (tenant blue) {LEFT_OUT}" in run(capsys)[2]


def test_a_profile_does_not_take_its_kubeconfig_from_a_tenant(capsys: Capture, hub: Memory) -> None:
    known(hub, NAMESPACES, of_tenant("rocky"))
    known(hub, PROFILES, item("far", "fleet"))
    claim = {"x-k8s.io/cluster-profile": "far", "x-k8s.io/cluster-profile-namespace": "fleet"}
    known(hub, SECRETS, item("mine", "rocky", labels=claim))
    assert "note: ClusterProfile fleet/far has no Secret" in run(capsys)[2]


def test_a_cluster_that_is_declared_in_a_tenants_namespace_is_not_gone(capsys: Capture, hub: Memory) -> None:
    kubeconfig = "kubeconfig: {kamaji: {controlPlane: own, namespace: rocky}}"
    FILE.parent.mkdir()
    FILE.write_text(f"clusters:\n  own: {{environments: [dev], {kubeconfig}}}\n")
    known(hub, NAMESPACES, of_tenant("rocky"))
    known(hub, PLANES, item("near", "kamaji"), item("own", "rocky"))
    code, out, err = run(capsys)
    assert (code, out) == (0, "clusters.d/discovered.yaml: 0 new, 0 gone, 2 declared already\n")
    assert "left out" not in err


def test_of_several_management_clusters_one_is_asked_and_new_clusters_name_it(capsys: Capture, hub: Memory) -> None:
    several = MAIN.replace("dev: {management: hub}", "dev: {management: [hub, hub-us]}")
    several = several.replace(
        "near: {group: edge}", "near: {group: edge, management: hub}\n  hub-us: {environments: [dev]}"
    )
    Path("tenants.yaml").write_text(several)
    assert "fix: --hub hub, or another one of: hub, hub-us" in refused(capsys)
    assert "name one of: hub, hub-us" in refused(capsys, "--hub", "hub-prod")
    known(hub, PLANES, item("far", "kamaji"))
    added = found(capsys, "--hub", "hub-us", "--group", "edge")
    assert added == {"far": {"group": "edge", "management": "hub-us"}}, "near is another one's, so it is not gone"
