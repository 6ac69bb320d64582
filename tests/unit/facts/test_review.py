"""What a review says of a change: whom it concerns, where, the values with their places, and when."""

from __future__ import annotations

from dataclasses import replace

import click
import pytest

from tenantry.cli.lines import as_text
from tenantry.facts import review as reviews
from tenantry.facts.review import Reach, review
from tenantry.kube.objects import KubeObject
from tenantry.load import fleet_of, plan_all
from tenantry.messages.data import replaced
from tenantry.source.parse import parse
from tests.table import table
from tests.unit.facts.cases import cases
from tests.unit.facts.reviews import reviewed, section, shown, told
from tests.unit.preflight.test_after import NEWER, TEXT
from tests.unit.rollout.test_waves import APPS as APPS_IN_WAVES
from tests.unit.rollout.test_waves import CANARY, fleet
from tests.unit.texts import rocky

pytestmark = pytest.mark.usefixtures("plans_once")

APPS = "web: {kustomize: {source: manifests, path: ./web}}\ndb: {kustomize: {source: manifests}}"
ALL = "clusters: {all: true}"
BASE = rocky(APPS, ALL)


def test_a_change_names_its_subjects_its_clusters_and_the_line_that_makes_it() -> None:
    assert shown(BASE, BASE.replace("./web", "./next")) == (
        "against main\n\n"
        "dev: 1 tenant, 1 app on both clusters\n"
        "  ~ rocky/web on both clusters\n"
        "      ~ kustomize.path: ./web -> ./next  # tenants.yaml:15:50 (app)\n\n"
        "objects\n"
        "  dev: 2 changed"
    )


def test_the_same_change_of_several_apps_is_one() -> None:
    before = rocky(APPS, f"{ALL}\nkustomize: {{wait: true}}")
    assert section(before, before.replace("wait: true", "wait: false"))[1:] == [
        "  ~ rocky/web, rocky/db on both clusters",
        "      ~ kustomize.wait: true -> false  # tenants.yaml:14:23 (tenant)",
    ]


def test_what_apps_take_over_is_told_of_their_tenant_alone() -> None:
    before = BASE + "    interval: 10m\n"
    assert section(before, before.replace("interval: 10m", "interval: 7m"))[1:] == [
        "  ~ tenant rocky on both clusters",
        "      ~ interval: 10m -> 7m  # tenants.yaml:17:15 (tenant)",
    ]


def test_subjects_on_different_clusters_share_a_change_that_they_have_wherever_they_are() -> None:
    apps = "web: {kustomize: {source: manifests}}\ndb: {clusters: {names: [hub]}, kustomize: {source: manifests}}"
    before = rocky(apps, f"{ALL}\nkustomize: {{prune: true}}")
    assert section(before, before.replace("prune: true", "prune: false"))[1] == (
        "  ~ rocky/web, rocky/db on each of their clusters (both clusters)"
    )


def test_a_value_that_one_cluster_has_is_told_of_that_cluster() -> None:
    override = ", overrides: [{when: {clusters: {names: [edge]}}, kustomize: {path: ./edge}}]}"
    assert section(BASE, BASE.replace("path: ./web}}", "path: ./web}" + override))[1:] == [
        "  ~ rocky/web on edge",
        "      ~ kustomize.path: ./web -> ./edge  # tenants.yaml:15:124 (cluster edge)",
    ]


def test_another_variable_names_the_text_and_the_variable() -> None:
    before = BASE.replace("./web", '"./{stage}"').replace(
        "{management: hub}", "{management: hub, variables: {stage: a}}"
    )
    assert section(before, before.replace("stage: a}", "stage: b}"))[1:] == [
        "  ~ environment",
        "      ~ variables.stage: a -> b  # tenants.yaml:3:45 (environment dev)",
        "  ~ rocky/web on both clusters",
        "      ~ kustomize.path: ./a -> ./b  # tenants.yaml:15:50 (app), tenants.yaml:3:45 (environment dev)",
    ]


def test_a_text_with_placeholders_is_told_as_it_is_written() -> None:
    before = BASE.replace("./web", '"./web/{cluster}"')
    assert section(before, before.replace("./web/", "./next/"))[2] == (
        "      ~ kustomize.path: ./web/{cluster} -> ./next/{cluster}  # tenants.yaml:15:50 (app)"
    )


