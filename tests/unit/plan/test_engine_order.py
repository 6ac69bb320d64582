"""Order that Flux does not know: between a Kustomization and a HelmRelease, and before what Pulumi creates."""

from __future__ import annotations

from tenantry.plan.plan import Plan
from tests.table import table
from tests.unit.texts import FRAME, one, planned, problems, rocky

BOTH = "clusters: {all: true}"

MIXED = """\
cache: {helm: {source: charts, chart: c, version: 1.x}}
web: {kustomize: {source: manifests}, dependsOn: [cache]}
"""
ADDONS = """\
    kyverno: {clusters: {all: true}, source: {helm: {url: https://k.example.com}}, helm: {chart: k, version: 1.0.0}}
    policies:
      clusters: {all: true}
      source: {git: {url: https://git.example.com/p, ref: {tag: v1}}}
      kustomize: {}
      dependsOn: [kyverno]
"""
PLATFORM = 'platform:\n  chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}\n  addons:\n' + ADDONS


def with_addons(text: str) -> str:
    frame = [line for line in FRAME.splitlines() if line.startswith("platform:")]
    return text.replace(frame[0] + "\n", PLATFORM)


def waited_for(plan: Plan) -> set[str]:
    """What has to be ready before what depends on it is applied."""
    return {str(each.id) for each in plan.objects if each.awaited}


@table(("prefix", "namespace"), [("", "rocky"), ("edge-rocky-", "kamaji")])
def test_an_app_of_the_other_kind_is_awaited(prefix: str, namespace: str) -> None:
    plan = planned(rocky(MIXED, BOTH))
    web = one(plan, "Kustomization", f"{prefix}web")
    assert one(plan, "HelmRelease", f"{prefix}cache").id in web.depends_on
    assert "dependsOn" not in web.manifest["spec"]
    assert f"HelmRelease {namespace}/{prefix}cache" in waited_for(plan)


def test_what_is_awaited_can_wait_itself() -> None:
    more = "jobs: {helm: {source: charts, chart: c, version: 1.x}, dependsOn: [web]}"
    assert waited_for(planned(rocky(MIXED + more))) == {"HelmRelease rocky/cache", "Kustomization rocky/web"}


def test_flux_keeps_the_order_of_one_kind_alone() -> None:
    plan = planned(
        rocky("db: {kustomize: {source: manifests}}\nweb: {kustomize: {source: manifests}, dependsOn: [db]}")
    )
    assert waited_for(plan) == set()
    assert one(plan, "Kustomization", "web").manifest["spec"]["dependsOn"] == [{"name": "db"}]


def test_both_keep_a_part_of_a_mixed_list() -> None:
    mixed = MIXED.replace("dependsOn: [cache]", "dependsOn: [cache, db]") + "db: {kustomize: {source: manifests}}"
    web = one(planned(rocky(mixed)), "Kustomization", "web")
    assert web.manifest["spec"]["dependsOn"] == [{"name": "db"}]
    assert {"cache", "db"} <= {each.name for each in web.depends_on}


@table(
    ("old", "new"),
    [
        ("      cache: {", "      cache: {state: paused, "),
        ("      cache: {", "      cache: {state: offboarding, "),
        ("version: 1.x", "version: 1.x, suspend: true"),
        ("hub: {environments: [dev],", "hub: {environments: [dev], state: paused,"),
    ],
)
def test_what_does_not_become_ready_or_leaves_is_not_waited_for(old: str, new: str) -> None:
    text = rocky(MIXED)
    assert old in text
    plan = planned(text.replace(old, new))
    assert waited_for(plan) == set()
    assert one(plan, "HelmRelease", "cache").id in one(plan, "Kustomization", "web").depends_on


