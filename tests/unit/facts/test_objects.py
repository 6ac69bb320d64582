"""Which objects differ between two plans, and what is told of those that go."""

from __future__ import annotations

from tenantry.facts.objects import Difference, Status, difference, differences
from tenantry.load import plan_all
from tenantry.messages.data import ABSENT
from tests.table import table
from tests.unit.facts.reviews import section, told
from tests.unit.texts import fleet, planned, rocky

APPS = "web: {kustomize: {source: manifests}}\ncache: {helm: {source: charts, chart: valkey, version: 1.0.0}}"
BASE = rocky(APPS, "clusters: {all: true}")
KAMAJI = "kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}"
GONE = "is removed: apps and rights are deleted, and namespaces stay with their data"


def between(before: str, after: str) -> Difference:
    return difference(planned(before), planned(after))


def test_a_plan_has_no_difference_to_itself() -> None:
    found = between(BASE, BASE)
    assert (found.removed, found.added, found.changed, told(BASE, BASE)) == ((), (), (), [])


def test_a_removed_tenant_is_a_danger_on_its_clusters_and_a_new_one_is_none() -> None:
    tina = "  tina: {clusters: {names: [hub]}, apps: {web: {kustomize: {source: m}}},"
    tina += " sources: {m: {git: {url: https://git.example.com/t, ref: {branch: main}}}}}\n"
    assert told(BASE + tina, BASE) == [f"deletion: tenant tina on hub: {GONE}"]
    off = tina.replace("tina: {", "tina: {state: offboarding, ")
    data = "is removed: everything in the namespaces is deleted, with its data"
    assert told(BASE + off, BASE) == [f"deletion: tenant tina on hub: {data}"]
    alone = BASE.partition("tenants:")[0] + "tenants:\n" + tina
    assert told(BASE + tina, alone) == [f"deletion: tenant rocky on both clusters: {GONE}"]
    assert told(BASE, BASE + tina) == []


@table(
    ("block", "stays"),
    [
        ("{source: manifests, suspend: true}", True),
        ("{source: manifests, deletionPolicy: Orphan}", True),
        ("{source: manifests, prune: false, deletionPolicy: MirrorPrune}", True),
        ("{source: manifests, deletionPolicy: MirrorPrune}", False),
        ("{source: manifests, prune: false}", False),
    ],
)
def test_what_flux_leaves_behind_is_no_danger(block: str, *, stays: bool) -> None:
    before = rocky(f"web: {{kustomize: {block}}}\ndb: {{kustomize: {{source: manifests}}}}")
    after = rocky("db: {kustomize: {source: manifests}}")
    gone = "deletion: rocky/web on hub: is removed: Flux deletes what it installed"
    assert told(before, after) == ([] if stays else [gone])
    assert "  - rocky/web on hub" in section(before, after)


def test_moves_of_many_tenants_are_one_danger() -> None:
    source = "{git: {url: https://git.example.com/t, ref: {branch: main}}}"
    app = f"{{clusters: {{names: [hub]}}, sources: {{m: {source}}}, apps: {{web: {{kustomize: {{source: m}}}}}}}}"
    before = BASE + "".join(f"  t{number}: {app}\n" for number in range(9))
    after = before.replace("{management: hub}", '{management: hub, namespace: "{env}-{tenant}"}')
    assert told(before, after) == [
        "namespace: 10 tenants (rocky, t0, t1 and 7 more) on each of their clusters (both clusters): it gets another"
        " namespace: what is in the old one does not come along, and its data stays there"
        " (namespace: {tenant} -> {env}-{tenant})"
    ]


def test_another_namespace_of_the_platform_replaces_its_add_ons_on_the_management_cluster() -> None:
    addon = "{source: {helm: {url: https://charts.example.com}}, clusters: {names: [hub]},"
    addon += " helm: {chart: dns, version: 1.0.0, targetNamespace: dns}}"
    before = BASE.replace("platform: {", f"platform: {{addons: {{dns: {addon}}}, ")
    assert told(before, before.replace("platform: {", "platform: {namespace: team-zero, "))[1:] == [
        "reinstallation: platform/dns on hub: gets another object: Flux deletes what the old one installed, with"
        " PersistentVolumeClaims and their data"
    ]
    assert told(before, BASE) == ["deletion: platform/dns on hub: is removed: Flux deletes what it installed"]


def test_another_management_cluster_is_another_everything() -> None:
    after = BASE.replace("management: hub", "management: edge").replace(f", {KAMAJI}", "")
    after = after.replace("labels: {tier: hub}", f"labels: {{tier: hub}}, {KAMAJI.replace('edge', 'hub')}")
    found = between(BASE, after)
    assert (len(found.changed), found.elsewhere) == (0, True)
    assert told(BASE, after) == [
        "deletion: environment: every object is deleted on the former management cluster, and created on the new one"
        " (management: hub -> edge)"
    ]


def test_environments_come_and_go_as_a_whole() -> None:
    more = BASE.replace("{management: hub}", "{management: hub}\n  far: {management: hub-2}")
    more = more.replace("clusters:\n", "clusters:\n  hub-2: {environments: [far]}\n", 1)
    small, large = plan_all(fleet(BASE)), plan_all(fleet(more))
    added, removed = differences(small, large)[1], differences(large, small)[1]
    assert (added.environment, added.status) == ("far", Status.ADDED)
    assert (removed.environment, removed.status) == ("far", Status.REMOVED)


def test_of_a_secret_the_names_of_its_values_are_compared() -> None:
    def text(keys: str) -> str:
        rest = f"clusters: {{names: [hub]}}\ncredentials: {{git: {{keys: [{keys}]}}}}"
        return rocky("web: {kustomize: {source: manifests}}", rest).replace(
            "{branch: main}}}", "{branch: main}}, credentials: git}"
        )

    (found,) = between(text("username, password"), text("bearerToken")).changed
    assert found.id.kind == "Secret"
    assert [(each.path, each.before) for each in found.fields] == [
        (("values", "keys", 0), "password"),
        (("values", "keys", 1), "username"),
        (("values", "keys", 0), ABSENT),
    ]


def test_a_cluster_that_was_given_up_and_comes_back_under_another_name_loses_nothing() -> None:
    after = BASE.replace("  edge: {", "  edge-1: {")
    assert told(BASE, after) == [f"deletion: tenant rocky on edge: {GONE}"]
    decommissioned = BASE.replace("labels: {tier: edge},", "labels: {tier: edge}, state: decommissioned,")
    assert told(decommissioned, after) == []


def test_an_object_that_changes_hands_between_an_addon_and_a_tenant_is_told() -> None:
    addon = "source: {git: {url: https://git.example.com/a, ref: {branch: main}}}, kustomize: {targetNamespace: cert}"
    frame, tenants = BASE.split("tenants:\n")
    before = frame.replace(
        "version: 0.1.0}}}", f"version: 0.1.0}}}}, addons: {{rocky-x: {{clusters: {{names: [edge]}}, {addon}}}}}}}"
    )
    after = f"{frame}tenants:\n{tenants}      x: {{kustomize: {{source: manifests}}}}\n"
    lines = section(f"{before}tenants:\n{tenants}", after)
    assert {"  - platform/rocky-x on edge", "  + rocky/x on both clusters"} <= set(lines)
