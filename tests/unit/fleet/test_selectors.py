"""What selectors take: a list of values means any of them, and `exclude` takes names, labels or both."""

from __future__ import annotations

import yaml

from tenantry.edit.entries import selector
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import choice_of
from tests.table import table
from tests.unit import texts

CLUSTERS = {
    "hub": {},
    "a": {"region": "eu"},
    "b": {"region": "us", "tier": "edge"},
    "c": {"region": "asia", "tier": "edge"},
}
WEB = "web: {kustomize: {source: manifests}}"


def text_of(clusters: str, waves: str = "") -> str:
    declared = "".join(
        f"  {name}: {{environments: [dev], labels: {yaml.dump(labels, default_flow_style=True).strip()},"
        f" kubeconfig: {{secret: {{name: {name}, namespace: remotes, key: value}}}}}}\n"
        for name, labels in CLUSTERS.items()
    ).replace(" kubeconfig: {secret: {name: hub, namespace: remotes, key: value}}", "")
    rollout = f", waves: {waves}" if waves else ""
    return (
        f"apiVersion: tenantry/v1\nenvironments:\n  dev: {{management: hub{rollout}}}\nclusters:\n{declared}"
        "platform: {chart: {helm: {url: https://charts.example.com, version: 0.1.0}}}\n"
        f"tenants:\n  rocky:\n    clusters: {clusters}\n"
        "    sources: {m: {git: {url: https://git.example.com/a, ref: {branch: main}}}}\n"
        "    apps: {web: {kustomize: {source: m}}}\n"
    )


def fleet_of(clusters: str) -> Fleet:
    return texts.fleet(text_of(clusters))


@table(
    ("clusters", "taken"),
    [
        ("{labels: {region: eu}}", "a"),
        ("{labels: {region: [eu, us]}}", "a b"),
        ("{labels: {region: [us, asia], tier: edge}, exclude: [c]}", "b"),
        ("{all: true, exclude: {labels: {tier: edge}}}", "hub a"),
        ("{all: true, exclude: {labels: {region: [eu, us]}}}", "hub c"),
        ("{all: true, exclude: {names: [hub], labels: {tier: edge, region: us}}}", "a c"),
        ("{names: [hub, b], exclude: {labels: {tier: edge}}}", "hub"),
    ],
)
def test_the_clusters_of_a_selector(clusters: str, taken: str) -> None:
    fleet = fleet_of(clusters)
    assert " ".join(choice_of(fleet, "dev", ("tenants", "rocky", "apps", "web")).clusters) == taken


def test_each_cluster_has_its_reason() -> None:
    fleet = fleet_of("{labels: {region: [eu, us, asia]}, exclude: {names: [a], labels: {tier: edge, region: us}}}")
    choice = choice_of(fleet, "dev", ("tenants", "rocky", "apps", "web"))
    assert choice.selector == "labels region=eu or us or asia, except a, tier=edge, region=us"
    assert {each.cluster: each.reason for each in choice.decisions} == {
        "hub": "has no label 'region'",
        "a": "excluded by name",
        "b": "excluded by tier=edge, region=us",
        "c": "its labels match",
    }
    lines = text_of("").splitlines()
    places = {each.cluster: each.origin.location for each in choice.decisions}
    assert (lines[places["b"].line - 1].strip()[:8], places["a"].line) == ("clusters", places["b"].line)


@table(
    ("clusters", "code", "at"),
    [
        ("{labels: {region: []}}", "empty", "labels.region"),
        ("{labels: {region: [eu, 3]}}", "wrong-type", "labels.region[1]"),
        ("{labels: {region: 3}}", "wrong-type", "labels.region"),
        ("{all: true, exclude: {label: {a: b}}}", "unknown-key", "exclude.label"),
        ("{all: true, exclude: a}", "wrong-type", "exclude"),
        ("{all: true, exclude: [nope]}", "unknown-cluster", "exclude[0]"),
        ("{all: true, exclude: {names: [nope]}}", "unknown-cluster", "exclude.names[0]"),
        ("{all: true, exclude: {labels: {region: [eu, {}]}}}", "wrong-type", "exclude.labels.region[1]"),
    ],
)
def test_a_mistake_in_a_selector_is_one_problem_at_its_place(clusters: str, code: str, at: str) -> None:
    told = texts.problems(text_of(clusters))
    assert f"error[{code}]" in told
    assert f"at tenants.rocky.clusters.{at}\n" in told
    assert told.endswith("Found 1 error\n")


@table(
    ("waves", "clusters"),
    [
        ("[{labels: {region: [eu, us]}}, {all: true}]", [("a", "b"), ("c", "hub")]),
        ("[{labels: {tier: edge}}, {percent: 100}]", [("b", "c"), ("a", "hub")]),
    ],
)
def test_waves_take_lists_of_values(waves: str, clusters: list[tuple[str, ...]]) -> None:
    rollout = texts.planned(text_of("{all: true}", waves)).rollout
    assert rollout
    assert [wave.clusters for wave in rollout.waves] == clusters


@table(
    ("text", "expected"),
    [
        ("region=eu,region=us,tier=edge", {"labels": {"region": ["eu", "us"], "tier": "edge"}}),
        ("all", {"all": True}),
        ("a,b", {"names": ["a", "b"]}),
    ],
)
def test_a_selector_on_the_command_line(text: str, expected: object) -> None:
    assert selector(text) == expected
