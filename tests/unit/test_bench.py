"""The fleet of the benchmark is valid, and its main file stays short."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import groups, status
from tenantry.load import load_fleet, plan_all, warnings_of


def test_a_main_file_for_many_clusters_is_short_and_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "CLUSTERS", 20)
    file = groups.write(tmp_path)
    fleet = load_fleet(file)
    assert len(plan_all(fleet)["prod"].objects) > 20 * 20 * 5
    assert warnings_of(fleet) == ()
    assert len(file.read_text().splitlines()) <= 300


def test_the_status_of_made_up_apps_can_be_timed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["bench.status", "4"])
    monkeypatch.setattr("gc.set_threshold", lambda _: None)
    status.main()
    assert "\n12 apps, " in capsys.readouterr().out
