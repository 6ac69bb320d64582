"""A tenant's own name for its namespace, and environments that share clusters: names are compared, not templates."""

from __future__ import annotations

from tenantry.fleet.fleet import platform_account
from tenantry.guard.check import RunLimits, check
from tenantry.load import plan_all
from tests.unit.guard.fleets import fleet, now, refusal, tenant
from tests.unit.texts import FRAME, named, one, planned, problems, rocky, told
from tests.unit.texts import fleet as read

SIMPLE = "web: {kustomize: {source: manifests}}"
BOTH = "clusters: {all: true}"
MOVY = rocky(SIMPLE).removeprefix(FRAME).removeprefix("tenants:\n").replace("rocky", "movy")
SHARED = FRAME.replace("dev: {management: hub}", "dev: {management: hub}\n  qa: {management: hub}").replace(
    "environments: [dev]", "environments: [dev, qa]"
)


def test_the_objects_of_a_tenant_are_in_the_namespace_that_it_names() -> None:
    plan = planned(rocky(SIMPLE, f"{BOTH}\nnamespace: apps\nnamespaces: {{jobs: {{}}}}"))
    assert named(plan)[:2] == ["Namespace apps", "ServiceAccount apps/rocky"]
    assert "Kustomization apps/web" in named(plan)
    assert "Namespace apps-jobs" in named(plan)
    web = one(plan, "Kustomization", "edge-apps-web").manifest["spec"]
    assert (web["serviceAccountName"], web["targetNamespace"]) == ("apps", "apps")
    assert one(plan, "Kustomization", "web").manifest["spec"]["serviceAccountName"] == "rocky"


def test_the_name_is_a_template_like_that_of_the_environment() -> None:
    variables = FRAME.replace("{management: hub}", "{management: hub, variables: {stage: one}}")
    text = rocky(SIMPLE, 'clusters: {names: [hub]}\nnamespace: "{env}-{tenant}-{stage}"').replace(FRAME, variables)
    assert named(planned(text))[0] == "Namespace dev-rocky-one"


def test_two_tenants_may_name_different_namespaces_for_one_environment() -> None:
    text = rocky(SIMPLE, "clusters: {names: [hub]}\nnamespace: apps") + MOVY
    assert {"Namespace apps", "Namespace movy"} <= set(named(planned(text)))


def test_environments_of_one_management_cluster_whose_templates_give_the_same_names_are_told_once() -> None:
    text = rocky(SIMPLE, BOTH).replace(FRAME, SHARED) + MOVY
    assert problems(text) == told(
        "tenants.yaml:4:7: error[planned-twice]: environments 'dev' and 'qa' would both create Namespace rocky on cluster 'hub'",
        "  at environments.qa",
        "  first: tenants.yaml:10:3",
        "  fix: put '{env}' into the 'namespace' of one of them, such as '{env}-{tenant}'",
        "Found 1 error",
    )


def test_environments_of_one_management_cluster_keep_apart_by_names_without_a_placeholder_for_them() -> None:
    apart = SHARED.replace("dev: {management: hub}", 'dev: {management: hub, namespace: "dev-{tenant}"}').replace(
        "qa: {management: hub}", 'qa: {management: hub, namespace: "qa-{tenant}"}'
    )
    text = rocky(SIMPLE, BOTH).replace(FRAME, apart)
    loaded = read(text)
    assert len(plan_all(loaded)) == 2
    accounts = [platform_account(loaded, each, "edge") for each in ("dev", "qa")]
    assert accounts == ["tenantry-platform", "tenantry-platform-qa"]


def test_management_clusters_that_share_a_cluster_are_told_where_it_names_them() -> None:
    two = (
        FRAME.replace("dev: {management: hub}", "dev: {management: hub}\n  prod: {management: hub-2}")
        .replace("clusters:\n", "clusters:\n  hub-2: {environments: [prod]}\n")
        .replace("edge: {environments: [dev]", "edge: {environments: [dev, prod]")
    )
    text = rocky(SIMPLE, "clusters: {names: [edge]}").replace(FRAME, two)
    assert problems(text) == told(
        "tenants.yaml:4:9: error[planned-twice]: environments 'dev' and 'prod' would both create namespace 'rocky' on"
        " cluster 'edge'",
        "  at environments.prod",
        "  first: tenants.yaml:11:3",
        "  fix: put '{env}' into the 'namespace' of one of them, such as '{env}-{tenant}'",
        "Found 1 error",
    )
    own = text.replace("    apps:\n", '    namespace: "{env}-own"\n    apps:\n')
    assert len(plan_all(read(own))) == 2


def test_tenants_of_two_environments_that_meet_in_one_name_are_told_of_both_places() -> None:
    apart = SHARED.replace("dev: {management: hub}", "dev: {management: hub, variables: {one: a, two: b}}").replace(
        "qa: {management: hub}", "qa: {management: hub, variables: {one: c, two: a}}"
    )
    text = rocky(SIMPLE, "clusters: {names: [hub]}\nnamespace: '{one}'").replace(FRAME, apart)
    movy = MOVY.replace("  movy:\n", "  movy:\n    namespace: '{two}'\n")
    assert problems(text + movy) == told(
        "tenants.yaml:19:16: error[planned-twice]: environments 'dev' and 'qa' would both create Namespace a on cluster 'hub'",
        "  at tenants.movy.namespace",
        "  first: tenants.yaml:10:3",
        "  fix: choose another name for one of them",
        "Found 1 error",
    )


def test_another_name_removes_the_namespace_with_the_old_one() -> None:
    before, after = (fleet(tenant("rocky", "web", rest=f"    namespace: {name}\n")) for name in ("apps", "other"))
    limits = RunLimits(protected=False, deletions=0)
    found = refusal(before, after, limits)
    assert "namespace 'apps' of tenant 'rocky' on hub" in found
    assert "namespace 'apps' of tenant 'rocky' on edge" in found
    check(planned(before), now(before), limits)
