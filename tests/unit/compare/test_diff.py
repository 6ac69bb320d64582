"""What separates two plans, in objects and in sentences."""

from __future__ import annotations

import pytest

from tenantry.compare.diff import Deletions, Diff, Status, diff, diff_all
from tenantry.compare.fields import ABSENT
from tenantry.compare.story import consequences, others
from tenantry.load import plan_all
from tests.unit.texts import fleet, planned, rocky

APPS = "web: {kustomize: {source: manifests}}\ncache: {helm: {source: charts, chart: valkey, version: 1.0.0}}"
BASE = rocky(APPS, "clusters: {all: true}")
KAMAJI = "kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}"


def between(before: str, after: str) -> Diff:
    return diff(planned(before), planned(after))


def told(before: str, after: str) -> list[str]:
    found = between(before, after)
    own = [f"{sign} {text}" for sign, text in consequences(found)]
    own += [f"  - {each.id}" for each in others(found, found.removed)]
    own += [f"  + {each.id}" for each in others(found, found.added)]
    return own + [f"  ~ {each.id}" for each in found.changed]


def changed(before: str, old: str, new: str) -> list[str]:
    assert old in before
    return told(before, before.replace(old, new))


def test_a_plan_has_no_difference_to_itself() -> None:
    found = between(BASE, BASE)
    assert (bool(found), found.unchanged, consequences(found)) == (False, len(planned(BASE).objects), [])


def test_a_removed_tenant_takes_its_namespaces_its_apps_and_what_only_it_needed() -> None:
    tina = "  tina: {clusters: {names: [hub]}, apps: {web: {kustomize: {source: m}}},"
    tina += " sources: {m: {git: {url: https://git.example.com/t, ref: {branch: main}}}}}\n"
    assert told(BASE + tina, BASE) == [
        "- tenant 'tina' is removed from dev: 1 namespace and everything in it on hub; 1 app"
    ]
    assert told(BASE + tina, BASE.partition("tenants:")[0] + "tenants:\n" + tina) == [
        "- tenant 'rocky' is removed from dev: 2 namespaces and everything in them on hub, edge; 4 apps",
        "- cluster edge is no longer used",
        "  - ServiceAccount kamaji/tenantry-platform",
    ]
    assert told(BASE, BASE + tina) == ["+ tenant 'tina' is added to dev: 1 namespace on hub; 1 app"]


def test_a_tenant_whose_selector_takes_a_cluster_no_longer_leaves_it() -> None:
    assert changed(BASE, "clusters: {all: true}", "clusters: {names: [hub]}") == [
        "- tenant 'rocky' is removed from cluster edge: 1 namespace and everything in it; 2 apps",
        "- cluster edge is no longer used",
        "  - ServiceAccount kamaji/tenantry-platform",
    ]


def test_an_app_that_goes_is_named_with_its_clusters_and_its_own_chart() -> None:
    assert told(BASE, rocky(APPS.splitlines()[0], "clusters: {all: true}")) == [
        "- app 'cache' (tenant 'rocky') is removed from clusters hub, edge",
        "  - HelmRepository rocky/charts",
        "  - HelmChart rocky/charts-valkey-b9e4c346",
        "  - HelmRepository kamaji/edge-rocky-charts",
        "  - HelmChart kamaji/edge-rocky-charts-valkey-b9e4c346",
    ]


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ("{source: manifests, suspend: true}", "; what it installed stays there, because it is suspended"),
        ("{source: manifests, deletionPolicy: Orphan}", "; what it installed stays there (deletionPolicy: Orphan)"),
        (
            "{source: manifests, prune: false, deletionPolicy: MirrorPrune}",
            "; what it installed stays there (prune: false)",
        ),
        ("{source: manifests, deletionPolicy: MirrorPrune}", ""),
        ("{source: manifests, prune: false}", ""),
    ],
)
def test_what_flux_leaves_behind_is_said(block: str, why: str) -> None:
    before = rocky(f"web: {{kustomize: {block}}}\ndb: {{kustomize: {{source: manifests}}}}")
    after = rocky("db: {kustomize: {source: manifests}}")
    assert told(before, after) == [f"- app 'web' (tenant 'rocky') is removed from cluster hub{why}"]


def test_an_extra_namespace_that_goes_is_named_with_its_clusters() -> None:
    rest = "clusters: {all: true}\nnamespaces: {jobs: {}}"
    found = told(rocky(APPS, rest), BASE)
    assert found[0] == "- namespace 'rocky-jobs' of 'rocky' is removed, with everything in it, from hub, edge"
    assert told(BASE, rocky(APPS, rest))[0] == "+ namespace 'rocky-jobs' of 'rocky' is added on hub, edge"
    assert found[-1] == "  ~ HelmRelease kamaji/edge-rocky-baseline"


def test_another_template_of_namespaces_is_a_move_and_nothing_else() -> None:
    after = BASE.replace("{management: hub}", '{management: hub, namespace: "{env}-{tenant}"}')
    assert told(BASE, after) == [
        "! tenant 'rocky' gets namespace 'dev-rocky' instead of 'rocky' on hub, edge: everything in the old one is deleted"
    ]
    assert between(BASE, after).deletions == Deletions(tenants=0, namespaces=2, apps=4)


