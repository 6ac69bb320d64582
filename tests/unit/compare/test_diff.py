"""What separates two plans, in objects, in counted deletions, and in what a reviewer is told of it."""

from __future__ import annotations

from tenantry.compare.diff import Deletions, Diff, Status, diff, diff_all
from tenantry.compare.fields import ABSENT
from tenantry.load import plan_all
from tests.table import table
from tests.unit.compare.review.outline import lines, reviewed
from tests.unit.compare.review.test_dangers import told
from tests.unit.texts import fleet, planned, rocky

APPS = "web: {kustomize: {source: manifests}}\ncache: {helm: {source: charts, chart: valkey, version: 1.0.0}}"
BASE = rocky(APPS, "clusters: {all: true}")
KAMAJI = "kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}"


def between(before: str, after: str) -> Diff:
    return diff(planned(before), planned(after))


def outline(before: str, after: str) -> list[str]:
    return [line for each in reviewed(before, after).environments for line in lines(each)]


def test_a_plan_has_no_difference_to_itself() -> None:
    found = between(BASE, BASE)
    assert (bool(found), found.unchanged, told(BASE, BASE)) == (False, len(planned(BASE).objects), [])


def test_a_removed_tenant_is_a_danger_on_its_clusters_and_a_new_one_is_none() -> None:
    tina = "  tina: {clusters: {names: [hub]}, apps: {web: {kustomize: {source: m}}},"
    tina += " sources: {m: {git: {url: https://git.example.com/t, ref: {branch: main}}}}}\n"
    gone = ": apps and rights are deleted, and namespaces stay with their data"
    assert told(BASE + tina, BASE) == [f"deletion: tenant 'tina' is removed from hub{gone}"]
    off = tina.replace("tina: {", "tina: {state: offboarding, ")
    data = ": everything in the namespaces is deleted, with its data"
    assert told(BASE + off, BASE) == [f"deletion: tenant 'tina' is removed from hub{data}"]
    alone = BASE.partition("tenants:")[0] + "tenants:\n" + tina
    assert told(BASE + tina, alone) == [f"deletion: tenant 'rocky' is removed from hub, edge{gone}"]
    assert outline(BASE + tina, alone)[0] == "- cluster edge on edge of 2: 3"
    assert told(BASE, BASE + tina) == []


@table(
    ("block", "why"),
    [
        ("{source: manifests, suspend: true}", "what it installed stays there, because it is suspended"),
        ("{source: manifests, deletionPolicy: Orphan}", "what it installed stays there (deletionPolicy: Orphan)"),
        (
            "{source: manifests, prune: false, deletionPolicy: MirrorPrune}",
            "what it installed stays there (prune: false)",
        ),
        ("{source: manifests, deletionPolicy: MirrorPrune}", ""),
        ("{source: manifests, prune: false}", ""),
    ],
)
def test_what_flux_leaves_behind_is_said(block: str, why: str) -> None:
    before = rocky(f"web: {{kustomize: {block}}}\ndb: {{kustomize: {{source: manifests}}}}")
    after = rocky("db: {kustomize: {source: manifests}}")
    stays = bool(why)
    dangers = (
        [] if stays else ["deletion: app 'web' (tenant 'rocky') is removed from hub: Flux deletes what it installed"]
    )
    assert told(before, after) == dangers
    assert outline(before, after)[-1] == f"    {why or 'Flux deletes what it installed'}"


def test_another_template_of_namespaces_removes_them_with_their_apps() -> None:
    after = BASE.replace("{management: hub}", '{management: hub, namespace: "{env}-{tenant}"}')
    assert between(BASE, after).deletions == Deletions(tenants=0, namespaces=2, apps=4)


def test_moves_of_many_tenants_are_summed_up() -> None:
    source = "{git: {url: https://git.example.com/t, ref: {branch: main}}}"
    app = f"{{clusters: {{names: [hub]}}, sources: {{m: {source}}}, apps: {{web: {{kustomize: {{source: m}}}}}}}}"
    before = BASE + "".join(f"  t{number}: {app}\n" for number in range(9))
    after = before.replace("{management: hub}", '{management: hub, namespace: "{env}-{tenant}"}')
    assert told(before, after) == [
        "namespace: 10 tenants ('rocky', 't0', 't1' and 7 more) get other namespaces on all of their clusters:"
        " what is in the old ones does not come along, and its data stays there"
    ]


