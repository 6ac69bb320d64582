"""The chart of baselines in a repository: all of its files and no other, under a version that changes with them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import yaml

from tenantry.charts import OBJECTS
from tenantry.charts.package import copy, files_of
from tenantry.messages.errors import Refused

CHART = {"0.3.0": "488f425320946a03"}
"""The content of the objects chart by its version: Flux takes a changed chart from Git only if its version is another one."""


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    for name in ("Chart.yaml", "templates/all.yaml"):
        (file := tmp_path / "web" / name).parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"name: {name}\n")
    return tmp_path / "web"


def test_a_changed_objects_chart_has_another_version() -> None:
    content = hashlib.sha256(repr(files_of(OBJECTS)).encode()).hexdigest()[:16]
    assert CHART == {yaml.safe_load((OBJECTS / "Chart.yaml").read_bytes())["version"]: content}, (
        "raise the version in tenantry/charts/objects/Chart.yaml"
    )


def test_a_copy_is_the_chart_and_nothing_else(chart: Path, tmp_path: Path) -> None:
    target = tmp_path / "repository" / "charts" / "web"
    assert copy(chart, target) == ("Chart.yaml", "templates/all.yaml")
    assert copy(chart, target) == ()
    (target / "Chart.yaml").write_text("name: old\n")
    assert copy(chart, target) == ("Chart.yaml",)
    assert files_of(target) == files_of(chart)
    (target / "templates" / "mine.yaml").touch()
    with pytest.raises(Refused) as refused:
        copy(chart, target)
    assert str(refused.value) == (
        f"{target} has files that are not the chart's (templates/mine.yaml)\n"
        "  fix: name another directory, or remove these files: Helm would install templates among them"
    )
