"""Which clusters each wave takes, and which wave each object belongs to."""

from __future__ import annotations

from tenantry.kube.objects import KubeObject
from tenantry.plan.plan import Plan
from tenantry.rollout.waves import Rollout, Tolerance, Wave
from tests.table import table
from tests.unit.texts import planned

CANARY = "{labels: {ring: canary}}"
APPS = "      web: {kustomize: {source: m}}\n      db: {helm: {source: c, chart: db, version: 1.2.3}}\n"
SOURCES = (
    "    sources:\n      m: {git: {url: https://git.example.com/a, ref: {branch: main}}}\n"
    "      c: {helm: {url: https://charts.example.com}}\n"
)


def fleet(waves: str, apps: str = APPS, clusters: int = 4, states: dict[int, str] | None = None) -> str:
    remotes = "".join(
        f"  edge-{number}: {{environments: [dev], labels: {{ring: {'canary' if number == 1 else 'late'}}},"
        f" state: {(states or {}).get(number, 'active')},"
        f" kubeconfig: {{secret: {{name: edge-{number}, namespace: remotes, key: value}}}}}}\n"
        for number in range(1, clusters + 1)
    )
    declared = f", {waves}" if waves else ""
    return (
        "apiVersion: tenantry/v1\n"
        f"environments:\n  dev: {{management: hub, maxDeletions: 9{declared}}}\n"
        f"clusters:\n  hub: {{environments: [dev]}}\n{remotes}"
        "platform: {chart: {helm: {url: https://charts.example.com, version: 0.1.0}}}\n"
        f"tenants:\n  rocky:\n    clusters: {{all: true}}\n{SOURCES}    apps:\n{apps}"
    )


def rollout_of(plan: Plan) -> Rollout:
    assert plan.rollout
    return plan.rollout


def waves(plan: Plan) -> list[tuple[str, ...]]:
    return [each.clusters for each in rollout_of(plan).waves]


def places(plan: Plan) -> dict[str, str]:
    """The wave of every object, by what it is, its cluster and its name."""
    return {f"{each.id.kind} {each.id.namespace}/{each.id.name}": _place(plan, each) for each in plan.objects}


def _place(plan: Plan, each: KubeObject) -> str:
    wave = plan.wave_of(each.id)
    return str(wave.number) if wave else "none"


def test_an_environment_has_its_waves_in_the_order_of_the_file() -> None:
    rest = "timeout: 90s, tolerate: 1"
    rollout = f"waves: [{{name: canary, labels: {{ring: canary}}}}, {{percent: 50}}, {{all: true}}], {rest}"
    plan = planned(fleet(rollout, states={3: "paused"}))
    one = Tolerance(1, 1, "1")
    assert plan.rollout == Rollout(
        (
            Wave(1, "canary", ("edge-1",), tolerate=one),
            Wave(2, "wave 2", ("edge-4", "hub"), tolerate=one),
            Wave(3, "wave 3", ("edge-2",), ("edge-3",), tolerate=one),
        ),
    )


@table(
    ("every", "own", "tolerances"),
    [
        ("2", "", [Tolerance(2, 2, "2"), Tolerance(2, 2, "2")]),
        ("50%", "", [Tolerance(0, 0, "50%"), Tolerance(2, 2, "50%")]),
        ("{unreachable: 34%}", "0", [Tolerance(), Tolerance(0, 1, "failed 0, unreachable 34%")]),
        ("1", "{failed: 100%}", [Tolerance(1, 0, "failed 100%, unreachable 0"), Tolerance(1, 1, "1")]),
    ],
)
def test_a_share_that_is_tolerated_is_one_of_the_wave_and_a_wave_s_own_counts_for_more(
    every: str, own: str, tolerances: list[Tolerance]
) -> None:
    mine = f", tolerate: {own}" if own else ""
    plan = planned(fleet(f"waves: [{{labels: {{ring: canary}}{mine}}}, {{all: true}}], tolerate: {every}"))
    assert [wave.tolerate for wave in rollout_of(plan).waves] == tolerances


def test_waves_by_name_and_label_take_theirs_before_shares_of_the_rest() -> None:
    rollout = "waves: [{percent: 50}, {all: true}, {names: [hub]}, {labels: {ring: canary}}]"
    assert waves(planned(fleet(rollout, clusters=5))) == [
        ("edge-4", "edge-5"),
        ("edge-2", "edge-3"),
        ("hub",),
        ("edge-1",),
    ]