def test_moves_of_many_tenants_are_summed_up() -> None:
    source = "{git: {url: https://git.example.com/t, ref: {branch: main}}}"
    app = f"{{clusters: {{names: [hub]}}, sources: {{m: {source}}}, apps: {{web: {{kustomize: {{source: m}}}}}}}}"
    before = BASE + "".join(f"  t{number}: {app}\n" for number in range(9))
    assert changed(before, "{management: hub}", '{management: hub, namespace: "{env}-{tenant}"}') == [
        "! 10 tenants get other namespaces ('rocky' -> 'dev-rocky', 't0' -> 'dev-t0', 't1' -> 'dev-t1' and 7 more):"
        " everything in the old ones is deleted"
    ]


def test_another_namespace_of_the_kubeconfig_replaces_all_that_stands_for_the_cluster() -> None:
    after = BASE.replace("namespace: kamaji", "namespace: control-planes")
    assert told(BASE, after) == [
        "! the objects for cluster edge move to namespace 'control-planes' from 'kamaji': all of them are replaced,"
        " and Flux deletes what the old objects installed, 1 namespace of tenants included",
        "  - ServiceAccount kamaji/tenantry-platform",
        "  + ServiceAccount control-planes/tenantry-platform",
    ]
    assert between(BASE, after).deletions == Deletions(tenants=0, namespaces=1, apps=2)


def test_another_kubeconfig_in_the_same_namespace_is_warned_of() -> None:
    assert changed(BASE, "controlPlane: edge", "controlPlane: edge-b") == [
        "! cluster edge is reached through another kubeconfig: if it leads to another cluster, everything on the"
        " old one stays there",
        "  ~ HelmRelease kamaji/edge-rocky-baseline",
        "  ~ Kustomization kamaji/edge-rocky-web",
        "  ~ HelmRelease kamaji/edge-rocky-cache",
    ]


def test_an_app_of_another_kind_is_replaced() -> None:
    after = APPS.replace("{kustomize: {source: manifests}}", "{helm: {source: charts, chart: web, version: 1.0.0}}")
    found = told(BASE, rocky(after, "clusters: {all: true}"))
    assert found[0] == (
        "! app 'web' (tenant 'rocky') on hub, edge becomes a HelmRelease instead of a Kustomization:"
        " Flux deletes what the old one installed"
    )
    assert not any("Kustomization" in each for each in found[1:])


def test_another_namespace_of_the_platform_replaces_its_add_ons_on_the_management_cluster() -> None:
    addon = "{source: {helm: {url: https://charts.example.com}}, clusters: {names: [hub]},"
    addon += " helm: {chart: dns, version: 1.0.0, targetNamespace: dns}}"
    before = BASE.replace("platform: {", f"platform: {{addons: {{dns: {addon}}}, ")
    assert changed(before, "platform: {", "platform: {namespace: team-zero, ")[0] == (
        "! add-on 'dns' on hub gets another object: Flux deletes what the old one installed"
    )
    assert told(before, BASE)[0] == "- add-on 'dns' is removed from cluster hub"


def test_a_field_that_makes_flux_install_anew_is_warned_of() -> None:
    assert changed(BASE, "chart: valkey,", "chart: valkey, releaseName: store,") == [
        "! app 'cache' (tenant 'rocky') on hub, edge is reinstalled (releaseName changes): Flux deletes what it installed before",
        "  ~ HelmRelease rocky/cache",
        "  ~ HelmRelease kamaji/edge-rocky-cache",
    ]


def test_another_management_cluster_is_another_everything() -> None:
    after = BASE.replace("management: hub", "management: edge").replace(f", {KAMAJI}", "")
    after = after.replace("labels: {tier: hub}", f"labels: {{tier: hub}}, {KAMAJI.replace('edge', 'hub')}")
    found = between(BASE, after)
    assert (len(found.changed), found.unchanged) == (0, 0)
    assert [text for _, text in consequences(found)] == [
        "the management cluster is edge instead of hub: every object is deleted there and created here"
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
    assert [f"{sign} {text}" for sign, text in consequences(added)] == [
        "+ tenant 'rocky' is added to far: 1 namespace on hub-2; 2 apps",
        "+ cluster hub-2 is used for the first time",
    ]
    assert [f"{sign} {text}" for sign, text in consequences(removed)] == [
        "! environment 'far' is no longer declared (1 tenant, 1 namespace, 2 apps): `pulumi up` of its stack is refused,"
        " and all of it stays on hub-2 until `pulumi destroy`"
    ]
    assert others(added, added.added) == []


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


RENAMED = "! cluster edge is renamed to edge-1? Both have the kubeconfig kamaji/edge-admin-kubeconfig"


def test_another_name_for_a_cluster_is_taken_for_what_it_is() -> None:
    assert changed(BASE, "  edge: {", "  edge-1: {")[0] == (
        f"{RENAMED}: Flux would delete everything that it installed for edge, namespaces with their data included"
    )
    decommissioned = BASE.replace("labels: {tier: edge},", "labels: {tier: edge}, state: decommissioned,")
    assert not any(RENAMED in each for each in told(decommissioned, BASE.replace("  edge: {", "  edge-1: {")))


def test_an_object_that_changes_hands_between_an_addon_and_a_tenant_is_told() -> None:
    addon = "source: {git: {url: https://git.example.com/a, ref: {branch: main}}}, kustomize: {targetNamespace: cert}"
    frame, tenants = BASE.split("tenants:\n")
    before = frame.replace(
        "version: 0.1.0}}}", f"version: 0.1.0}}}}, addons: {{rocky-x: {{clusters: {{names: [edge]}}, {addon}}}}}}}"
    )
    after = f"{frame}tenants:\n{tenants}      x: {{kustomize: {{source: manifests}}}}\n"
    assert "- add-on 'rocky-x' is removed from cluster edge" in told(f"{before}tenants:\n{tenants}", after)
