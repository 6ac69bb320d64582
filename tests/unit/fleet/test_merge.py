"""Layers, and where merged values come from."""

from __future__ import annotations

from typing import Any

from tenantry.fleet.merge import Layer, merge, origin
from tenantry.messages.errors import Path
from tests.table import table


def layers(*data: dict[str, Any]) -> list[Layer]:
    return [Layer((f"layer{index}",), each) for index, each in enumerate(data)]


@table(
    ("data", "expected"),
    [
        ([], {}),
        ([{"a": 1}], {"a": 1}),
        ([{"a": 1}, {"b": 2}], {"a": 1, "b": 2}),
        ([{"a": 1}, {"a": 2}, {"a": 3}], {"a": 3}),
        ([{"a": {"x": 1, "y": 2}}, {"a": {"y": 3, "z": 4}}], {"a": {"x": 1, "y": 3, "z": 4}}),
        ([{"a": [1, 2, 3]}, {"a": [4]}], {"a": [4]}),
        ([{"a": [{"x": 1}]}, {"a": [{"y": 1}]}], {"a": [{"y": 1}]}),
        ([{"a": 1, "b": 2}, {"a": None}], {"b": 2}),
        ([{"a": {"x": 1, "y": 2}}, {"a": {"x": None}}], {"a": {"y": 2}}),
        ([{"a": 1}, {"a": None}, {"a": 2}], {"a": 2}),
        ([{"a": None, "b": {"c": None}}], {"b": {}}),
        ([{"a": {"x": 1}}, {"a": 2}], {"a": 2}),
        ([{"a": 2}, {"a": {"x": 1}}], {"a": {"x": 1}}),
        ([{"a": [None]}], {"a": [None]}),
        ([{"a": 1}, {"a": False}, {}], {"a": False}),
    ],
)
def test_maps_merge_and_lists_and_scalars_replace_and_null_removes(
    data: list[dict[str, Any]], expected: dict[str, Any]
) -> None:
    assert expected == merge(layers(*data))


def test_layers_are_not_changed_by_merging() -> None:
    below, above = {"a": {"x": 1}}, {"a": {"x": None, "y": 2}}
    merge(layers(below, above))
    assert (below, above) == ({"a": {"x": 1}}, {"a": {"x": None, "y": 2}})


@table(
    ("path", "expected"),
    [
        (("a", "x"), ("layer0", "a", "x")),
        (("a", "y"), ("layer1", "a", "y")),
        (("l", 1), ("layer1", "l", 1)),
        (("gone",), ("layer1", "gone")),
        (("a", "nowhere"), ("layer1", "a")),
        (("nowhere",), ("layer2",)),
        (("a", "x", "deeper"), ("layer0", "a", "x")),
    ],
)
def test_a_value_comes_from_the_most_specific_layer_that_reaches_deepest(path: Path, expected: Path) -> None:
    data = layers({"a": {"x": 1, "y": 2}, "l": [1, 2], "gone": 1}, {"a": {"y": 3}, "l": [3, 4], "gone": None}, {})
    assert expected == origin(data, path)
