"""The command `tenantry`: finds the subcommand, and turns what goes wrong into a message and an exit code.

0 fine, 1 a difference or something not ready, 2 invalid input or usage, 3 a bug of ours, 130 interrupted.
Subcommands are imported when they are called, so that `validate` does not pay for the sandbox.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from pathlib import Path

import click

from tenantry import __version__
from tenantry.cli.output import error, report_invalid
from tenantry.messages.errors import InvalidFleet, Refused

_COMMANDS = {
    "validate": "check the fleet's file and everything it would yield",
    "render": "write the objects of the fleet as YAML",
    "diff": "say what a change of the fleet's file does",
    "explain": "say where the settings of a tenant or an app come from",
    "preflight": "say what would go wrong with the next `pulumi up`",
    "schema": "print the JSON Schema of the fleet's file",
    "status": "show whether every app is ready",
    "cluster": "prepare and check clusters",
    "sandbox": "run an environment's clusters on this machine",
    "completion": "print the completion script of a shell",
}


_MODULES = {"diff": "tenantry.cli.diff.command"}
"""Where a command is more than one module of its own name."""


class _Commands(click.Group):
    def list_commands(self, _: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(_MODULES.get(name, f"tenantry.cli.{name}")).command
        return command

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Exit codes: 0 fine, 1 differences or not ready, 2 invalid input or usage, 3 a bug of tenantry, 130 interrupted.",
)
@click.option(
    "-f",
    "--file",
    type=click.Path(path_type=Path),
    default=Path("tenants.yaml"),
    show_default=True,
    envvar="TENANTRY_FILE",
    help="The fleet's file.",
)
@click.version_option(__version__, prog_name="tenantry")
@click.pass_context
def app(context: click.Context, file: Path) -> None:
    r"""Run a multi-tenant, multi-cluster Flux fleet from one file.

    \b
    tenantry validate                               is tenants.yaml sound, and what does it yield?
    tenantry render --environment dev               what `pulumi up` will apply, as YAML
    tenantry diff origin/main                       what a change does, before anything happens
    tenantry preflight --environment dev            would the cluster take it, and is it fit?
    tenantry sandbox up                             try it on this machine
    """
    context.obj = file


def main() -> None:
    """The entry point of the installed command."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # where a terminal lacks a letter of somebody's file
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; returns its exit code."""
    try:
        result = app.main(arguments, prog_name="tenantry", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except InvalidFleet as invalid:
        report_invalid(invalid)
        return 2
    except Refused as refused:
        error(str(refused))
        return 2
    except click.exceptions.NoArgsIsHelpError as help_wanted:
        click.echo(help_wanted.format_message())
        return 2
    except click.ClickException as usage:
        usage.show()
        return 2
    except (KeyboardInterrupt, click.Abort):
        error("interrupted")
        return 130
    except Exception as unexpected:
        return _bug(unexpected)


def _bug(unexpected: Exception) -> int:
    if os.environ.get("TENANTRY_DEBUG"):
        raise unexpected
    error(
        f"this is a bug of tenantry: {type(unexpected).__name__}: {unexpected}\n"
        "  fix: run it again with TENANTRY_DEBUG=1 and report what it prints"
    )
    return 3
