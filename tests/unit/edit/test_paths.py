"""Paths as texts: what they name, with help of the schema, and what cannot be meant."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from tenantry.edit.paths import END, assignment, located, parse_path, typed
from tenantry.messages.data import ABSENT, value_at
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import format_path
from tests.drawn import given
from tests.table import table


@table(
    ("text", "path"),
    [
        ("tenants.rocky.owners[0].group", ("tenants", "rocky", "owners", 0, "group")),
        ('tenants.rocky.quota["requests.cpu"]', ("tenants", "rocky", "quota", "requests.cpu")),
        ("tenants.rocky.quota.requests.cpu", ("tenants", "rocky", "quota", "requests.cpu")),
        ("clusters.hub.labels.app.kubernetes.io/name", ("clusters", "hub", "labels", "app.kubernetes.io/name")),
        ("tenants.r.apps.w.helm.values.a.b", ("tenants", "r", "apps", "w", "helm", "values", "a", "b")),
        ("tenants.rocky.clusters.names[]", ("tenants", "rocky", "clusters", "names", END)),
        ("tenants.rocky.clusters.names[edge-1]", ("tenants", "rocky", "clusters", "names", "edge-1")),
        ("tenants.rocky.nothing.such", ("tenants", "rocky", "nothing", "such")),
    ],
)
def test_a_text_names_a_path(text: str, path: Path) -> None:
    assert parse_path(text) == path


@given(st.lists(st.sampled_from(["tenants", "a.b", "x y", "8", "helm", "values"]) | st.integers(0, 12), min_size=1))
def test_a_path_as_messages_write_it_is_read_back(parts: list[str | int]) -> None:
    path = ("platform", "addons", "dns", "helm", "values", *parts)
    assert parse_path(format_path(path)) == path


@table("text", ["", "tenants.", ".tenants", "tenants..rocky", "tenants[", "tenants[0", 'a"b"'])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(Refused):
        parse_path(text)


DATA = {"names": ["hub", "edge"], "empty": []}


@table(
    ("path", "place"),
    [
        (("names", END), ("names", 2)),
        (("names", "edge"), ("names", 1)),
        (("names", "other"), ("names", "other")),
        (("empty", END), ("empty", 0)),
        (("missing", END), ("missing", 0)),
    ],
)
def test_entries_of_lists_are_found_by_their_text(path: Path, place: Path) -> None:
    assert located(path, lambda at: value_at(DATA, at, ABSENT)) == place


@table(
    ("text", "expected"),
    [
        ("quota.requests.cpu=8", (("quota", "requests.cpu"), 8)),
        ("role=1", (("role",), "1")),
        ("adopt=true", (("adopt",), True)),
        ("labels.stage=on", (("labels", "stage"), "on")),
        ("environments=dev,prod", (("environments",), ["dev", "prod"])),
        ("environments=[dev]", (("environments",), ["dev"])),
        ("from=small", (("from",), "small")),
        ("clusters.all=true", (("clusters", "all"), True)),
        ("clusters.names=edge", (("clusters", "names"), ["edge"])),
        ("namespaces.extra.quota.pods=4", (("namespaces", "extra", "quota", "pods"), 4)),
    ],
)
def test_a_setting_is_read_as_the_schema_has_it(text: str, expected: tuple[Path, Any]) -> None:
    assert assignment(("tenants", "nora"), text) == expected


@table(
    ("path", "value", "text", "expected"),
    [
        (("tenants", "a", "apps", "b", "helm", "version"), 1.1, "1.10", "1.10"),
        (("tenants", "a", "apps", "b", "helm", "values", "tag"), 1.1, "1.10", "1.10"),
        (("tenants", "a", "apps", "b", "helm", "values", "share"), 1.5, "1.5", 1.5),
        (("tenants", "a", "quota", "pods"), 60, "60", 60),
        (("tenants", "a", "adopt"), 5, "5", 5),
    ],
)
def test_a_value_is_a_text_only_where_nothing_else_fits(path: Path, value: Any, text: str, expected: Any) -> None:
    assert typed(path, value, text) == expected
