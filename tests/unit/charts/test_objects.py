"""The chart of baselines has a version that changes with its files."""

from __future__ import annotations

import hashlib

import yaml

from tenantry.charts import OBJECTS, files_of

CHART = {"0.3.0": "488f425320946a03"}
"""The content of the objects chart by its version: Flux takes a changed chart from Git only if its version is another one."""


def test_a_changed_objects_chart_has_another_version() -> None:
    content = hashlib.sha256(repr(files_of(OBJECTS)).encode()).hexdigest()[:16]
    assert CHART == {yaml.safe_load((OBJECTS / "Chart.yaml").read_bytes())["version"]: content}, (
        "raise the version in tenantry/charts/objects/Chart.yaml"
    )