def test_another_namespace_of_the_kubeconfig_replaces_all_that_stands_for_the_cluster() -> None:
    after = BASE.replace("namespace: kamaji", "namespace: control-planes")
    assert between(BASE, after).deletions == Deletions(tenants=0, namespaces=1, apps=2)


def test_another_namespace_of_the_platform_replaces_its_add_ons_on_the_management_cluster() -> None:
    addon = "{source: {helm: {url: https://charts.example.com}}, clusters: {names: [hub]},"
    addon += " helm: {chart: dns, version: 1.0.0, targetNamespace: dns}}"
    before = BASE.replace("platform: {", f"platform: {{addons: {{dns: {addon}}}, ")
    assert told(before, before.replace("platform: {", "platform: {namespace: team-zero, "))[1:] == [
        "reinstallation: add-on 'dns' gets another object on hub: Flux deletes what the old one installed, with"
        " PersistentVolumeClaims and their data"
    ]
    assert told(before, BASE) == ["deletion: add-on 'dns' is removed from hub: Flux deletes what it installed"]


def test_another_management_cluster_is_another_everything() -> None:
    after = BASE.replace("management: hub", "management: edge").replace(f", {KAMAJI}", "")
    after = after.replace("labels: {tier: hub}", f"labels: {{tier: hub}}, {KAMAJI.replace('edge', 'hub')}")
    found = between(BASE, after)
    assert (len(found.changed), found.unchanged) == (0, 0)
    assert told(BASE, after) == [
        "deletion: the management cluster is edge instead of hub: every object is deleted there and created here"
    ]
    assert found.deletions == Deletions(tenants=0, namespaces=2, apps=4)


def test_environments_come_and_go_as_a_whole() -> None:
    more = BASE.replace("{management: hub}", "{management: hub}\n  far: {management: hub-2}")
    more = more.replace("clusters:\n", "clusters:\n  hub-2: {environments: [far]}\n", 1)
    small, large = plan_all(fleet(BASE)), plan_all(fleet(more))
    added, removed = diff_all(small, large)[1], diff_all(large, small)[1]
    assert (added.environment, added.status, removed.environment, removed.status) == (
        "far",
        Status.ADDED,
        "far",
        Status.REMOVED,
    )


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


def test_tenants_namespaces_and_apps_are_counted_apart() -> None:
    found = between(BASE, BASE.replace("clusters: {all: true}", "clusters: {names: [hub]}"))
    assert found.deletions == Deletions(tenants=0, namespaces=1, apps=0)


def test_a_cluster_that_was_given_up_and_comes_back_under_another_name_is_no_rename() -> None:
    after = BASE.replace("  edge: {", "  edge-1: {")
    assert told(BASE, after)[0].startswith("rename: cluster 'edge' looks renamed to 'edge-1' (both have the kubeconfig")
    decommissioned = BASE.replace("labels: {tier: edge},", "labels: {tier: edge}, state: decommissioned,")
    assert told(decommissioned, after) == []


def test_an_object_that_changes_hands_between_an_addon_and_a_tenant_is_told() -> None:
    addon = "source: {git: {url: https://git.example.com/a, ref: {branch: main}}}, kustomize: {targetNamespace: cert}"
    frame, tenants = BASE.split("tenants:\n")
    before = frame.replace(
        "version: 0.1.0}}}", f"version: 0.1.0}}}}, addons: {{rocky-x: {{clusters: {{names: [edge]}}, {addon}}}}}}}"
    )
    after = f"{frame}tenants:\n{tenants}      x: {{kustomize: {{source: manifests}}}}\n"
    assert "  - addon rocky-x on edge of 1: 1" in [
        line.rstrip() for line in outline(f"{before}tenants:\n{tenants}", after)
    ]
