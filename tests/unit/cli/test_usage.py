"""Wrong command lines: what they are told, and that they end with exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.test_cli import Capture, tenantry


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["vlidate"], "No such command 'vlidate'. Did you mean 'validate'?"),
        (
            ["plan"],
            "No such command 'plan'."
            " Did you mean 'preview' (with Pulumi), 'diff' (what a change does) or 'render' (the objects)?",
        ),
        (["apply"], "No such command 'apply'. Did you mean 'up'?"),
        (
            ["uninstall"],
            "No such command 'uninstall'. Did you mean 'destroy' (an environment) or 'remove' (an entry of tenants.yaml)?",
        ),
        (
            ["ls"],
            "No such command 'ls'."
            " Did you mean 'list' (what the file declares), 'status' (whether apps are ready) or 'explain' (settings)?",
        ),
        (["new"], "No such command 'new'. Did you mean 'init' (a new project) or 'add' (an entry of tenants.yaml)?"),
        (
            ["bump"],
            "No such command 'bump'. Did you mean 'update' (versions of apps) or 'upgrade' (the project's files)?",
        ),
        (["help"], "No such command 'help'. Did you mean 'tenantry --help'?"),
        (["cluster", "bootstrp"], "No such command 'bootstrp'. Did you mean 'bootstrap'?"),
        (["sandbox", "start"], "No such command 'start'. Did you mean 'status'?"),
        (["quux"], "No such command 'quux'."),
        (["validate", "--outptu", "json"], "No such option '--outptu'. Did you mean '--output'?"),
        (
            ["validate", "other.yaml"],
            "Got unexpected extra argument (other.yaml). Did you mean '--file other.yaml'?",
        ),
    ],
)
def test_a_wrong_command_line_gets_the_nearest_right_one(capsys: Capture, arguments: list[str], answer: str) -> None:
    code, out, err = tenantry(capsys, *arguments)
    assert (code, out, err.splitlines()[-1]) == (2, "", f"Error: {answer}")


def test_every_answer_names_a_command_that_is_none() -> None:
    from tenantry.cli.app import _COMMANDS, _Commands

    assert _Commands.answers.keys() & _COMMANDS.keys() == set()


def test_an_option_before_a_wrong_command_does_not_hide_the_answer(capsys: Capture) -> None:
    assert "Did you mean 'validate'?" in tenantry(capsys, "--file", str(Path("x.yaml")), "vlidate")[2]
