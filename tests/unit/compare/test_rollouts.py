"""What a review says of waves, and of what does not go in waves."""

from __future__ import annotations

import click

from tenantry.cli.diff.data import review_document
from tenantry.cli.diff.terminal import as_text
from tenantry.cli.diff.values import DisplayLimits
from tests.table import table
from tests.unit.compare.review.outline import reviewed
from tests.unit.rollout.test_waves import APPS, CANARY, fleet

WAVES = f"{{waves: [{CANARY}, {{percent: 50}}, {{all: true}}]}}"
PINNED = APPS.replace("{source: m}", "{source: m, path: ./a}")


def told(before: str, after: str) -> str:
    return click.unstyle(as_text(reviewed(before, after), "main", DisplayLimits(), None))


def test_a_change_says_its_waves_and_the_clusters_of_the_first() -> None:
    assert told(fleet(WAVES, PINNED), fleet(WAVES, PINNED.replace("./a", "./b"))) == (
        "against main\n\n"
        "dev: 1 tenant, 1 app on all 5 clusters\n"
        "  in 3 waves: 1 cluster (edge-1), then 2, then 2\n"
        "  ~ tenant rocky\n"
        "      ~ app web on all 5 clusters\n"
        "          ~ kustomize.path: ./a -> ./b"
    )


def test_waves_do_not_hide_what_changes_in_an_addon() -> None:
    addon = (
        "platform:\n  addons: {dns: {clusters: {all: true}, source: {helm: {url: https://charts.example.com}},"
        " helm: {chart: dns, version: 1.2.3}}}\n  chart: "
    )
    one = fleet(WAVES, PINNED).replace("platform: {chart: ", addon).replace("0.1.0}}}\n", "0.1.0}}\n")
    assert told(one, one.replace("chart: dns, version: 1.2.3", "chart: dns, version: 1.2.4")) == (
        "against main\n\n"
        "dev: 1 add-on on all 5 clusters\n"
        "  in 3 waves: 1 cluster (edge-1), then 2, then 2\n"
        "  ~ platform\n"
        "      ~ add-on dns on all 5 clusters\n"
        "          ~ helm.version: 1.2.3 -> 1.2.4"
    )


def test_a_change_of_a_few_clusters_names_their_wave() -> None:
    here = ", overrides: {clusters: {hub: {kustomize: {path: ./b}}}}}\n      db"
    text = told(fleet(WAVES, PINNED), fleet(WAVES, PINNED.replace("}\n      db", here)))
    assert "\n  in wave 2 of 3: 1 cluster (hub)\n" in text


@table(
    ("before", "after", "line"),
    [
        ("", WAVES, "+ rollout: 1 cluster, then 2, then 2; timeout 10m"),
        (WAVES, "", "- rollout: 1 cluster, then 2, then 2; timeout 10m"),
        (
            WAVES,
            WAVES.replace("]}", "], timeout: 90s, tolerate: 1}"),
            "timeout 1m30s; tolerate 1",
        ),
    ],
)
def test_a_rollout_that_changes_is_a_difference(before: str, after: str, line: str) -> None:
    text = told(fleet(before), fleet(after))
    assert line in text
    assert ("! dev: without its rollout, changes reach all clusters at the same time" in text) == (not after)


def test_the_same_numbers_of_other_clusters_are_told_by_name() -> None:
    waves = "{waves: [{names: [edge-1]}, {all: true}]}"
    text = told(fleet(waves), fleet(waves.replace("edge-1", "hub")))
    assert "~ rollout: wave 1: edge-1, then 4 -> wave 1: hub, then 4" in text
    assert "dev: the environment itself" in text


OFF = ", rollout: false"
LEAVES = "! dev: app 'web' (tenant 'rocky') leaves the waves: its changes reach all of its clusters at the same time"


@table(
    ("before", "after", "line", "warned"),
    [
        ("", OFF, "+ rollout of app rocky/web: false", True),
        (OFF, "", "- rollout of app rocky/web: false", False),
    ],
)
def test_an_app_that_leaves_or_joins_the_waves_is_a_difference(
    before: str, after: str, line: str, *, warned: bool
) -> None:
    texts = [fleet(WAVES, APPS.replace("{source: m}", f"{{source: m}}{each}")) for each in (before, after)]
    shown = told(*(each.replace("{branch: main}", "{tag: v1}") for each in texts)).splitlines()
    assert [each.strip() for each in shown if "rollout of app" in each] == [line]
    assert [each for each in shown if each.startswith("!")] == ([LEAVES] if warned else [])


@table("waves", ["", WAVES])
def test_an_app_that_stays_without_waves_or_goes_is_no_difference_of_rollouts(waves: str) -> None:
    off = APPS.replace("{source: m}", "{source: m}, rollout: false")
    _, _, rest = off.partition("\n")
    assert told(fleet(waves, off), fleet(waves, off)).endswith("no difference: dev")
    assert "rollout of app" not in told(fleet(waves, off), fleet(waves, rest))


@table(
    ("before", "after", "what"),
    [
        ("version: 1.2.3", "version: 1.x", "app 'db' (tenant 'rocky') follows versions 1.x of its chart"),
        ("{tag: v1}", "{branch: next}", "app 'web' (tenant 'rocky') follows branch next"),
        ("{tag: v1}", "{semver: 1.x}", "app 'web' (tenant 'rocky') follows versions 1.x"),
        ("{tag: v1}", "{tag: v2}", ""),
    ],
)
def test_what_flux_follows_by_itself_bypasses_waves(before: str, after: str, what: str) -> None:
    text = fleet(WAVES).replace("{branch: main}", "{tag: v1}")
    pin = "; to pin it, write a version in place of the range" if "versions" in what else ""
    shown = told(text, text.replace(before, after))
    assert [each for each in shown.splitlines() if each.startswith("!")] == (
        [f"! dev: {what}: what is new there bypasses the waves{pin}"] if what else []
    )


def test_data_holds_the_waves_that_a_change_touches() -> None:
    (found,) = reviewed(fleet(WAVES, PINNED, 2), fleet(WAVES, PINNED.replace("./a", "./b"), 2)).environments
    assert review_document(found).model_dump()["rollout"] == {
        "total": 3,
        "waves": [
            {"number": 1, "name": "wave 1", "clusters": ["edge-1"]},
            {"number": 2, "name": "wave 2", "clusters": ["hub"]},
            {"number": 3, "name": "wave 3", "clusters": ["edge-2"]},
        ],
    }
