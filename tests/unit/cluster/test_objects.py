"""What differences between the plan and the cluster mean: changed by hand, not applied yet, or held back by a wave."""

from __future__ import annotations

from typing import Any

from tenantry.cluster.apps import statuses
from tenantry.cluster.drift import Difference
from tenantry.cluster.objects import Compared, object_statuses
from tenantry.cluster.status import Readiness
from tenantry.kube.objects import Manifest, ObjectId
from tenantry.plan.plan import Plan
from tests.unit.memory import held
from tests.unit.texts import planned

PLAN = planned("""\
apiVersion: tenantry/v1
environments:
  dev:
    management: hub
    rollout: {waves: [{name: canary, names: [a]}, {names: [b]}, {all: true}]}
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
AGAIN = "run `tenantry up --environment dev`"


def one(name: str, plan: Plan = PLAN) -> Any:
    (found,) = (each for each in plan.objects if each.id.name == name)
    return found


def told(live: list[Manifest], *differences: Difference) -> dict[str, tuple[str, str]]:
    """State and message of each app and object that is not ready, by the name of its object."""
    apps = statuses(PLAN, live)
    compared = Compared(PLAN, apps, differences)
    found = {each.app.id.name: compared.app(each) for each in apps}
    told = {
        name: (str(each.readiness), each.message)
        for name, each in found.items()
        if each.readiness is not Readiness.READY
    }
    others = compared.objects(object_statuses(PLAN, live))
    return told | {each.id.name: (str(each.readiness), each.message) for each in others}


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


def test_later_waves_wait_for_the_one_that_failed() -> None:
    live = everything(b_rocky_web="kustomization path not found")
    assert told(live, path("c-rocky-web")) == {
        "b-rocky-web": ("failed", "kustomization path not found"),
        "c-rocky-web": ("outdated", "waits for wave 3 of 3: not applied yet"),
    }
    # After a change of the file alone, all waves differ, and only the first can be applied now.
    assert told(everything(), path("a-rocky-web"), path("b-rocky-web"))["b-rocky-web"] == (
        "outdated",
        "waits for wave 2 of 3: not applied yet",
    )


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
    assert told(live) == {"rocky.manifests.62305212": ("suspended", "suspended by hand, not in the file")}


def test_ids_are_of_planned_objects() -> None:
    (found,) = object_statuses(PLAN, everything("rocky.manifests.62305212"))
    assert found.id == ObjectId("source.toolkit.fluxcd.io/v1", "GitRepository", "clusters", "rocky.manifests.62305212")
