"""What differences between the plan and the cluster mean: changed by hand, not applied yet, or held back by a wave."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tenantry.cluster.leftovers import stuck
from tenantry.cluster.states import State, compared, states_of
from tenantry.kube.objects import Manifest
from tenantry.plan.plan import Plan
from tenantry.rollout.change import Difference
from tenantry.rollout.flux_status import Readiness
from tests.table import table
from tests.unit.memory import held
from tests.unit.texts import planned

PLAN = planned("""\
apiVersion: tenantry/v1
environments:
  dev:
    management: hub
    waves: [{name: canary, names: [a]}, {names: [b]}, {all: true}]
clusters:
  hub: {environments: [dev]}
  a: {environments: [dev], kubeconfig: {kamaji: {controlPlane: a, namespace: clusters}}}
  b: {environments: [dev], kubeconfig: {kamaji: {controlPlane: b, namespace: clusters}}}
  c: {environments: [dev], kubeconfig: {kamaji: {controlPlane: c, namespace: clusters}}}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
tenants:
  rocky:
    clusters: {names: [a, b, c]}
    sources: {manifests: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}}
    apps: {web: {kustomize: {source: manifests}}}
""")
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
AGAIN = "run `tenantry up --environment dev`"


def one(name: str, plan: Plan = PLAN) -> Any:
    (found,) = (each for each in plan.objects if each.id.name == name)
    return found


def told(live: list[Manifest], *differences: Difference) -> dict[str, tuple[str, str]]:
    """State and message of each app and object that is not ready, by the name of its object."""
    states = compared(PLAN, states_of(PLAN, live, NOW), differences)
    return {
        id.name: (str(state.readiness), state.message)
        for id, state in states.items()
        if state.readiness is not Readiness.READY
    }


def everything(*without: str, **broken: str) -> list[Manifest]:
    """broken: by the name of an object, with `_` for `-`: why it failed."""
    live = [held(each) for each in PLAN.objects if each.id.name not in without]
    for manifest in live:
        if message := broken.get(manifest["metadata"]["name"].replace("-", "_")):
            manifest["status"]["conditions"][0].update(
                status="False", message=message, lastTransitionTime="2026-01-01T00:00:00Z"
            )
    return live


def path(name: str, by: str = "") -> Difference:
    planned = one(name)
    return Difference(planned, held(planned), (("spec", "path"),), (), by, "2026-01-31T12:00:00Z" if by else "")


def test_nothing_is_told_of_what_is_as_planned() -> None:
    assert told(everything()) == {}


def test_what_somebody_changed_is_told_with_who_and_which_field() -> None:
    assert told(everything(), path("b-rocky-web", "kubectl-patch")) == {
        "b-rocky-web": (
            "changed",
            f"changed by hand: spec.path, by kubectl-patch at 2026-01-31T12:00:00Z; {AGAIN}",
        )
    }


def test_a_change_of_the_file_that_no_run_applied_is_outdated() -> None:
    fields = f"not applied yet: spec.path; a run may be under way, otherwise {AGAIN}"
    assert told(everything(), path("a-rocky-web")) == {"a-rocky-web": ("outdated", fields)}


def test_what_fails_because_of_a_change_by_hand_stays_failed_and_tells_both() -> None:
    found = told(everything(a_rocky_web="path not found"), path("a-rocky-web", "kubectl-patch"))
    fields = f"changed by hand: spec.path, by kubectl-patch at 2026-01-31T12:00:00Z; {AGAIN}"
    assert found["a-rocky-web"] == ("failed", f"path not found; {fields}")


def test_a_source_that_is_not_as_planned_is_told_with_its_app() -> None:
    source = one("rocky.manifests.62305212")
    found = told(everything(), Difference(source, held(source), (("spec", "url"),)))
    said = (
        f"not applied yet: GitRepository clusters/{source.id.name}: spec.url; a run may be under way, otherwise {AGAIN}"
    )
    assert found == {
        **{f"{cluster}-rocky-web": ("outdated", said) for cluster in ("a", "b", "c")},
        "rocky.manifests.62305212": (
            "outdated",
            f"not applied yet: spec.url; a run may be under way, otherwise {AGAIN}",
        ),
    }


def test_what_is_missing_is_missing_and_what_needs_it_waits() -> None:
    account = next(each for each in PLAN.objects if each.id.kind == "ServiceAccount")
    live = everything("a-rocky-baseline", account.id.name)
    found = told(live, Difference(one("a-rocky-baseline"), None), Difference(account, None))
    gone = ("missing", "not on the management cluster: run `tenantry up`")
    assert found == {"a-rocky-baseline": gone, account.id.name: gone}
    assert told(live)["a-rocky-baseline"] == gone, "also where nothing was compared"


def test_a_source_that_fails_and_a_baseline_that_fails_are_told() -> None:
    live = everything(a_rocky_baseline="no such chart", **{"rocky.manifests.62305212": "repository not found"})
    assert told(live) == {
        "a-rocky-baseline": ("failed", "no such chart"),
        "rocky.manifests.62305212": ("failed", "repository not found"),
    }


def test_what_others_suspend_is_told_and_what_the_plan_suspends_is_as_planned() -> None:
    live = everything()
    for manifest in live:
        if manifest["metadata"]["name"] == "rocky.manifests.62305212":
            manifest["spec"]["suspend"] = True
    assert told(live) == {
        "rocky.manifests.62305212": (
            "suspended",
            "suspended by hand, not in the file: flux resume source git rocky.manifests.62305212 --namespace clusters",
        )
    }


APP = next(dict(each.manifest) for each in PLAN.objects if each.id == PLAN.apps[0].id)


def app_state(live: dict[str, Any]) -> State:
    return states_of(PLAN, [live], NOW)[PLAN.apps[0].id]


@table(
    "rest",
    [
        {"spec": None},
        {"spec": "text"},
        {"status": None},
        {"status": "text"},
        {"status": {"conditions": "text"}},
        {"status": {"conditions": ["text", {}, {"type": "Ready"}], "history": "text"}},
        {"status": {"conditions": [{"type": "Ready"}], "history": ["text"], "lastAppliedRevision": None}},
        {"status": {"history": [{"lastReconciled": 1, "totalReconciliations": "x"}], "failures": "y"}},
        {"metadata": {**APP["metadata"], "managedFields": ["x", {"time": 1, "manager": 2}]}},
    ],
    ids=str,
)
def test_a_malformed_object_is_not_ready_and_ends_nothing(rest: dict[str, Any]) -> None:
    found = app_state({**APP, **rest})
    assert found.readiness in (Readiness.PROGRESSING, Readiness.FAILED)
    assert found.revision == ""
    assert list(stuck([{**APP, **rest}], None)) == []


@table("other", [{}, {"metadata": None}, {"metadata": {"name": "web"}}, {"kind": "Kustomization"}])
def test_what_cannot_be_told_from_others_is_passed_over(other: dict[str, Any]) -> None:
    assert app_state(other).readiness is Readiness.MISSING


def test_an_app_that_no_controller_has_touched_names_its_shard() -> None:
    labels = {**APP["metadata"]["labels"], "sharding.fluxcd.io/key": "a"}
    found = app_state({**APP, "metadata": {**APP["metadata"], "labels": labels}, "status": {"observedGeneration": -1}})
    expected = "no controller of shard a has reconciled it yet"
    assert (found.readiness, found.message) == (Readiness.PROGRESSING, expected)
