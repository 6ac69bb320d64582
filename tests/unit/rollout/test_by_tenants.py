"""Waves that take tenants: of an app of a class, and of an environment."""

from __future__ import annotations

import re

from tenantry.plan.plan import Plan
from tenantry.rollout.turns import Turn, turns_of
from tenantry.rollout.waves import in_words
from tests.table import table
from tests.unit.texts import planned, problems

OWN = "{by: tenants, waves: [{name: canary, tenants: [acme]}, {class: small}, {percent: 25}, {all: true}]}"
TENANTS = {
    "acme": "{class: customer}",
    "bolt": "{class: smaller}",
    "crow": "{class: small}",
    "dodo": "{class: customer}",
    "emu": "{class: customer, clusters: {names: [hub]}}",
    "finch": "{class: customer}",
}


def fleet(own: str = OWN, environment: str = "{waves: [{all: true}]}", tenants: dict[str, str] | None = None) -> str:
    entries = "".join(f"\n  {name}: {each}" for name, each in (TENANTS if tenants is None else tenants).items())
    declared = f", rollout: {own}" if own else ""
    return f"""\
apiVersion: tenantry/v1
environments:
  dev: {{management: hub, rollout: {environment}}}
  prod: {{management: main}}
clusters:
  hub: {{environments: [dev]}}
  main: {{environments: [prod]}}
  cell: {{environments: [dev], kubeconfig: {{secret: {{name: cell, namespace: remotes, key: value}}}}}}
  gone: {{environments: [dev], state: paused, kubeconfig: {{secret: {{name: gone, namespace: remotes, key: value}}}}}}
platform:
  chart: {{helm: {{url: "https://charts.example.com", version: 0.1.0}}}}
  addons:
    dns: {{clusters: {{all: true}}, source: {{helm: {{url: "https://c.example.com"}}}}, helm: {{chart: dns, version: 1.0.0}}}}
tenantClasses:
  customer:
    clusters: {{names: [hub, cell]}}
    sources: {{m: {{git: {{url: "https://git.example.com/a", ref: {{tag: v1}}}}}}}}
    apps:
      web: {{kustomize: {{source: m}}{declared}}}
      api: {{kustomize: {{source: m, path: ./api}}}}
  small: {{class: customer}}
  smaller: {{class: small}}
tenants:{entries or " {}"}
"""


def waves(plan: Plan, name: str = "class:customer/web") -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(wave.units, wave.left_out) for each in plan.rollouts if each.name == name for wave in each.waves]


def places(plan: Plan) -> dict[str, str]:
    """The rollout and the wave of every object that is in one."""
    found = {f"{each.id.kind} {each.id.namespace}/{each.id.name}": plan.wave_of(each.id) for each in plan.objects}
    return {name: f"{member[0].name or 'environment'} {member[1].number}" for name, member in found.items() if member}


def test_a_class_s_app_has_one_rollout_for_all_tenants() -> None:
    plan = planned(fleet())
    assert waves(plan) == [(("acme",), ()), (("bolt", "crow"), ()), (("finch",), ()), (("dodo", "emu"), ())]
    assert in_words(plan.rollouts[1]) == "class:customer/web: in 4 waves: 1 tenant (acme), then 2, then 1, then 2"
    there = places(plan)
    for name in ("Kustomization acme/web", "Kustomization remotes/cell-acme-web"):
        assert there[name] == "class:customer/web 1", "on all of its clusters"
    assert there["Kustomization remotes/cell-crow-web"] == "class:customer/web 2"
    # What other apps take too, and the baseline, follow the environment.
    for name in ("Kustomization acme/api", "GitRepository acme/m", "HelmRelease remotes/cell-acme-baseline"):
        assert there[name] == "environment 1"


def test_a_source_that_only_this_app_takes_goes_with_it() -> None:
    text = re.sub("      api: .*\n", "", fleet())
    assert places(planned(text))["GitRepository crow/m"] == "class:customer/web 2"


def test_an_environment_goes_by_tenants_and_what_they_need_comes_with_the_first() -> None:
    environment = "{by: tenants, waves: [{tenants: [acme]}, {all: true}]}"
    plan = planned(fleet("", environment, TENANTS | {"acme": "{class: customer, namespaces: {extra: {}}}"}))
    assert waves(plan, "") == [(("acme",), ()), (("bolt", "crow", "dodo", "emu", "finch"), ())]
    there = places(plan)
    assert {
        there["Namespace /acme"],
        there["HelmRelease remotes/cell-acme-baseline"],
        there["Kustomization acme/web"],
    } == {"environment 1"}
    assert there["Kustomization remotes/cell-bolt-api"] == there["ServiceAccount remotes/bolt"] == "environment 2"
    assert there["ServiceAccount remotes/tenantry-platform"] == "environment 1", "the first wave needs what all share"
    assert "HelmRelease remotes/cell-dns" not in there, "no tenant needs the add-on"


def test_an_environment_by_tenants_without_tenants_leaves_the_waves_of_its_add_ons() -> None:
    own = "version: 1.0.0}, rollout: {waves: [{names: [cell]}, {all: true}]}}"
    plan = planned(fleet("", "{by: tenants, waves: [{all: true}]}", {}).replace("version: 1.0.0}}", own))
    assert [in_words(each).partition(":")[0] for each in plan.rollouts] == ["in no waves", "addon dns"]
    assert places(plan)["HelmRelease remotes/cell-dns"] == "addon dns 1"


