"""Wrong command lines: what they are told, and that they end with exit code 2."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.table import table
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.texts import rocky

FLEET = (
    rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}").replace(
        "  dev: {management: hub}\n",
        '  dev: {management: hub}\n  prod: {management: hub, namespace: "{env}-{tenant}"}\n',
    )
    + """\
  movy:
    clusters: {all: true}
    sources: {charts: {helm: {url: https://charts.example.com}}}
    apps: {db: {helm: {source: charts, chart: db, version: 1.0.0}}}
"""
).replace("environments: [dev]", "environments: [dev, prod]")
ANSWERS = Path(__file__).with_name("usage.txt")
"""Command lines, each with all that it prints. `pytest --update-golden` writes the answers; read them."""


@pytest.fixture(autouse=True)
def _fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(FLEET)


def test_a_wrong_command_line_gets_the_right_one(capsys: Capture, *, update_golden: bool) -> None:
    blocks = [
        block.partition("\n")[::2] for block in ANSWERS.read_text().removeprefix("$ tenantry ").split("\n$ tenantry ")
    ]
    found = {}
    for line, _ in blocks:
        code, out, err = tenantry(capsys, *shlex.split(line))
        assert (code, out) == (2, ""), line
        found[line] = err.rstrip("\n")
    if update_golden:
        ANSWERS.write_text("".join(f"$ tenantry {line}\n{err}\n" for line, err in found.items()))
    assert found == {line: answer.rstrip("\n") for line, answer in blocks}


def test_the_fleet_of_the_answers_is_valid(capsys: Capture) -> None:
    assert tenantry(capsys, "validate")[0] == 0


@table("typed", ["removee", "emove", "rem", "destroyy", "destruct"])
def test_no_wrong_word_leads_to_what_removes(capsys: Capture, typed: str) -> None:
    assert not any(f"'{name}'?" in tenantry(capsys, typed)[2] for name in ("remove", "destroy"))
