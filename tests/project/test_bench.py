"""The fleets of the benchmark are valid, and its results become a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.cases import clusters, status
from bench.fleets import OBJECTS_OF_A_TENANT, on_one_cluster, served, text_of, with_another_interval
from bench.run import keep
from bench.tables import Row, Table, as_data, as_text, from_data
from tenantry.load import fleet_of, load_fleet, plan_all, warnings_of
from tenantry.source.parse import parse


def test_a_main_file_for_many_clusters_is_short_and_valid(tmp_path: Path) -> None:
    file = clusters.write(tmp_path, 20)
    fleet = load_fleet(file)
    assert len(plan_all(fleet)["prod"].objects) > 20 * 20 * 4
    assert warnings_of(fleet) == ()
    assert len(file.read_text().splitlines()) <= 300


def test_fleets_have_as_many_objects_as_the_tables_say() -> None:
    assert objects(text_of(5)) == 5 * OBJECTS_OF_A_TENANT + 3
    assert objects(on_one_cluster(5)) == objects(served(5)) == 50
    assert with_another_interval(text_of(5)) != text_of(5)


def objects(text: bytes) -> int:
    return len(plan_all(fleet_of(parse(text, "tenants.yaml")))["prod"].objects)


def test_the_status_of_made_up_apps_can_be_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gc.set_threshold", lambda _: None)
    (table,) = status.measure(tenants=4)
    assert table.title == "The steps of `tenantry status` for 12 apps"
    assert [row.name for row in table.rows][:3] == ["load", "plan", "read from the API server"]


TABLE = Table(
    "t",
    "Title",
    "How.",
    (
        Row("slow", 12.345, 3.0, 120, {"servers": 0.04}),
        Row("floor", 2.0, 1.5, 60),
    ),
    "floor",
)


def test_a_table_compares_its_rows_with_the_floor() -> None:
    assert as_text(TABLE) == (
        """\
Title
       seconds  processor   MB  servers  ratio
slow      12.3          3  120    0.040   6.17
floor        2        1.5   60            1.00"""
    )


def test_results_are_kept_and_read_back(tmp_path: Path) -> None:
    assert from_data(as_data(TABLE)) == TABLE
    file = tmp_path / "results.json"
    for name in ("growth", "start", "growth"):
        keep({name: [TABLE]}, file)
    kept = json.loads(file.read_text())["cases"]
    assert {name: case["tables"] for name, case in kept.items()} == {
        "start": [as_data(TABLE)],
        "growth": [as_data(TABLE)],
    }
    assert list(kept) == ["start", "growth"]
