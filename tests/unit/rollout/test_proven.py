"""Which objects of a new cluster do not wait for earlier waves."""

from __future__ import annotations

from collections.abc import Collection

from tenantry.kube.objects import ObjectId
from tenantry.plan.plan import Plan
from tenantry.rollout.proven import proven_in
from tenantry.rollout.turns import turns_of
from tests.table import table
from tests.unit.rollout.test_waves import fleet
from tests.unit.texts import planned

WAVES = "waves: [{labels: {ring: canary}}, {names: [edge-2]}, {all: true}]"
PLAN = planned(fleet(WAVES))
OWN = planned(
    fleet(WAVES, "      web: {kustomize: {source: m, path: './{cluster}'}}\n      db: {kustomize: {source: m}}\n")
)
EVERYTHING = {"edge-4 rocky/web", "edge-4 rocky/db", "edge-4 the baseline of rocky"}


def on(plan: Plan, cluster: str) -> set[ObjectId]:
    return {each.id for each in plan.objects if each.owner.cluster == cluster}


def apps(name: str, cluster: str) -> set[ObjectId]:
    return {each.id for each in PLAN.apps if (each.name, each.cluster) == (name, cluster)}


def found(plan: Plan, new: Collection[ObjectId], changed: Collection[ObjectId] = ()) -> set[str]:
    return {each.where for each in proven_in(plan, turns_of(plan), {*new, *changed}, new)}


@table(
    "plan, new, changed, expected",
    [
        (PLAN, on(PLAN, "edge-4"), (), EVERYTHING),
        (PLAN, on(PLAN, "edge-4"), apps("web", "edge-1"), EVERYTHING - {"edge-4 rocky/web"}),
        (PLAN, on(PLAN, "edge-4"), apps("web", "edge-3"), EVERYTHING - {"edge-4 rocky/web"}),
        (OWN, on(OWN, "edge-4"), (), EVERYTHING - {"edge-4 rocky/web"}),
        (PLAN, on(PLAN, "edge-1"), (), set()),
        (PLAN, {each.id for each in PLAN.objects}, (), set()),
        (PLAN, set(), apps("web", "edge-1"), set()),
    ],
    ids=[
        "the same runs in an earlier wave",
        "it changes there",
        "it changes in its own wave",
        "its content is its own",
        "the first wave",
        "nothing runs yet",
        "nothing is new",
    ],
)
def test_what_an_earlier_wave_runs_is_proven(
    plan: Plan, new: Collection[ObjectId], changed: Collection[ObjectId], expected: set[str]
) -> None:
    assert found(plan, new, changed) == expected


TAKES = "postBuild: {substituteFrom: [{kind: ConfigMap, name: extra}]}"
WITH_CONFIG = planned(
    fleet(
        WAVES, f"      web: {{kustomize: {{source: m, {TAKES}}}}}\n    configs: {{extra: {{data: {{COLOR: red}}}}}}\n"
    )
)


def test_what_it_needs_goes_with_it_and_any_cluster_of_an_earlier_wave_proves_it() -> None:
    new = on(WITH_CONFIG, "edge-4")
    [web] = (each for each in proven_in(WITH_CONFIG, turns_of(WITH_CONFIG), new, new) if "web" in each.where)
    assert {each.owner.cluster for each in web.by} == {"edge-1", "edge-2"}
    assert {(id.kind, id.name) for id in web.ids} == {
        ("Kustomization", "edge-4-rocky-web"),
        ("ConfigMap", "edge-4.rocky.extra"),
    }
