"""Which environment, tenant and app a command takes."""

from __future__ import annotations

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
    Path("tenants.yaml").write_text(SOUND)
    Path("two.yaml").write_text(TWO)
    assert "prod" in TWO


def test_an_argument_is_the_same_as_the_option(capsys: Capture) -> None:
    narrow = tenantry(capsys, "-f", "two.yaml", "render", "dev")
    assert narrow == tenantry(capsys, "-f", "two.yaml", "render", "-e", "dev")
    assert narrow != tenantry(capsys, "-f", "two.yaml", "render")


@table(
    ("line", "message"),
    [
        ("explain rocky/web", "Name an environment."),
        ("status", "Name an environment."),
        ("up --yes -- --parallel 4", "Name an environment."),
        ("destroy", "Name an environment."),
        ("render dev -e prod", "Two environments are named, dev and prod: name one."),
    ],
)
def test_what_is_not_clear_is_refused(capsys: Capture, line: str, message: str) -> None:
    code, out, err = tenantry(capsys, "-f", "two.yaml", *line.split())
    assert (code, out, err.partition("\nHelp: ")[0].rstrip()) == (2, "", f"Error: {message}")


@table("words", [("status", "-e", ""), ("up", "", "--yes"), ("explain", "rocky", "-e", ""), ("preflight", "")])
def test_an_empty_name_chooses_no_other_environment(capsys: Capture, words: tuple[str, ...]) -> None:
    assert "The name of the environment is empty." in tenantry(capsys, *words)[2]


# --- one word names an app -----------------------------------------------------------------------------------------------


@table(
    ("line", "message"),
    [
        ("explain rocky/web api -e dev", "Got unexpected extra argument (api)"),
        (
            "explain rocky/",
            "Invalid value for 'TENANT[/APP]': 'rocky/' is not TENANT[/APP], such as 'rocky/web'.",
        ),
        ("why rocky", "Invalid value for 'TENANT/APP': 'rocky' is not TENANT/APP, such as 'rocky/web'."),
        ("remove app rocky web", "Got unexpected extra argument (web)"),
        ("remove app", "Missing argument 'NAME'."),
    ],
)
def test_more_or_fewer_words_are_refused(capsys: Capture, line: str, message: str) -> None:
    code, out, err = tenantry(capsys, *line.split())
    assert (code, out, err.splitlines()[-2]) == (2, "", f"Error: {message}")


def test_what_to_set_names_the_stack(capsys: Capture) -> None:
    err = tenantry(capsys, "status", "dev", "--kubeconfig", "nowhere")[2]
    assert "pulumi config set --stack dev tenantry:kubeconfig FILE" in err
