"""What is explained is what is planned: values, waves, and where a subject is."""

from __future__ import annotations

from pathlib import Path

from tenantry.facts.explain import AppRollout, explain
from tenantry.facts.facts import Kind, Subject, subject_of
from tenantry.load import load_fleet, plan_all
from tenantry.plan.plan import Part, plan
from tenantry.rollout.waves import Wave
from tests.table import table
from tests.unit import texts
from tests.unit.rollout.test_waves import APPS, CANARY, fleet
from tests.unit.texts import explained

GOLDEN = Path(__file__).resolve().parents[2] / "golden"


@table("rest", ["", ", upgrade: {remediation: {retries: 3}}", ", upgrade: {strategy: {name: RetryOnFailure}}"])
def test_the_strategy_of_a_release_is_explained_as_it_is_planned(rest: str) -> None:
    fleet = texts.fleet(texts.rocky(f"web: {{helm: {{source: charts, chart: web, version: 1.x{rest}}}}}"))
    planned = plan(fleet, "dev")
    (release,) = (each for each in planned.objects if each.id == planned.apps[0].id)
    (placed,) = explained(fleet, "rocky/web").placed
    for action in ("install", "upgrade"):
        path = ("helm", action, "strategy", "name")
        assert [each.value for each in placed.values if each.path == path] == [
            release.manifest["spec"][action]["strategy"]["name"]
        ]


def test_values_that_all_clusters_have_are_explained_once() -> None:
    web = "web: {kustomize: {source: manifests}, overrides: [{when: {clusters: {names: [edge]}}, kustomize: {path: ./edge}}]}"
    found = explained(texts.fleet(texts.rocky(web, "clusters: {all: true}")), "rocky/web")
    assert ("kustomize", "source") in {each.path for each in found.shared}
    paths = {each.cluster: [(value.path, value.value) for value in each.values] for each in found.placed}
    path = ("kustomize", "path")
    assert paths == {"hub": [(path, "./")], "edge": [(path, "./edge")]}


def test_a_tenant_on_no_cluster_is_explained_with_what_the_file_says_of_it() -> None:
    found = explained(texts.fleet(f"{texts.FRAME}tenants: {{rocky: {{quota: {{pods: 3}}}}}}\n"), "rocky")
    assert found.placed == ()
    assert [each.value for each in found.shared if each.path == ("quota", "pods")] == ["3"]


@table("file", sorted(GOLDEN.glob("*/tenants.yaml")), ids=lambda file: file.parent.name)
def test_an_answer_from_a_part_of_the_plan_is_that_from_the_whole(file: Path) -> None:
    loaded = load_fleet(file)
    for environment, whole in plan_all(loaded).items():
        for app in whole.apps:
            part, subject = plan(loaded, environment, Part(app.tenant, app.cluster)), subject_of(app)
            assert explain(loaded, part, subject, app.cluster) == explain(loaded, whole, subject, app.cluster)
        for tenant in loaded.document.tenants:
            part, subject = plan(loaded, environment, Part(tenant)), Subject(Kind.TENANT, tenant)
            assert explain(loaded, part, subject) == explain(loaded, whole, subject)


# --- waves ------------------------------------------------------------------------------------------------------------

WAVES = f"waves: [{CANARY}, {{percent: 50}}, {{all: true}}]"


def rollout(text: str, app: str = "web") -> AppRollout | None:
    return explained(texts.fleet(text), f"rocky/{app}").rollout


def test_the_waves_of_the_environment_with_the_clusters_of_the_app() -> None:
    here = APPS.replace("web: {", "web: {clusters: {names: [edge-1, edge-2, edge-3]}, ")
    found = rollout(fleet(WAVES, here, states={3: "paused"}))
    assert found
    assert (found.of, found.total, found.bypass) == ("environment", 3, "branch main")
    assert found.waves == (
        Wave(number=1, name="wave 1", clusters=("edge-1",)),
        Wave(number=3, name="wave 3", clusters=("edge-2",), left_out=("edge-3",)),
    )


def test_how_much_a_wave_tolerates() -> None:
    waves = f"waves: [{CANARY}, {{all: true, tolerate: {{failed: 1, unreachable: 20%}}}}]"
    found = rollout(fleet(waves))
    assert found
    assert [each.tolerate.written for each in found.waves] == ["", "failed 1, unreachable 20%"]


def test_an_app_that_keeps_out_of_the_waves() -> None:
    found = rollout(fleet(WAVES, APPS.replace("{source: m}}", "{source: m}, waves: false}")))
    assert found
    assert (found.of, found.total, found.bypass) == ("off", 0, "")
    follows = rollout(fleet(WAVES, APPS.replace("{source: m}}", "{source: m}, waves: null}")))
    assert follows
    assert (follows.of, follows.total) == ("environment", 3)


def test_a_chart_of_one_version_is_not_bypassed() -> None:
    found = rollout(fleet(WAVES), "db")
    assert found
    assert found.bypass == ""
    assert rollout(fleet("")) is None


GRANTS = """\
apiVersion: tenantry/v1
include: [teams/*.yaml]
environments: {dev: {management: hub}, prod: {management: far}}
clusters:
  hub: {environments: [dev]}
  edge: {environments: [dev], kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}}
  far: {environments: [prod]}
platform: {chart: {helm: {url: https://charts.example.com, version: 0.1.0}}}
defaults: {clusters: {all: true}, grants: {sources: ["https://git.example.com/{tenant}/*"]}}
tenants:
  rocky: {grants: {environments: [dev], settings: [quota]}}
  tina: {}
"""


def test_what_an_included_file_may_do_is_explained_with_its_lines(tmp_path: Path) -> None:
    (tmp_path / "teams").mkdir()
    (tmp_path / "teams/rocky.yaml").write_text("tenants:\n  rocky: {}\n")
    (tmp_path / "tenants.yaml").write_text(GRANTS)
    fleet = load_fleet(tmp_path / "tenants.yaml")
    found = explained(fleet, "rocky")
    granted = {each.path: (each.value, each.origin.location.line) for each in found.shared if each.path[0] == "grants"}
    assert granted == {
        ("grants", "sources"): (["https://git.example.com/{tenant}/*"], 9),
        ("grants", "environments"): (["dev"], 11),
        ("grants", "settings"): (["quota"], 11),
    }
    assert found.choice
    assert [(each.cluster, each.placed, each.reason) for each in found.choice.decisions] == [
        ("hub", False, "a management cluster; 'all' does not include it"),
        ("edge", True, "all clusters are taken"),
    ]
    assert explained(fleet, "tina").choice is None
    elsewhere = explain(fleet, plan(fleet, "prod"), Subject(Kind.TENANT, "rocky")).choice
    assert elsewhere
    assert [(each.cluster, each.placed) for each in elsewhere.decisions] == [("far", False)]
