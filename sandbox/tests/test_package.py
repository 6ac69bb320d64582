"""Charts as archives: the same bytes on every machine."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from tenantry.messages.errors import Refused
from tenantry_sandbox.package import package


def make_chart(directory: Path, name: str, version: str) -> Path:
    (directory / "templates").mkdir(parents=True)
    (directory / "Chart.yaml").write_text(f"apiVersion: v2\nname: {name}\nversion: {version}\ndescription: a test\n")
    (directory / "templates" / "all.yaml").write_text("kind: ConfigMap\n")
    return directory


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    return make_chart(tmp_path / "web", "web", "1.2.3")


def test_the_archive_holds_the_charts_files_below_its_name(chart: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(package(chart).archive)) as archive:
        assert archive.getnames() == ["web/Chart.yaml", "web/templates/all.yaml"]


def test_equal_files_give_equal_archives_whenever_they_were_written(chart: Path, tmp_path: Path) -> None:
    other = make_chart(tmp_path / "copy", "web", "1.2.3")
    os.utime(other / "Chart.yaml", (1, 1))
    (other / "Chart.yaml").chmod(0o600)

    assert package(chart).archive == package(other).archive


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: web\n", "Chart.yaml lacks a name or a version"),
        ("name: [", "Chart.yaml is not valid YAML"),
        (None, "Chart.yaml does not exist"),
    ],
)
def test_a_directory_that_is_no_chart_is_refused(chart: Path, text: str | None, said: str) -> None:
    (chart / "Chart.yaml").unlink()
    if text:
        (chart / "Chart.yaml").write_text(text)
    with pytest.raises(Refused, match=said):
        package(chart)
