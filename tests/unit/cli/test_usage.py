"""Wrong command lines: what they are told, and that they end with exit code 2."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from tenantry.cli.app import app
from tenantry.cli.habits import FAILING, HABITS, OPTIONS
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
    monkeypatch.delenv("TENANTRY_ENVIRONMENT", raising=False)
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


def test_an_environment_that_is_known_is_in_the_line(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "tenantry why rocky/web -e ENVIRONMENT" in tenantry(capsys, "describe", "rocky/web")[2]
    monkeypatch.setenv("TENANTRY_ENVIRONMENT", "prod")
    assert "tenantry why rocky/web -e prod" in tenantry(capsys, "describe", "rocky/web")[2]


@table(
    ("habit", "what"),
    [
        ("list apps -t rocky", "list apps --tenant rocky"),
        ("list apps --env dev", "list apps --environment dev"),
        ("list apps --env=dev", "list apps --environment=dev"),
        (
            "add app movy/db2 --chart x --version 1 --env dev",
            "add app movy/db2 --chart x --version 1 --environments dev",
        ),
    ],
)
def test_an_option_that_means_the_same_is_accepted(capsys: Capture, habit: str, what: str) -> None:
    Path("tenants.yaml").write_text(FLEET)
    expected = tenantry(capsys, *what.split())
    Path("tenants.yaml").write_text(FLEET)
    assert expected[0] == 0
    assert tenantry(capsys, *habit.split()) == expected


def test_without_a_file_the_lines_keep_the_words(capsys: Capture) -> None:
    Path("tenants.yaml").unlink()
    assert "  tenantry remove app movy/api\n" in tenantry(capsys, "remove", "movy/api")[2]
    assert "  tenantry why rocky/web -e dev\n" in tenantry(capsys, "describe", "rocky/web", "-e", "dev")[2]


def test_a_word_that_looks_like_a_field_is_only_a_word(capsys: Capture) -> None:
    assert "  tenantry add tenant '{app}'\n" in tenantry(capsys, "create", "tenant", "{app}")[2]


@table(
    ("typed", "proposed"),
    [
        ("removee", True),
        ("removve", True),
        ("destroyy", True),
        ("emove", True),
        ("rremove", True),
        ("rem", False),
        ("moved", False),
        ("destruct", False),
    ],
)
def test_only_one_wrong_letter_leads_to_what_removes(capsys: Capture, typed: str, *, proposed: bool) -> None:
    assert any(f"'{name}'?" in tenantry(capsys, typed)[2] for name in ("remove", "destroy")) == proposed
    assert "'remove'" not in tenantry(capsys, "cluster", typed)[2]


def test_every_line_to_type_begins_with_a_command() -> None:
    answers = [each for table in (HABITS, FAILING) for lines in table.values() for each in lines]
    answers += [answer for each in OPTIONS.values() for _, answer in each]
    lines = [line for answer in answers for line in re.findall(r"tenantry ((?:[a-z]+ ?)+)", answer)]
    assert len(lines) > 100
    for line in lines:
        command: click.Command = app
        for word in line.split():
            if not isinstance(command, click.Group):
                break
            below = command.get_command(click.Context(command), word)
            assert below, line
            command = below


def test_help_shows_the_page_of_a_command(capsys: Capture) -> None:
    assert tenantry(capsys, "help", "cluster", "check") == tenantry(capsys, "preflight", "--cluster", "--help")
    assert tenantry(capsys, "help") == tenantry(capsys, "--help")
