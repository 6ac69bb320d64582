"""Looking up, replacing and leaving out values of plain data by their paths."""

from __future__ import annotations

from tenantry.messages.data import ABSENT, depth_of, mapping_at, replaced, value_at, without
from tenantry.messages.errors import Path
from tests.table import table

DATA = {"apps": {"web": {"names": ["a", "b"], "wait": None}}}


@table(
    ("path", "value", "depth"),
    [
        ((), DATA, 0),
        (("apps", "web", "names", 1), "b", 4),
        (("apps", "web", "names", 2), ABSENT, 3),
        (("apps", "web", "names", -1), ABSENT, 3),
        (("apps", "web", "names", "a"), ABSENT, 3),
        (("apps", "web", "wait"), None, 3),
        (("apps", "web", "wait", "x"), ABSENT, 3),
        (("apps", 0), ABSENT, 1),
        (("apps", "web", "names", 0, 0), ABSENT, 4),
    ],
    ids=str,
)
def test_a_path_leads_to_a_value_or_as_deep_as_there_is_one(path: Path, value: object, depth: int) -> None:
    assert value_at(DATA, path, ABSENT) == value
    assert depth_of(DATA, path) == depth


def test_a_mapping_is_empty_where_there_is_none() -> None:
    assert mapping_at(DATA, "apps", "web") == DATA["apps"]["web"]
    assert {} == mapping_at(DATA, "apps", "web", "names") == mapping_at(DATA, "tenants") == mapping_at([], "apps")


def test_a_copy_with_another_value_shares_the_rest() -> None:
    data = {"a": [{"b": 1}, {"c": 2}], "d": {}}
    copy = replaced(data, ("a", 0, "b"), 3)
    assert copy == {"a": [{"b": 3}, {"c": 2}], "d": {}}
    assert data["a"] == [{"b": 1}, {"c": 2}]
    assert copy["d"] is data["d"]


def test_a_copy_without_some_keys_keeps_the_rest() -> None:
    data = {"a": {"b": 1, "c": 2}, "d": 3}
    assert without(data, [("a", "b"), ("d", "x"), ("e",)]) == {"a": {"c": 2}, "d": 3}
    assert data == {"a": {"b": 1, "c": 2}, "d": 3}
