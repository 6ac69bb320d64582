"""`tenantry chart copy`: what is written and what is said, with what to put into tenants.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.charts import OBJECTS
from tenantry.charts.package import files_of
from tenantry.cli.app import run

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_a_copy_says_what_to_write(capsys: Capture) -> None:
    assert run(["chart", "copy"]) == 0
    told = capsys.readouterr()
    assert told.out == "charts/objects: tenantry-objects 0.3.0, 4 files written\n"
    assert told.err == (
        "commit and push it, then write in tenants.yaml:\n"
        "  platform: {chart: {git: {url: ..., ref: {branch: main}, path: charts/objects}}}\n"
    )
    assert files_of(Path("charts/objects")) == files_of(OBJECTS)
    assert run(["chart", "copy", "charts/objects"]) == 0
    assert capsys.readouterr().out == "charts/objects: tenantry-objects 0.3.0, nothing to write\n"


def test_what_cannot_be_written_is_refused(capsys: Capture) -> None:
    Path("file").touch()
    assert run(["chart", "copy", "file/charts"]) == 2
    assert capsys.readouterr().err == (
        "error: file/charts cannot be written: Not a directory\n  fix: name another directory\n"
    )