def test_a_new_cluster_moves_at_most_one_other_between_two_waves() -> None:
    rollout = "waves: [{percent: 20}, {percent: 30}, {all: true}]"
    before: dict[str, int] = {}
    for count in range(3, 24):
        plan = planned(fleet(rollout, clusters=count))
        now = {name: number for number, names in enumerate(waves(plan)) for name in names}
        assert sum(before.get(name, wave) != wave for name, wave in now.items()) <= 2
        assert len(waves(plan)[0]) == -(-(count + 1) * 20 // 100)
        before = now


def test_a_share_counts_clusters_that_flux_reconciles() -> None:
    paused = {number: "paused" for number in range(1, 5)}
    plan = planned(fleet("waves: [{percent: 1}, {all: true}]", clusters=5, states=paused))
    assert len(waves(plan)[0]) == 1


def test_objects_belong_to_the_wave_of_their_cluster() -> None:
    plan = planned(fleet(f"waves: [{CANARY}, {{all: true}}]", clusters=2))
    for each in plan.objects:
        if each.owner.cluster:
            assert _place(plan, each) == ("1" if each.owner.cluster == "edge-1" else "2")
    assert places(plan)["ServiceAccount remotes/rocky"] == "1", "the first wave needs what all share"


def test_a_source_of_an_app_without_waves_and_another_one_stays_in_its_wave() -> None:
    apps = "      web: {kustomize: {source: m}}\n      api: {kustomize: {source: m}, waves: false}\n"
    there = places(planned(fleet(f"waves: [{CANARY}, {{all: true}}]", apps, clusters=1)))
    assert there["GitRepository rocky/m"] == there["Kustomization rocky/web"] == "2"
    assert there["Kustomization rocky/api"] == "none"


def test_an_app_without_waves_is_in_none() -> None:
    apps = APPS.replace("{source: m}}", "{source: m}, waves: false}")
    plan = planned(fleet(f"waves: [{CANARY}, {{all: true}}]", apps, clusters=1))
    assert plan.off == {"rocky/web"}
    there = places(plan)
    assert there["Kustomization rocky/web"] == there["GitRepository rocky/m"] == "none"


def test_what_an_app_without_waves_needs_waits_for_none_either() -> None:
    apps = APPS.replace("{source: m}}", "{source: m}, waves: false, dependsOn: [db]}")
    there = places(planned(fleet(f"waves: [{CANARY}, {{all: true}}]", apps, clusters=2)))
    prepared = ("Namespace /rocky", "ServiceAccount rocky/rocky", "ServiceAccount remotes/rocky")
    assert {there[each] for each in (*prepared, "HelmRelease remotes/edge-2-rocky-baseline")} == {"none"}
    assert there["HelmRelease remotes/edge-2-rocky-db"] == there["HelmRelease rocky/db"] == "2"


@table("waves", ["", "waves: null"])
def test_without_waves_the_plan_is_what_it_was(waves: str) -> None:
    own = APPS.replace("{source: m}}", "{source: m}, waves: false}")
    plan, with_waves = planned(fleet(waves, own)), planned(fleet("waves: [{percent: 10}, {all: true}]"))
    assert (plan.rollout, dict(plan.members), plan.off) == (None, {}, frozenset())
    assert plan.objects == with_waves.objects


def test_an_environment_without_clusters_has_no_waves() -> None:
    text = fleet("waves: [{percent: 10}, {all: true}]").replace("environments: [dev]", "environments: [prod]")
    text = text.replace("clusters:\n", "  prod: {management: hub}\nclusters:\n", 1)
    assert planned(text).rollout is None


@table("own", ["", ", waves: null"])
def test_an_environment_takes_over_the_waves_of_the_one_that_it_extends_or_has_none(own: str) -> None:
    text = fleet("waves: [{percent: 10}, {all: true}]").replace("environments: [dev]", "environments: [dev, prod]")
    text = text.replace("clusters:\n", f"  prod: {{extends: dev, namespace: 'prod-{{tenant}}'{own}}}\nclusters:\n", 1)
    assert (planned(text, "prod").rollout is None) == bool(own)
