"""The command `tenantry`: finds the subcommand, and turns errors into messages and exit codes.

0 success, 1 differences or not ready, 2 invalid input or usage, 3 internal error, 4 refused change, 130 interrupted.
A subcommand is imported only when it is called, because some import large libraries.
"""

from __future__ import annotations

import importlib
import io
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import entry_points
from itertools import takewhile
from typing import Any

import click
from click.shell_completion import CompletionItem

from tenantry import __version__
from tenantry.cli.commands import Group, as_document, exit_code, report
from tenantry.cli.options import file_option
from tenantry.cli.output import data_json, is_answered, start_answer
from tenantry.messages.errors import Refused

_SECTIONS = {
    "Start a fleet": {
        "init": "write a new project for a fleet",
        "import": "write tenants.yaml from existing Flux objects",
    },
    "Everyday commands": {
        "validate": "check tenants.yaml and everything it yields",
        "diff": "show what a change of tenants.yaml does",
        "preflight": "check the plan against the live clusters",
        "preview": "show with Pulumi what `up` would do",
        "up": "apply an environment with Pulumi, and wait until it is ready",
        "destroy": "delete an environment with Pulumi",
        "status": "show whether every app is ready",
    },
    "Inspect": {
        "list": "list tenants, apps with versions, clusters or placements",
        "explain": "show where a setting of a tenant, app or add-on comes from",
        "render": "write the objects that `tenantry up` applies as YAML",
        "why": "show why an app is not well, and what to type next",
    },
    "Edit tenants.yaml": {
        "add": "add a tenant, an app, a cluster, a source or an add-on",
        "set": "set or remove a value in tenants.yaml",
        "remove": "remove a tenant, an app, a cluster, a source or an add-on",
        "promote": "give an environment the versions that another one has",
    },
    "Clusters": {
        "bootstrap": "print or apply what clusters need before the first run",
    },
    "More": {
        "schema": "print the JSON Schema of tenants.yaml for editors",
        "completion": "print the completion script for bash, zsh or fish",
    },
}
"""The commands below their headings, in the order in which a user needs them."""

_COMMANDS = {name: text for commands in _SECTIONS.values() for name, text in commands.items()}

_MODULES = {
    "import": "tenantry.cli.importing",
    **dict.fromkeys(("preview", "up", "destroy"), "tenantry.cli.engine"),
    **dict.fromkeys(("add", "remove", "set", "promote"), "tenantry.cli.edit"),
    **dict.fromkeys(("schema", "completion"), "tenantry.cli.editors"),
}
"""The modules of commands that are not in a module of their own name. A module has `command`, or `commands` by name."""


PLUGINS = "tenantry.commands"
"""The entry points by which other distributions add commands, such as tenantry-sandbox."""


class _Commands(Group):
    def list_commands(self, _: click.Context) -> list[str]:
        return [*_COMMANDS, *sorted(entry_points(group=PLUGINS).names)]

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return next((plugin.load() for plugin in entry_points(group=PLUGINS, name=name)), None)
        module = importlib.import_module(_MODULES.get(name, f"tenantry.cli.{name}"))
        command: click.Command = module.commands[name] if hasattr(module, "commands") else module.command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] == "sandbox" and not entry_points(group=PLUGINS, name="sandbox"):
            raise Refused(
                "the sandbox is not installed", "run `pip install tenantry-sandbox`, or `make setup` in a checkout"
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, _COMMANDS))
        for heading, commands in _SECTIONS.items():
            with formatter.section(heading):
                # Names of one width keep the texts of all headings in one column.
                formatter.write_dl([(name.ljust(width), text) for name, text in commands.items()])
        if plugins := entry_points(group=PLUGINS):
            with formatter.section("Plugins"):
                # The summaries of their distributions: to import the commands would take time.
                formatter.write_dl(
                    [
                        (plugin.name.ljust(width), plugin.dist.metadata["Summary"] if plugin.dist else "")
                        for plugin in sorted(plugins)
                    ]
                )

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete names of commands without importing the commands. click would import them for their short help."""
        texts = dict.fromkeys(self.list_commands(ctx)) | _COMMANDS
        items = [CompletionItem(name, help=text) for name, text in texts.items() if name.startswith(incomplete)]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\
A first session:
  tenantry init fleet                   write a new project
  tenantry validate                     is tenants.yaml valid?
  tenantry render --environment dev     which objects does it yield?
  tenantry diff origin/main             what does my change do?
  tenantry preflight --environment dev  will the clusters accept it?
  tenantry up --environment dev         apply it, and wait until it is ready
  tenantry status --environment dev     is every app ready?

Exit codes:
  0    success
  1    differences, problems found, or apps that are not ready
  2    invalid tenants.yaml, wrong usage, or a request that cannot be met
  3    internal error (please report it)
  4    the change is refused: the guard of `tenantry up`, or a limit
  130  interrupted

Wherever a command takes them:
  rocky/web           app 'web' of tenant 'rocky'; platform/NAME: an add-on
  ENVIRONMENT, or -e  the environment
  -o json             the result for programs

`tenantry COMMAND --help` has the options and examples of each command.
""",
)
@file_option(envvar="TENANTRY_FILE")
@click.version_option(__version__, prog_name="tenantry")
def app() -> None:
    """Run a multi-tenant, multi-cluster Flux fleet from one file, tenants.yaml.

    The file declares environments, clusters, tenants and their apps, and Pulumi applies it. These commands check the
    file, show what it yields, and show the state of the clusters.
    """


def start() -> None:
    """The entry point of the installed command."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # the terminal's encoding may lack characters of the file
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; returns its exit code. With `--output json`, stdout gets one document whatever happens."""
    start_answer()
    try:
        result = app.main(arguments, prog_name="tenantry", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except (Exception, KeyboardInterrupt) as failure:
        _answer(failure, arguments)
        code = exit_code(failure)
        if code == 3 and os.environ.get("TENANTRY_DEBUG"):
            raise
        report(failure)
        return code


def _answer(failure: BaseException, arguments: list[str]) -> None:
    """Print the failure as JSON, if JSON is asked for and the command has not printed its document."""
    if not is_answered() and asks_for_json(arguments):
        with suppress(Refused):  # stdout cannot be written; the failure is reported on stderr
            data_json(as_document(failure), "Error")


def asks_for_json(arguments: Sequence[str]) -> bool:
    """Whether a command line asks for JSON, also a wrong one, which nothing has parsed."""
    words = "\n".join(takewhile(lambda word: word != "--", arguments))
    return re.search(r"^(?:-o\n?|--output[=\n])json$", words, re.MULTILINE) is not None