def test_what_an_app_changes_beside_its_move_shows() -> None:
    before = BASE.replace("web: {", "web: {clusters: {names: [hub]}, ")
    after = BASE.replace("web: {", "web: {clusters: {names: [edge]}, ").replace("./web", "./next")
    assert section(before, after)[1:] == [
        "  - rocky/web on hub",
        "  + rocky/web on edge",
        "      ~ kustomize.path: ./web -> ./next  # tenants.yaml:15:77 (app)",
        "      ~ clusters.names: [hub] -> [edge]  # tenants.yaml:15:31 (app)",
    ]
    assert told(before, after) == ["deletion: rocky/web on hub: is removed: Flux deletes what it installed"]


def test_a_new_cluster_brings_its_own_values_and_subjects_without_repeating_theirs() -> None:
    more = "  far: {environments: [dev], kubeconfig: {kamaji: {controlPlane: far, namespace: kamaji}}}\nplatform:"
    assert section(BASE, BASE.replace("platform:", more, 1)) == [
        "dev: 1 tenant, 2 apps on 1 of 3 clusters",
        "  + cluster far",
        "      + environments: [dev]  # tenants.yaml:7:23 (cluster far)",
        "      + kubeconfig.kamaji.controlPlane: far  # tenants.yaml:7:66 (cluster far)",
        "      + kubeconfig.kamaji.namespace: kamaji  # tenants.yaml:7:82 (cluster far)",
        "      + chart.helm.url: https://charts.example.com  # tenants.yaml:8:32 (platform)",
        "      + chart.helm.version: 0.1.0  # tenants.yaml:8:71 (platform)",
        "  + 1 tenant and 2 apps (rocky, rocky/web, rocky/db) on far",
    ]


def test_clusters_count_once_whatever_the_number_of_environments() -> None:
    both = BASE.replace(
        "  dev: {management: hub}", "  dev: {management: hub}\n  old: {management: hub, namespace: o-{tenant}}"
    )
    both = both.replace("[dev]", "[dev, old]").replace("o-{tenant}", '"o-{tenant}"')
    assert section(both, both.replace("./web", "./next"))[0] == "dev, old: 1 tenant, 1 app on both clusters"


def test_an_object_that_no_fact_explains_is_told_with_its_fields() -> None:
    file = fleet_of(parse(BASE.encode(), "tenants.yaml"))
    before = plan_all(file)["dev"]
    after = replace(before, objects=tuple(map(_with_another_path, before.objects)))
    found = review(file, file, {"dev": before}, {"dev": after})
    assert click.unstyle(as_text(found, "main")).splitlines()[-4:] == [
        "objects",
        "  dev: 1 changed",
        "      ~ Kustomization rocky/web",
        "          ~ spec.path: ./web -> ./made-up",
    ]


def _with_another_path(object: KubeObject) -> KubeObject:
    if object.id.full_name != "rocky/web" or object.id.kind != "Kustomization":
        return object
    return replace(object, manifest=replaced(dict(object.manifest), ("spec", "path"), "./made-up"))


def test_a_dependency_that_changes_no_object_shows() -> None:
    mixed = "web: {kustomize: {source: manifests}}\ncache: {helm: {source: charts, chart: valkey, version: 1.0.0}DEP}"
    before, after = (rocky(mixed.replace("DEP", each)) for each in ("", ", dependsOn: [web]"))
    assert "      + dependsOn: [web]  # tenants.yaml:16:81 (app)" in section(before, after)


# --- when -------------------------------------------------------------------------------------------------------------

WAVES = f"waves: [{CANARY}, {{percent: 50}}, {{all: true}}]"
PINNED = APPS_IN_WAVES.replace("{source: m}", "{source: m, path: ./a}")


def test_a_change_says_its_waves_and_the_clusters_of_the_first() -> None:
    text = shown(fleet(WAVES, PINNED), fleet(WAVES, PINNED.replace("./a", "./b")))
    assert text.endswith("\n\nobjects\n  dev: 5 changed; in 3 waves: 1 cluster (edge-1), then 2, then 2")


def test_a_change_of_a_few_clusters_reaches_their_wave_alone() -> None:
    here = ", overrides: [{when: {clusters: {names: [hub]}}, kustomize: {path: ./b}}]}\n      db"
    before, after = fleet(WAVES, PINNED), fleet(WAVES, PINNED.replace("}\n      db", here))
    (found,) = reviewed(before, after)
    assert (found.clusters, found.waves) == (("hub",), (Reach(number=2, name="wave 2", clusters=("hub",)),))
    assert shown(before, after).endswith("in wave 2 of 3: 1 cluster (hub)")


def test_a_gate_says_what_is_waited_for() -> None:
    waits = "changes of apps wait until dev runs them and has been ready for 1h"
    assert shown(TEXT, NEWER).endswith(f"prod: 1 changed; {waits}") or waits in shown(TEXT, NEWER)


GATE = "{environment: dev, soak: 1h}"


