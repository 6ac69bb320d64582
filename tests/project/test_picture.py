"""The picture in README shows the plan as it is."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from docs.images.fleet import ENVIRONMENT, FLEET, PICTURE, main, picture_of
from tenantry.load import load_fleet, plan_one

PLAN = plan_one(load_fleet(FLEET), ENVIRONMENT)


def test_a_picture_that_is_out_of_date_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "fleet.svg"
    assert 1 == main(["--check"], file)
    assert f"{file} is out of date\n  fix: run `make picture` and commit the result\n" == capsys.readouterr().err
    assert 0 == main([], file)
    assert 0 == main(["--check"], file)
    assert PICTURE.read_text() == file.read_text()


def test_every_namespace_and_every_app_is_in_the_picture() -> None:
    shown = picture_of(PLAN)
    lines = [line for box in shown.namespaces for line in box.lines]
    assert {app.id.namespace for app in PLAN.apps} <= {box.title for box in shown.namespaces}
    assert [app for app in PLAN.apps if f"{app.id.kind} {app.id.name}" not in lines] == []
    placed = [(cluster, box.title) for cluster, boxes in shown.remotes for box in boxes if box.note != "add-on"]
    assert placed == [(each.cluster, each.namespace) for each in PLAN.placements if each.cluster != PLAN.management]


def test_the_picture_is_well_formed_and_shows_every_text_of_it() -> None:
    shown = picture_of(PLAN)
    texts = {element.text for element in ET.parse(PICTURE).iter() if element.text}
    boxes = [*shown.namespaces, *(box for _, boxes in shown.remotes for box in boxes)]
    assert {text for box in boxes for text in (box.title, box.note, *box.lines)} <= texts
