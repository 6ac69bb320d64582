"""Tenants, apps and add-ons that are in some environments only: the plan, and what `explain` says of it."""

from __future__ import annotations

import pytest

from tenantry.fleet.fleet import Fleet
from tenantry.plan.plan import Plan, plan
from tests.unit.texts import explained
from tests.unit.texts import fleet as fleet_of_text

HUB = """
apiVersion: tenantry/v1
environments:
  dev: {management: hub, namespace: "{env}-{tenant}"}
  qa: {management: hub, namespace: "{env}-{tenant}"}
  dev-1: {extends: dev, tenants: [kaizentm]}
clusters:
  hub: {environments: [dev-1, dev, qa]}
platform:
  addons:
    everywhere: {clusters: {all: true}, source: {helm: {url: https://c.example.com}}, helm: {chart: a, version: 1.x}}
    in-qa:
      clusters: {all: true}
      environments: [qa]
      source: {helm: {url: https://c.example.com}}
      helm: {chart: b, version: 1.x}
defaults: {clusters: {all: true}}
tenants:
  kaizentm:
    sources: {m: {git: {url: https://git.example.com/m, ref: {branch: main}}}}
    apps:
      web: {kustomize: {source: m}}
      db: {environments: [qa], kustomize: {source: m}}
  newcomer:
    environments: [dev]
    sources: {m: {git: {url: https://git.example.com/m, ref: {branch: main}}}}
    apps:
      web: {kustomize: {source: m}}
      early: {environments: [qa, dev], kustomize: {source: m}}
"""


@pytest.fixture(name="fleet", scope="module")
def _fleet() -> Fleet:
    return fleet_of_text(HUB)


def apps_of(planned: Plan) -> set[tuple[str, str]]:
    return {(each.tenant, each.name) for each in planned.apps}


def test_a_tenant_is_in_its_environments_and_those_that_extend_them_and_the_list_of_an_app_replaces_its_own(
    fleet: Fleet,
) -> None:
    assert apps_of(plan(fleet, "dev")) == {
        ("", "everywhere"),
        ("kaizentm", "web"),
        ("newcomer", "web"),
        ("newcomer", "early"),
    }
    assert apps_of(plan(fleet, "qa")) == {
        ("", "in-qa"),
        ("kaizentm", "web"),
        ("kaizentm", "db"),
        ("newcomer", "early"),
    }


def test_a_release_environment_of_one_tenant_has_nothing_of_others_and_no_add_on_though_its_clusters_name_it_first(
    fleet: Fleet,
) -> None:
    planned = plan(fleet, "dev-1")
    assert apps_of(planned) == {("kaizentm", "web")}
    assert {each.owner.tenant for each in planned.objects} == {"kaizentm"}


def test_a_cluster_of_release_environments_alone_has_its_add_ons_in_the_first_of_them() -> None:
    alone, _, _ = HUB.partition("  newcomer:")
    fleet = fleet_of_text(alone.replace("[dev-1, dev, qa]", "[dev-1]").replace("[qa]", "[dev]"))
    assert ("", "everywhere") in apps_of(plan(fleet, "dev-1"))


@pytest.mark.parametrize(
    ("tenant", "app", "environment", "reason", "line"),
    [
        ("newcomer", "web", "qa", "environment qa: not in 'environments'", 25),
        ("kaizentm", "db", "dev", "environment dev: not in 'environments'", 23),
        ("newcomer", "web", "dev-1", "environment dev-1: not in 'tenants'", 6),
    ],
)
def test_explain_says_what_keeps_an_app_out_of_an_environment(
    fleet: Fleet, tenant: str, app: str, environment: str, reason: str, line: int
) -> None:
    choice = explained(fleet, f"{tenant}/{app}", environment=environment).choice
    (decision,) = choice.decisions if choice else ()
    assert (decision.placed, decision.reason, decision.origin.location.line) == (False, reason, line)


@pytest.mark.parametrize(
    ("addon", "environment", "reason", "line"),
    [
        ("everywhere", "qa", "its add-ons belong to environment dev", 8),
        ("everywhere", "dev-1", "its add-ons belong to environment dev", 8),
        ("in-qa", "dev", "environment dev: not in 'environments'", 14),
    ],
)
def test_explain_says_which_environment_has_an_add_on(
    fleet: Fleet, addon: str, environment: str, reason: str, line: int
) -> None:
    choice = explained(fleet, f"platform/{addon}", environment=environment).choice
    (decision,) = choice.decisions if choice else ()
    assert (decision.placed, decision.reason, decision.origin.location.line) == (False, reason, line)


def test_an_app_can_wait_for_an_add_on_that_another_environment_of_the_cluster_has() -> None:
    text = HUB.replace(
        "web: {kustomize: {source: m}}", "web: {helm: {source: c, chart: x, version: 1.x}, dependsOn: [platform/in-qa]}"
    )
    text = text.replace("sources: {m:", "sources: {c: {helm: {url: https://c.example.com}}, m:")
    planned = plan(fleet_of_text(text), "dev")
    (release,) = (each for each in planned.objects if each.id.kind == "HelmRelease" and each.owner.tenant == "kaizentm")
    assert release.manifest["spec"]["dependsOn"] == [{"name": "in-qa", "namespace": "tenantry-system"}]


ALERTS = HUB.replace(
    "platform:\n",
    """platform:
  chart: {helm: {url: https://charts.example.com, version: 0.1.0}}
  alerts: {chat: {provider: {type: generic, address: "https://hooks.example.com"}}}
""",
).replace(
    "hub: {environments: [dev-1, dev, qa]}",
    """hub: {environments: [dev-1, dev, qa]}
  edge: {environments: [dev-1, qa, dev], kubeconfig: {kamaji: {controlPlane: edge, namespace: k}}}""",
)


def test_the_platforms_alerts_of_a_cluster_are_in_one_environment_that_is_not_of_a_few_tenants() -> None:
    fleet = fleet_of_text(ALERTS)
    alerts = {
        environment: {each.owner.cluster for each in plan(fleet, environment).objects if each.id.kind == "Alert"}
        for environment in ("dev", "qa", "dev-1")
    }
    # Those without a cluster tell of each environment's own sources.
    assert alerts == {"dev": {"hub", ""}, "qa": {"edge", ""}, "dev-1": {""}}