def test_the_objects_of_a_tenant_begin_together_and_are_awaited_together() -> None:
    turns = turns_of(planned(fleet()))
    name = "class:customer/web"
    assert {turn for turn in turns.of.values() if (turn.rollout, turn.wave) == (name, 2)} == {
        Turn(name, 2, "bolt"),
        Turn(name, 2, "crow"),
    }
    assert sorted(f"{each.owner.tenant} {each.where}" for each in turns.awaited[name, 1]) == [
        "acme cell acme/web",
        "acme hub acme/web",
    ]


def test_nothing_waits_for_tenants_that_are_paused_or_leave_and_a_share_counts_the_others() -> None:
    tenants = TENANTS | {
        "acme": "{class: customer, state: paused}",
        "dodo": "{class: customer, state: offboarding}",
        "emu": "{class: customer, clusters: {names: [gone]}}",
        "finch": "{class: customer, apps: {web: {state: paused}}}",
        "gull": "{class: customer}",
        "heron": "{class: customer}",
    }
    plan = planned(fleet(tenants=tenants))
    first, second, share, rest = waves(plan)
    assert (first, second) == (((), ("acme",)), (("bolt", "crow"), ()))
    assert (len(share[0]), {*share[0], *rest[0]}) == (1, {"gull", "heron"}), (
        "the share counts those that Flux reconciles"
    )
    assert {*share[1], *rest[1]} == {"dodo", "emu", "finch"}


def test_tenants_that_take_other_waves_or_are_elsewhere_are_not_in_it() -> None:
    tenants = TENANTS | {
        "bolt": "{class: small, apps: {web: {rollout: false}}}",
        "dodo": "{class: customer, apps: {web: {rollout: {by: clusters, waves: [{names: [cell]}, {all: true}]}}}}",
        "emu": "{class: customer, clusters: {names: [main]}}",
    }
    plan = planned(fleet(tenants=tenants))
    assert waves(plan) == [(("acme",), ()), (("crow",), ()), (("finch",), ())]
    assert waves(plan, "dodo/web") == [(("cell",), ()), (("hub",), ())]
    assert "Kustomization bolt/web" not in places(plan)


def test_a_class_with_waves_of_its_own_takes_its_tenants_out_of_its_parent_s() -> None:
    text = fleet().replace(
        "small: {class: customer}", "small: {class: customer, apps: {web: {rollout: {waves: [{all: true}]}}}}", 1
    )
    plan = planned(text.replace("{class: small}, {percent", "{percent"))
    assert waves(plan, "class:small/web") == [(("bolt", "crow"), ())]
    assert {*waves(plan)[0][0]} == {"acme"}
    assert not {"bolt", "crow"} & {name for units, _ in waves(plan) for name in units}


def test_a_new_tenant_moves_at_most_one_other_between_two_waves() -> None:
    own = "{by: tenants, waves: [{percent: 20}, {percent: 30}, {all: true}]}"
    before: dict[str, int] = {}
    for count in range(3, 20):
        text = fleet(own, tenants={f"t{number}": "{class: customer}" for number in range(count)})
        now = {name: number for number, (units, _) in enumerate(waves(planned(text))) for name in units}
        assert sum(before.get(name, wave) != wave for name, wave in now.items()) <= 2
        before = now


@table(
    ("own", "code"),
    [
        ("{by: tenants, waves: [{tenants: [acme]}]}", "not-in-a-wave"),
        ("{by: tenants, waves: [{tenants: [crow]}, {tenants: [crow]}, {all: true}]}", "waves-overlap"),
        ("{by: tenants, waves: [{tenants: [zoo]}, {all: true}]}", "selects-nothing"),
        ("{by: tenants, waves: [{tenants: [acme, zoo]}, {all: true}]}", "not-in-the-rollout"),
        ("{by: tenants, waves: [{tenants: [acne]}, {all: true}]}", "unknown-tenant"),
        ("{by: tenants, waves: [{class: tiny}, {all: true}]}", "unknown-class"),
        ("{by: tenants, waves: [{labels: {tier: a}}, {all: true}]}", "other-rollout"),
        ("{by: tenants, waves: [{clusters: [hub]}, {all: true}]}", "unknown-key"),
        ("{waves: [{tenants: [acme]}, {all: true}]}", "other-rollout"),
        ("{by: tenant, waves: [{all: true}]}", "bad-value"),
        ("{by: tenants, waves: [{class: other, tenants: [acme]}, {all: true}]}", "choose-one"),
    ],
)
def test_waves_of_tenants_that_cannot_be_right(own: str, code: str) -> None:
    """`zoo` is declared, and is not in the class."""
    zoo = "{clusters: {names: [hub]}, sources: {m: {git: {url: 'https://git.example.com/z', ref: {tag: v1}}}}}"
    told = problems(fleet(own, tenants=TENANTS | {"zoo": f"{zoo[:-1]}, apps: {{zap: {{kustomize: {{source: m}}}}}}}}"}))
    assert re.findall(r": error\[(.*?)\]", told) == [code], told
    assert told.count("\n  fix: ") == 1


def test_a_wave_of_a_class_may_be_empty_until_it_has_tenants() -> None:
    tenants = {name: each for name, each in TENANTS.items() if "small" not in each}
    assert waves(planned(fleet(tenants=tenants)))[0] == (("acme",), ())


def test_a_tenant_that_a_wave_names_is_in_no_wave_of_its_class() -> None:
    own = "{by: tenants, waves: [{class: small}, {tenants: [crow]}, {all: true}]}"
    assert waves(planned(fleet(own)))[:2] == [(("bolt",), ()), (("crow",), ())]
    both = "{by: tenants, waves: [{class: small}, {class: smaller}, {all: true}]}"
    assert "fix: name it in a wave 'tenants: [bolt]', which counts for more" in problems(fleet(both))