def test_add_ons_of_different_kinds_come_one_after_the_other_and_apps_after_them() -> None:
    text = with_addons(rocky(MIXED.replace("[cache]", "[platform/kyverno]"), BOTH))
    plan = planned(text)
    for policies, kyverno, web in (("policies", "kyverno", "web"), ("edge-policies", "edge-kyverno", "edge-rocky-web")):
        release = one(plan, "HelmRelease", kyverno).id
        assert release in one(plan, "Kustomization", policies).depends_on
        assert release in one(plan, "Kustomization", web).depends_on
    assert waited_for(plan) == {"HelmRelease tenantry-system/kyverno", "HelmRelease kamaji/edge-kyverno"}


KYVERNO = with_addons(
    rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}\ndependsOn: [platform/policies]\n")
)


@table("level", ["tenants", "defaults"])
def test_a_tenant_s_placements_come_after_add_ons(level: str) -> None:
    text = KYVERNO
    if level == "defaults":
        text = text.replace("    dependsOn: [platform/policies]\n", "")
        text = text.replace("tenants:\n", "defaults: {dependsOn: [platform/policies]}\ntenants:\n")
    plan = planned(text)
    for first, second in (
        ("policies", ("Namespace", "rocky")),
        ("edge-policies", ("HelmRelease", "edge-rocky-baseline")),
    ):
        assert one(plan, "Kustomization", first).id in one(plan, *second).depends_on
    assert waited_for(plan) >= {"Kustomization tenantry-system/policies", "Kustomization kamaji/edge-policies"}


def test_on_a_remote_flux_keeps_the_order_of_a_baseline_and_a_release() -> None:
    plan = planned(
        KYVERNO.replace("[platform/policies]", "[platform/kyverno]").replace("dependsOn: [kyverno]", "state: active")
    )
    baseline = one(plan, "HelmRelease", "edge-rocky-baseline")
    assert baseline.manifest["spec"]["dependsOn"] == [{"name": "edge-kyverno"}]
    assert one(plan, "HelmRelease", "edge-kyverno").id in baseline.depends_on
    assert waited_for(plan) == {"HelmRelease tenantry-system/kyverno"}


def test_a_tenant_can_wait_for_nothing_where_the_default_says_so() -> None:
    text = KYVERNO.replace("dependsOn: [platform/policies]", "dependsOn: null")
    plan = planned(text.replace("tenants:\n", "defaults: {dependsOn: [platform/policies]}\ntenants:\n"))
    assert "Kustomization tenantry-system/policies" not in waited_for(plan)


def test_an_extra_namespace_comes_after_add_ons_too() -> None:
    plan = planned(
        KYVERNO.replace(
            "    dependsOn: [platform/policies]\n", "    dependsOn: [platform/policies]\n    namespaces: {jobs: {}}\n"
        )
    )
    assert one(plan, "Kustomization", "policies").id in one(plan, "Namespace", "rocky-jobs").depends_on


def test_a_placement_waits_for_another_stack_by_flux_alone() -> None:
    text = KYVERNO.replace(
        "dev: {management: hub}", 'dev: {management: hub}\n  r1: {extends: dev, namespace: "{env}-{tenant}"}'
    )
    text = text.replace("environments: [dev]", "environments: [dev, r1]").replace(
        "dependsOn: [kyverno]", "state: active"
    )
    on_edge = text.replace(
        "clusters: {all: true}\n    dependsOn: [platform/policies]",
        "clusters: {names: [edge]}\n    dependsOn: [platform/kyverno]",
    )
    baseline = one(planned(on_edge, "r1"), "HelmRelease", "edge-r1-rocky-baseline")
    assert baseline.manifest["spec"]["dependsOn"] == [{"name": "edge-kyverno"}]
    assert "edge-kyverno" not in {each.name for each in baseline.depends_on}
    found = problems(on_edge.replace("[platform/kyverno]", "[platform/policies]"))
    assert found.splitlines()[0].endswith(
        "error[dependency-of-other-stack]: tenant 'rocky' cannot wait for 'platform/policies' on cluster 'edge': environment 'dev'"
        " has it, and Pulumi waits within one stack only"
    )
    assert found.endswith("Found 1 error\n")
