"""What is recognised as another name of a cluster, a tenant, an app or an add-on."""

from __future__ import annotations

from tenantry.compare.diff import diff
from tenantry.compare.review.model import PartKind
from tenantry.compare.review.renames import Rename, renames
from tests.unit.texts import planned, rocky

APPS = (
    "web: {kustomize: {source: manifests, path: ./web}}\ncache: {helm: {source: charts, chart: valkey, version: 1.0.0}}"
)
BASE = rocky(APPS, "clusters: {all: true}")
TINA = """\
  tina:
    clusters: {names: [hub]}
    sources: {m: {git: {url: https://git.example.com/t, ref: {branch: main}}}}
    apps: {web: {kustomize: {source: m, path: ./tina/web}}}
"""


def found(before: str, after: str) -> tuple[Rename, ...]:
    one, other = planned(before), planned(after)
    return renames(diff(one, other), one, other)


def test_a_tenant_with_the_same_sources_and_apps_is_renamed() -> None:
    assert found(BASE + TINA, BASE + TINA.replace("tina", "tini")) == (
        Rename(PartKind.TENANT, "", "tina", "tini", ("hub",), "the same sources and apps"),
    )


def test_another_version_does_not_hide_a_rename_and_other_apps_or_sources_make_another_tenant() -> None:
    after = BASE.replace("  rocky:", "  rocco:")
    expected = (Rename(PartKind.TENANT, "", "rocky", "rocco", ("hub", "edge"), "the same sources and apps"),)
    assert found(BASE, after) == expected
    assert found(BASE, after.replace("version: 1.0.0", "version: 2.0.0")) == expected
    assert found(BASE, after.replace("web: {", "shop: {")) == ()
    assert found(BASE, after.replace("git.example.com/rocky", "git.example.com/rocco")) == ()
    assert found(BASE, after.replace("chart: valkey", "chart: redis")) == ()


def test_tenants_of_one_shape_are_paired_only_if_as_many_go_as_come() -> None:
    two = BASE + TINA + TINA.replace("tina", "tani")
    both = BASE + TINA.replace("tina", "one") + TINA.replace("tina", "two")
    assert [(each.before, each.after) for each in found(two, both)] == [("tina", "one"), ("tani", "two")]
    assert found(two, BASE + TINA.replace("tina", "one")) == ()


def test_an_app_with_the_same_source_and_path_or_chart_is_renamed() -> None:
    assert found(BASE, BASE.replace("web: {", "shop: {").replace("./web", "./shop")) == (
        Rename(PartKind.APP, "rocky", "web", "shop", ("hub", "edge"), "the same source and path"),
    )
    assert found(BASE, BASE.replace("cache: {", "store: {").replace("1.0.0", "2.x")) == (
        Rename(PartKind.APP, "rocky", "cache", "store", ("hub", "edge"), "the same source and chart"),
    )
    assert found(BASE, BASE.replace("cache: {", "store: {").replace("valkey", "redis")) == ()
    assert found(BASE, BASE.replace("web: {", "shop: {").replace("./web", "./other")) == ()


def test_an_add_on_can_be_renamed() -> None:
    addon = "source: {helm: {url: https://charts.example.com}}, clusters: {names: [hub]},"
    addon += " helm: {chart: dns, version: 1.0.0, targetNamespace: dns}"
    before = BASE.replace("platform: {", f"platform: {{addons: {{dns: {{{addon}}}}}, ")
    assert found(before, before.replace("{dns: {source", "{names: {source")) == (
        Rename(PartKind.ADDON, "", "dns", "names", ("hub",), "the same source and chart"),
    )


def test_a_cluster_with_the_same_kubeconfig_is_renamed() -> None:
    assert found(BASE, BASE.replace("  edge: {", "  far: {")) == (
        Rename(PartKind.CLUSTER, "", "edge", "far", ("far",), "the kubeconfig kamaji/edge-admin-kubeconfig"),
    )


def test_a_cluster_with_another_kubeconfig_is_renamed_if_it_is_the_only_one_and_all_else_is_the_same() -> None:
    other = BASE.replace("  edge: {", "  far: {").replace("controlPlane: edge", "controlPlane: far")
    expected = (Rename(PartKind.CLUSTER, "", "edge", "far", ("far",), "the same tenants, apps and add-ons"),)
    assert found(BASE, other) == expected
    assert found(BASE, other.replace("cache: {", "cache: {clusters: {names: [hub]}, ")) == ()
    line = next(line for line in other.splitlines() if line.startswith("  far:"))
    two = other.replace(line, f"{line}\n{line.replace('far', 'farther')}")
    assert found(BASE, two) == ()


def test_a_cluster_that_was_given_up_is_not_renamed() -> None:
    given_up = BASE.replace("labels: {tier: edge},", "labels: {tier: edge}, state: decommissioned,")
    assert found(given_up, BASE.replace("  edge: {", "  far: {")) == ()


def test_nothing_is_renamed_where_nothing_is_removed_or_the_management_cluster_is_another() -> None:
    assert found(BASE, BASE + TINA) == ()
    kubeconfig = "kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}"
    after = BASE.replace("management: hub", "management: edge").replace(f", {kubeconfig}", "")
    after = after.replace("labels: {tier: hub}", f"labels: {{tier: hub}}, {kubeconfig.replace('edge', 'hub')}")
    assert found(BASE, after.replace("  rocky:", "  rocco:")) == ()


def test_lifting_or_adding_protection_is_a_difference_although_no_object_changes() -> None:
    protected = BASE.replace("{management: hub}", "{management: hub, protected: true}")
    there, back = diff(planned(BASE), planned(protected)), diff(planned(protected), planned(BASE))
    assert (bool(there), there.protects, there.unprotected) == (True, True, False)
    assert (bool(back), back.protects, back.unprotected) == (True, False, True)
    assert not diff(planned(protected), planned(protected))
