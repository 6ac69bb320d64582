"""Chains of names."""

from __future__ import annotations

from tenantry.fleet.lineages import cycles, in_order, lineage


def test_a_lineage_ends_with_the_name_and_starts_where_nothing_lies_above() -> None:
    assert ["a", "b", "c"] == lineage("c", {"c": "b", "b": "a", "a": None, "d": "a"})


def test_a_circle_is_walked_once() -> None:
    assert ["b", "a", "c"] == lineage("c", {"c": "a", "a": "b", "b": "a"})


def test_every_circle_is_named_once_and_what_only_leads_into_it_is_no_part_of_it() -> None:
    parents = {"x": "c", "c": "b", "b": "a", "a": "c", "self": "self", "fine": "unknown", "free": None}
    assert [["a", "c", "b", "a"], ["self", "self"]] == list(cycles(parents))


def test_an_order_keeps_to_the_order_given_where_nothing_speaks_against_it() -> None:
    assert ["d", "a", "b", "c"] == in_order({"d": None, "c": "b", "b": "a", "a": None})


def test_an_order_holds_every_name_even_in_circles_and_behind_what_is_unknown() -> None:
    assert ["b", "a", "c"] == in_order({"a": "b", "b": "a", "c": "unknown"})
