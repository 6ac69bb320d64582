"""The fleets of the benchmark are valid, and its results become a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.bank import REGIONS, REMOTES, bank
from bench.cases import clusters, rollouts, status
from bench.fleets import OBJECTS_OF_A_TENANT, on_one_cluster, served, text_of, with_another_interval
from bench.retail import retail
from bench.run import keep
from bench.tables import Row, Table, as_data, as_text, from_data
from bench.vendor import in_lines, written_out
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


def test_a_bank_has_six_environments_on_two_management_clusters() -> None:
    plans = plan_all(fleet_of(parse(bank(2), "tenants.yaml")))
    assert {name: plan.management for name, plan in plans.items()} == {
        f"{stage}-{region}": f"hub-{region}" for stage in REMOTES for region in REGIONS
    }
    for name, plan in plans.items():
        assert len({each.cluster for each in plan.placements}) == REMOTES[name.partition("-")[0]]


def test_a_retailer_has_stores_in_each_wave() -> None:
    fleet = fleet_of(parse(retail(24), "tenants.yaml"))
    assert warnings_of(fleet) == ()
    for plan in plan_all(fleet).values():
        assert plan.rollout
        assert [len(each.clusters) for each in plan.rollout.waves] == [1, 1, 2, 5, 4]


def test_a_vendors_customers_have_the_same_apps_in_lines_as_written_out() -> None:
    lines, written = (plan_all(fleet_of(parse(text, "tenants.yaml")))["prod"] for text in (in_lines(8), written_out(8)))
    assert len(lines.apps) == 8 * 2 + 4
    assert {(each.cluster, each.full_name) for each in lines.apps} == {
        (each.cluster, each.full_name) for each in written.apps
    }


def test_a_fleet_is_the_same_at_once_and_in_waves() -> None:
    at_once, in_waves = (
        plan_all(fleet_of(parse(rollouts.fleet(12, 1, in_waves=each), "tenants.yaml")))["prod"]
        for each in (False, True)
    )
    assert at_once.objects == in_waves.objects
    assert in_waves.rollout
    assert [len(each.clusters) for each in in_waves.rollout.waves] == [5, 2, 6]


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
