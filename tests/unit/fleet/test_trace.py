"""Values of merged layers, and what there is to say about each."""

from __future__ import annotations

from typing import Any

from tenantry.fleet.merge import Layer, Origin, Value, merge, origin_at, placeholders, trace
from tenantry.messages.errors import Location
from tenantry.source.parse import parse

TEXT = b"""\
defaults: {a: 1, m: {x: 1, y: 2}, t: "{env}"}
tenants:
  rocky: {a: 2, m: {x: null, z: 3}, t: null, l: [{n: 1, o: ["{b}"]}, 2]}
"""
SOURCE = parse(TEXT, "f")
LAYERS = [Layer(("defaults",), SOURCE.data["defaults"]), Layer(("tenants", "rocky"), SOURCE.data["tenants"]["rocky"])]


def at(level: str, line: int, column: int) -> Origin:
    return Origin(level, Location("f", line, column))


def test_every_value_names_its_level_and_what_null_took_away_is_told() -> None:
    effective = {**merge(LAYERS), "d": "default"}
    assert trace(SOURCE, LAYERS, effective) == (
        Value(("a",), 2, at("tenant", 3, 14)),
        Value(("m", "y"), 2, at("defaults", 1, 31)),
        Value(("m", "z"), 3, at("tenant", 3, 33)),
        Value(("m", "x"), None, removed=at("tenant", 3, 24)),
        Value(("l", 0, "n"), 1, at("tenant", 3, 54)),
        Value(("l", 0, "o"), ["{b}"], at("tenant", 3, 60), written=["{b}"]),
        Value(("l", 1), 2, at("tenant", 3, 70)),
        Value(("d",), "default"),
        Value(("t",), None, removed=at("tenant", 3, 40)),
    )


def test_a_default_in_the_place_of_a_removed_value_tells_both() -> None:
    (value,) = trace(SOURCE, [Layer((), {"t": 1}), Layer(("defaults",), {"t": None})], {"t": "5m"})
    assert Value(("t",), "5m", removed=at("defaults", 1, 38)) == value


def test_a_value_that_comes_back_above_a_null_was_not_removed() -> None:
    layers = [Layer((), {"a": 1}), Layer((), {"a": None}), Layer(("defaults",), {"a": 3})]
    assert trace(SOURCE, layers, {"a": 3}) == (Value(("a",), 3, at("defaults", 1, 15)),)


def test_levels_are_named_by_what_they_belong_to() -> None:
    source = parse(
        b"""\
platform: {overrides: [{when: {clusters: {labels: {tier: edge}}}}]}
tenants:
  rocky:
    overrides: [{}, {when: {environments: [dev]}}]
    apps: {web: {overrides: [{when: {environments: [dev, test], clusters: {names: [edge]}}}]}}
  overrides: {apps: {web: {helm: {values: {overrides: [1]}}}}}
""",
        "f",
    )
    app = ("tenants", "rocky", "apps", "web")
    paths: list[tuple[Any, ...]] = [
        ("defaults", "role"),
        ("tenants", "rocky", "role"),
        ("tenants", "rocky", "sources", "main", "git"),
        (*app, "kustomize"),
        (*app, "overrides", 0, "kustomize"),
        ("tenants", "rocky", "overrides", 1, "apps", "web", "kustomize"),
        ("platform", "overrides", 0, "helm"),
        ("tenants", "overrides", "apps", "web", "helm", "values", "overrides", 0),
        ("clusters", "edge", "labels"),
        ("environments", "dev", "variables"),
    ]
    assert [origin_at(source, path).level for path in paths] == [
        *("defaults", "tenant", "source", "app"),
        *("environment dev or test, cluster edge", "environment dev", "tier=edge", "app"),
        *("cluster edge", "environment dev"),
    ]


def test_placeholders_are_found_in_texts_and_lists_of_texts_only() -> None:
    assert [("a", "b"), ("c",), (), (), ()] == [
        placeholders(value) for value in ("{a}/{b}/{a}", ["{c}", 1], "{{a}} ${b}", None, {"a": "{b}"})
    ]