@table(
    ("before", "after", "danger"),
    [
        ("dev", GATE, ""),
        ("null", "dev", ""),
        ("dev", "null", ""),
        (GATE, "dev", "changes no longer wait for the environment before (after.environment: dev -> unset)"),
        (GATE, "{environment: dev, soak: 5m}", "changes wait less (after.soak: 1h -> 5m)"),
        (GATE, "{environment: dev}", "changes wait less (after.soak: 1h -> unset)"),
        (GATE, "{environment: dev, soak: 2h}", ""),
    ],
)
def test_a_gate_that_changes_is_a_difference_and_a_weaker_one_a_danger(before: str, after: str, danger: str) -> None:
    one, other = TEXT.replace(GATE, before), TEXT.replace(GATE, after)
    assert any("after" in line for line in section(one, other))
    gates = [each for each in told(one, other) if each.startswith("gate: ")]
    assert gates[:1] == ([f"gate: environment: {danger}"] if danger else [])


@table(
    ("before", "after", "danger"),
    [
        ("", WAVES, False),
        (WAVES, "", True),
        (WAVES, f"{WAVES}, timeout: 90s, tolerate: 1", False),
    ],
)
def test_waves_that_change_are_a_difference(before: str, after: str, *, danger: bool) -> None:
    assert any("waves" in line or "timeout" in line for line in section(fleet(before), fleet(after)))
    gone = "rollout: environment: without its waves, changes reach all clusters at the same time"
    assert (gone in told(fleet(before), fleet(after))) is danger


@table(("before", "after", "danger"), [("", ", waves: false", True), (", waves: false", "", False)])
def test_an_app_that_leaves_the_waves_is_a_danger(before: str, after: str, *, danger: bool) -> None:
    texts = [fleet(WAVES, APPS_IN_WAVES.replace("{source: m}", f"{{source: m}}{each}")) for each in (before, after)]
    found = told(*(each.replace("{branch: main}", "{tag: v1}") for each in texts))
    leaves = "it leaves the waves: its changes reach all of its clusters at the same time (waves: false)"
    assert found == ([f"rollout: rocky/web on all 5 clusters: {leaves}"] if danger else [])


@table(
    ("before", "after", "app", "what"),
    [
        ("version: 1.2.3", "version: 1.x", "rocky/db", "versions 1.x of its chart"),
        ("{tag: v1}", "{branch: next}", "rocky/web", "branch next"),
        ("{tag: v1}", "{semver: 1.x}", "rocky/web", "versions 1.x"),
        ("{tag: v1}", "{tag: v2}", "", ""),
    ],
)
def test_what_flux_follows_by_itself_bypasses_waves(before: str, after: str, app: str, what: str) -> None:
    text = fleet(WAVES).replace("{branch: main}", "{tag: v1}")
    found = [each for each in told(text, text.replace(before, after)) if "bypasses" in each]
    assert [each.partition(": ")[2].partition(" on ")[0] for each in found] == ([app] if app else [])
    assert all(each.endswith(f": follows {what}: what is new there bypasses the waves") for each in found)


def test_a_selector_is_a_difference_only_where_it_places_something_else() -> None:
    apps = "web: {clusters: {names: [hub, far]}, kustomize: {source: manifests}}\ndb: {kustomize: {source: manifests}}"
    before = rocky(apps, ALL).replace(
        "  dev: {management: hub}\n", "  dev: {management: hub}\n  prod: {management: far}\n"
    )
    before = before.replace("\nplatform:", "\n  far: {environments: [prod]}\nplatform:")
    dev, prod = reviewed(before, before.replace("[hub, far]}", "[edge, far]}"))
    assert (bool(dev), bool(prod)) == (True, False)
    assert [(each.effect, each.where.text(2)) for each in dev.changes] == [
        ("removed", "rocky/web on hub"),
        ("added", "rocky/web on edge"),
    ]


def test_a_default_that_a_name_replaces_is_told_as_what_it_becomes() -> None:
    after = BASE.replace("  rocky:\n", "  rocky:\n    namespace: harbour\n")
    assert section(BASE, after)[2] == "      ~ namespace: rocky -> harbour  # tenants.yaml:10:16 (tenant)"
    assert section(after, BASE)[2].startswith("      ~ namespace: harbour -> rocky")


@table(("before", "after"), [pair for _, pair in cases()], ids=[name for name, _ in cases()])
def test_facts_of_apps_that_nobody_edited_are_not_needed(
    before: str, after: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = reviewed(before, after)
    monkeypatch.setattr(reviews, "_apps_alone", lambda *_: {})
    assert reviewed(before, after) == quick
    monkeypatch.undo()
