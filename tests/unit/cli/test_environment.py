"""Which environment a command takes, and that it says so if it was not typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.table import table
from tests.unit.cli.test_cli import SOUND, Capture, tenantry

TWO = SOUND.replace(
    "  dev: {management: hub}\n", '  dev: {management: hub}\n  prod: {management: hub, namespace: "{env}-{tenant}"}\n'
).replace("environments: [dev]", "environments: [dev, prod]")


@pytest.fixture(autouse=True)
def _fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TENANTRY_ENVIRONMENT", raising=False)
    Path("tenants.yaml").write_text(SOUND)
    Path("two.yaml").write_text(TWO)
    assert "prod" in TWO


def explained(capsys: Capture, *arguments: str) -> tuple[str, str]:
    """The environment that `explain rocky` takes, and what it says about that."""
    code, out, err = tenantry(capsys, *arguments, "-o", "json")
    assert code == 0, err
    return json.loads(out)["environment"], err


def test_the_only_one_is_taken_and_named(capsys: Capture) -> None:
    code, _, err = tenantry(capsys, "explain", "rocky")
    assert (code, err) == (0, "environment: dev (the only one in tenants.yaml)\n")
    assert explained(capsys, "explain", "rocky") == ("dev", "")


def test_the_variable_is_taken_and_named(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENANTRY_ENVIRONMENT", "prod")
    assert tenantry(capsys, "-f", "two.yaml", "explain", "rocky")[2] == "environment: prod ($TENANTRY_ENVIRONMENT)\n"
    assert explained(capsys, "-f", "two.yaml", "explain", "rocky") == ("prod", "")
    assert explained(capsys, "-f", "two.yaml", "explain", "rocky", "-e", "dev") == ("dev", "")


def test_the_variable_does_not_narrow_what_is_about_all(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tenantry(capsys, "-f", "two.yaml", "render", "-o", "names")
    monkeypatch.setenv("TENANTRY_ENVIRONMENT", "prod")
    assert tenantry(capsys, "-f", "two.yaml", "render", "-o", "names") == before


def test_an_argument_is_the_same_as_the_option(capsys: Capture) -> None:
    narrow = tenantry(capsys, "-f", "two.yaml", "render", "dev")
    assert narrow == tenantry(capsys, "-f", "two.yaml", "render", "-e", "dev")
    assert narrow != tenantry(capsys, "-f", "two.yaml", "render")


@table(
    ("line", "message"),
    [
        ("explain rocky web", "Name an environment with --environment. two.yaml declares dev, prod."),
        ("status", "Name an environment with --environment. two.yaml declares dev, prod."),
        ("up --yes -- --parallel 4", "Name an environment with --environment. two.yaml declares dev, prod."),
        ("destroy", "Name an environment with --environment: this command deletes it. two.yaml declares dev, prod."),
        ("render dev -e prod", "Two environments are named, dev and prod: name one of them."),
    ],
)
def test_what_is_not_clear_is_answered_with_the_names(capsys: Capture, line: str, message: str) -> None:
    code, out, err = tenantry(capsys, "-f", "two.yaml", *line.split())
    assert (code, out, err.partition("\nHelp: ")[0].rstrip()) == (2, "", f"Error: {message}")


@table("words", [("status", "-e", ""), ("up", "", "--yes"), ("explain", "rocky", "-e", ""), ("preflight", "")])
def test_an_empty_name_chooses_no_other_environment(capsys: Capture, words: tuple[str, ...]) -> None:
    assert "The name of the environment is empty." in tenantry(capsys, *words)[2]


def test_an_empty_name_selects_no_other_apps(capsys: Capture) -> None:
    assert "The name of the app is empty." in tenantry(capsys, "why", "rocky", "", "-e", "dev")[2]


@pytest.mark.parametrize("file", ["tenants.yaml", "two.yaml"])
def test_what_deletes_an_environment_takes_none_that_is_not_typed(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    monkeypatch.setenv("TENANTRY_ENVIRONMENT", "dev")
    code, _, err = tenantry(capsys, "-f", file, "destroy", "--yes")
    assert (code, "Name an environment with --environment: this command deletes it" in err) == (2, True)


def test_a_file_that_cannot_be_read_is_what_is_reported(capsys: Capture) -> None:
    assert "nowhere.yaml" in tenantry(capsys, "-f", "nowhere.yaml", "status")[2]
    Path("tenants.yaml").write_text("a: [")
    assert "tenants.yaml:1" in tenantry(capsys, "status")[2]


# --- rocky/web is rocky web ----------------------------------------------------------------------------------------------


@table(
    ("one", "two"),
    [
        ("explain rocky/web", "explain rocky web"),
    ],
)
def test_one_word_and_two_words_are_the_same(capsys: Capture, one: str, two: str) -> None:
    assert tenantry(capsys, *one.split()) == tenantry(capsys, *two.split())


@table(
    ("line", "message"),
    [
        ("explain rocky/web api", "'rocky/web' names an app already: leave out 'api'"),
        (
            "status --app rocky/web --app api",
            "--app TENANT/APP is for the apps of one tenant: run the command for each",
        ),
        ("status -n movy --app rocky/web", "--app TENANT/APP is for the apps of one tenant: run the command for each"),
        ("explain rocky/", "'rocky/' is not TENANT/APP, such as 'rocky/web'"),
        ("remove app rocky web", "Got unexpected extra argument (web)"),
        ("explain rocky web api", "Got unexpected extra argument (api)"),
        ("remove app", "Missing argument 'NAME'."),
    ],
)
def test_more_or_fewer_words_are_refused(capsys: Capture, line: str, message: str) -> None:
    code, out, err = tenantry(capsys, *line.split())
    assert (code, out, err.splitlines()[-2]) == (2, "", f"Error: {message}")


@table(
    ("habit", "what"),
    [
        ("list tenants -n rocky", "list tenants --tenant rocky"),
    ],
)
def test_a_habit_is_accepted(capsys: Capture, habit: str, what: str) -> None:
    assert tenantry(capsys, *habit.split()) == tenantry(capsys, *what.split())


def test_what_to_set_names_the_stack(capsys: Capture) -> None:
    err = tenantry(capsys, "status", "dev", "--kubeconfig", "nowhere")[2]
    assert "pulumi config set --stack dev tenantry:kubeconfig FILE" in err
