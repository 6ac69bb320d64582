"""Wrong command lines: what they are told, and that they end with exit code 2."""

from __future__ import annotations

import re
from pathlib import Path

import click

from tenantry.cli.app import app
from tenantry.cli.habits import COMMANDS, OPTIONS, SUBCOMMANDS
from tests.table import table
from tests.unit.cli.test_cli import Capture, tenantry


@table(
    ("line", "answer"),
    [
        ("vlidate", "No such command 'vlidate'. Did you mean 'validate'?"),
        (
            "plan",
            "No such command 'plan'. Type: tenantry preview ENVIRONMENT (with Pulumi), or tenantry diff (what a change does),"
            " or tenantry render ENVIRONMENT (the objects)",
        ),
        ("apply", "No such command 'apply'. Type: tenantry up ENVIRONMENT"),
        ("rollback", "No such command 'rollback'. Type: git revert COMMIT, then tenantry up ENVIRONMENT"),
        ("drift", "No such command 'drift'. Type: tenantry preview ENVIRONMENT --refresh"),
        (
            "history",
            "No such command 'history'. Type: git log -p tenants.yaml, or pulumi stack history --stack ENVIRONMENT",
        ),
        (
            "describe rocky/web",
            "No such command 'describe'. Type: tenantry why rocky/web -e ENVIRONMENT (what is not well), or"
            " tenantry tree rocky/web -e ENVIRONMENT (what Flux applied), or"
            " tenantry explain rocky/web -e ENVIRONMENT (settings)",
        ),
        ("cluster bootstrp", "No such command 'bootstrp'. Did you mean 'bootstrap'?"),
        ("sandbox start", "No such command 'start'. Did you mean 'status'?"),
        ("add env x", "No such command 'env'. Did you mean 'environment'?"),
        ("add clusters x", "No such command 'clusters'. Did you mean 'cluster'?"),
        ("cluster help", "No such command 'help'. Type: tenantry help COMMAND"),
        (
            "add override x",
            "No such command 'override'. Type: tenantry set PATH VALUE"
            " (or unset PATH), such as tenantry set tenants.rocky.overrides.environments.prod.quota.pods 80",
        ),
        ("quux", "No such command 'quux'."),
        ("help quux", "No such command 'quux'."),
        ("help diff more", "'tenantry diff' has no command 'more'"),
        ("validate --outptu json", "No such option '--outptu'. Did you mean '--output'?"),
        ("validate other.yaml", "Got unexpected extra argument (other.yaml). Did you mean '--file other.yaml'?"),
        (
            "diff dev prod",
            "Got unexpected extra argument (prod). To compare two environments, type: tenantry parity ENVIRONMENT ENVIRONMENT",
        ),
        ("tree web -n rocky", "No such option '-n'. Name the app as TENANT/APP."),
        (
            "up --tenant rocky",
            "No such option '--tenant'."
            " Pulumi applies a whole environment. Type: tenantry preview ENVIRONMENT --tenant TENANT",
        ),
        ("status -A", "No such option '-A'. All tenants are shown unless --tenant names one: leave it out."),
        (
            "explain rocky -l tier=edge",
            "No such option '-l'. Clusters have labels: tenantry list clusters",
        ),
        ("tree rocky/web -w", "No such option '-w'. Type: tenantry status ENVIRONMENT --watch"),
        ("-C fleet status", "No such option '-C'. Type: --file DIRECTORY/tenants.yaml"),
        (
            "diff -q",
            "No such option '-q'. Messages are on stderr, results on stdout: 2>/dev/null hides the messages.",
        ),
        ("up --auto-approve", "No such option '--auto-approve'. Type: --yes"),
        ("up --dry-run", "No such option '--dry-run'. Type: tenantry preview ENVIRONMENT"),
    ],
)
def test_a_wrong_command_line_gets_the_nearest_right_one(capsys: Capture, line: str, answer: str) -> None:
    code, out, err = tenantry(capsys, *line.split())
    assert (code, out, err.splitlines()[-1]) == (2, "", f"Error: {answer}")


def test_every_answer_is_about_a_command_that_there_is_none_of() -> None:
    assert COMMANDS.keys() & {*app.list_commands(click.Context(app))} == set()


def test_every_line_to_type_begins_with_a_command() -> None:
    answers = [*COMMANDS.values(), *SUBCOMMANDS.values(), *(answer for each in OPTIONS.values() for _, answer in each)]
    lines = [line for answer in answers for line in re.findall(r"tenantry ((?:[a-z]+ ?)+)", answer)]
    assert len(lines) > 50
    for line in lines:
        command: click.Command = app
        for word in line.split():
            if not isinstance(command, click.Group):
                break
            below = command.get_command(click.Context(command), word)
            assert below, line
            command = below


def test_help_shows_the_page_of_a_command(capsys: Capture) -> None:
    assert tenantry(capsys, "help", "cluster", "check") == tenantry(capsys, "cluster", "check", "--help")
    assert tenantry(capsys, "help") == tenantry(capsys, "--help")


def test_an_option_before_a_wrong_command_does_not_hide_the_answer(capsys: Capture) -> None:
    assert "Did you mean 'validate'?" in tenantry(capsys, "--file", str(Path("x.yaml")), "vlidate")[2]
