"""The data of a page: what is stored once, and what columns can be grouped by."""

from __future__ import annotations

from tenantry.cli.page.fleet_map import (
    Alert,
    Column,
    Columns,
    Entry,
    FleetMap,
    Row,
    State,
    Value,
    as_data,
    facets_of,
    ranges,
)
from tests.table import table
from tests.unit.texts import FRAME, fleet


@table(
    ("numbers", "expected"),
    [((), []), ((3,), [[3, 3]]), ((0, 1, 2, 5), [[0, 2], [5, 5]]), ((5, 1, 0, 1), [[0, 1], [5, 5]])],
)
def test_numbers_become_ranges(numbers: tuple[int, ...], expected: list[list[int]]) -> None:
    assert ranges(numbers) == expected


def test_names_are_stored_once_and_what_is_empty_not_at_all() -> None:
    shown = FleetMap(
        states=(State("changed", "changed", "~"),),
        rows=(Row("rocky", (0, 1)), Row("movy")),
        columns=(Column("dev", "a", (("region", "eu"),)), Column("dev", "b", (("region", "us"),)), Column("dev", "c")),
        entries=(
            Entry(
                row=0,
                columns=(0, 1),
                state=0,
                kind="app",
                name="web",
                of=2,
                values=(Value("path", "./a", "./b"), Value("text", lines=("+a",))),
                objects=tuple(f"Kustomization {at}" for at in range(22)),
            ),
        ),
        alerts=(Alert(label="quota", text="quota is lowered", where="on a", entries=(0,)),),
        idle="unchanged",
    )
    assert as_data(shown) == {
        "states": [{"key": "changed", "label": "changed", "sign": "~"}],
        "idle": "unchanged",
        "view": "map",
        "facets": [{"name": "region", "values": ["eu", "us", ""]}],
        "columns": [["a", 0], ["b", 1], ["c", 2]],
        "rows": [{"n": "rocky", "p": [[0, 1]]}, {"n": "movy"}],
        "entries": [
            {
                "r": 0,
                "s": 0,
                "c": [[0, 1]],
                "k": "app",
                "n": "web",
                "of": 2,
                "v": [["path", "./a", "./b"], ["text", None, None, ("+a",)]],
                "o": tuple(f"Kustomization {at}" for at in range(10)),
                "m": 12,
            }
        ],
        "alerts": [{"label": "quota", "text": "quota is lowered", "entries": (0,)}],
    }


def test_columns_are_grouped_by_environment_group_and_labels() -> None:
    def column(number: int, environment: str = "prod") -> Column:
        labels = (("name", f"{number}"), ("group", "edge" if number else ""), ("tier", "edge"))
        return Column(environment, f"c-{number}", labels)

    # `tier` is the same on all; `name` is different on each, so it is the last choice.
    assert facets_of([column(0), column(1), column(2)]) == {"group": ("", "edge"), "name": ("0", "1", "2")}
    assert list(facets_of([column(0), column(1, "dev"), column(2)])) == ["environment", "group", "name"]


def test_columns_are_in_the_order_of_the_file_then_those_that_are_gone() -> None:
    columns = Columns({"dev": ["gone", "edge", "hub", "edge"]}, fleet(FRAME + "tenants: {}\n").clusters)
    assert columns.all == [
        Column("dev", "hub", (("tier", "hub"),)),
        Column("dev", "edge", (("tier", "edge"),)),
        Column("dev", "gone"),
    ]
    assert columns.at("dev", ["gone", "hub", "unknown"]) == (2, 0)
    assert (columns.of("dev"), columns.of("prod")) == ((0, 1, 2), ())
