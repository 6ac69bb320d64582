"""`tenantry sandbox`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table

from tenantry.cli.commands import Group
from tenantry.cli.fleet_file import project_directory, reads_file
from tenantry.cli.foreground import foreground
from tenantry.cli.options import environment as environment_option
from tenantry.cli.options import output
from tenantry.cli.output import data_json, say, stdout_console, working
from tenantry.cli.progress import shows_progress
from tenantry.load import load_fleet
from tenantry.messages.errors import Refused
from tenantry.plan.plan import plan

if TYPE_CHECKING:
    from tenantry.sandbox.status import SandboxStatus

_ROOT = click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    default=lambda: project_directory(click.get_current_context()) / ".sandbox",
    envvar="TENANTRY_SANDBOX",
    help="The directory for the sandbox's state, logs and kubeconfigs; default: $TENANTRY_SANDBOX, else .sandbox beside "
    "tenants.yaml.",
)


@contextmanager
def _refusals() -> Iterator[None]:
    """Report errors of the sandbox and the tools as the command line reports its own."""
    try:
        import psutil  # noqa: F401  one of the packages of the extra `sandbox`

        import tenantry.sandbox.layout  # noqa: F401
        from tenantry.tools.errors import ToolsError
    except ModuleNotFoundError as missing:
        message = f"the sandbox is not installed: there is no Python package '{missing.name}'"
        raise Refused(message, "run `pip install 'tenantry[sandbox]'`, or `make setup` in a checkout") from None
    try:
        yield
    except ToolsError as error:
        raise Refused(error.message, error.fix) from error


@click.group("sandbox", cls=Group)
def command() -> None:
    """Run the clusters of an environment as local processes: control planes, Flux, and a server for its sources.

    Pods are simulated: they are scheduled and become ready, but no container runs. Everything listens on loopback only.
    """


@command.command(
    short_help="start it, or update it",
    epilog="""\
Examples:
  tenantry sandbox up
  tenantry sandbox up --environment dev --content my-fleet/content

Exit codes:
  0  all of its processes are running
  2  tenants.yaml is invalid, or something cannot be started
""",
)
@environment_option("The environment to run; default: the first in the file.", argument=True)
@click.option(
    "--content",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A directory with git/<owner>/<repository>, charts/<chart>, oci/<owner>/<name> and buckets/<bucket>, served at the "
    "URLs of the sources; default: content beside tenants.yaml if there is one, else the content for the tenants.yaml of "
    "Tenantry's repository.",
)
@_ROOT
@reads_file
def up(file: Path, environment: str | None, content: Path | None, root: Path) -> int:
    """Start the sandbox, or update it after a change of tenants.yaml. It is safe to run this again.

    `tenantry sandbox tools` builds its programs once. That needs Go 1.26, about 20 minutes on two cores, and 17 GB of disk.
    """
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        planned = plan(fleet, environment or next(iter(fleet.environments)))
    with _refusals(), _progress() as report:
        from tenantry.sandbox import commands, lifecycle
        from tenantry.sandbox.spec import content_beside, spec_of

        spec = spec_of(fleet, planned, content or content_beside(file), file)
        lifecycle.up(spec, root, report)
        commands.prepare(root)
    for cluster in spec.clusters:
        say(f"{cluster}: kubeconfig {root / cluster / 'kubeconfig'}")
    return 0


@command.command(
    short_help="show its processes",
    epilog="""\
Exit codes:
  0  all of them are running
  1  at least one is not
  2  there is no sandbox
""",
)
@_ROOT
@output("text", "json", kind="Sandbox")
def status(root: Path, output: str) -> int:
    """Show the processes of the sandbox."""
    with _refusals():
        from tenantry.sandbox.status import status as status_of

        found = status_of(root)
    if output == "json":
        data_json(found, "Sandbox")
    else:
        stdout_console().print(_table(found))
        if found.webhooks:
            say(f"webhooks of receivers: {found.webhooks}")
    return 0 if found.alive else 1


@command.command(
    short_help="stop it and remove its directory",
    epilog="""\
Exit codes:
  0  it is gone, or there was none
  2  it cannot be removed
""",
)
@_ROOT
def down(root: Path) -> int:
    """Stop the sandbox and remove its directory, including the Pulumi state of stacks that used it."""
    with _refusals(), _progress() as report:
        from tenantry.sandbox import lifecycle

        lifecycle.down(root, report)
    return 0


@command.command(
    short_help="run a command against it",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="""\
Examples:
  tenantry sandbox run -- tenantry up --environment dev
  tenantry sandbox run -- kubectl get kustomizations --all-namespaces
  tenantry sandbox run --cluster edge-1 -- kubectl get pods --all-namespaces

Exit codes:
  that of COMMAND, or 2 if it cannot be run
""",
)
@click.option(
    "-c", "--cluster", metavar="NAME", help="The cluster that kubectl talks to; default: the management cluster."
)
@_ROOT
@click.argument("arguments", nargs=-1, required=True, metavar="COMMAND...")
def run(root: Path, cluster: str | None, arguments: tuple[str, ...]) -> int:
    """Run a command with the sandbox's pulumi and kubectl.

    Pulumi uses the sandbox's own backend, home and plugins. KUBECONFIG names a cluster of the sandbox.
    """
    with _refusals():
        from tenantry.sandbox.commands import environment

        variables = environment(root, cluster)
    try:
        with foreground() as programs:
            return programs.run(arguments, variables)
    except FileNotFoundError:
        raise Refused(f"there is no command '{arguments[0]}'", "name a command that is on PATH") from None
    except OSError as failure:
        raise Refused(f"'{arguments[0]}' cannot be run: {failure.strerror}", "name a program") from None


@command.command(
    short_help="build the programs that it runs",
    epilog="""\
Examples:
  tenantry sandbox tools --list
  tenantry sandbox tools
  tenantry sandbox tools helm kustomize

Exit codes:
  0    they are there
  1    a build failed
  2    Go is missing, or there is no such program
  130  interrupted
""",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="Build also those that are installed.")
@click.option("--list", "listed", is_flag=True, help="Print where each program is, or that it is missing, and stop.")
def tools(names: tuple[str, ...], *, everything: bool, listed: bool) -> int:
    """Build the programs that the sandbox needs, from source with Go.

    Without a NAME, these are the ones that are neither built nor installed. Building everything takes about 20 minutes on
    two cores the first time, and 17 GB: 16 GB in Go's caches, which `go clean -cache -modcache` empties, and 1 GB for the
    programs in ~/.cache/tenantry ($TENANTRY_CACHE).

    An official Pulumi on PATH is used, with its kubernetes plugin; so are kubectl and the programs of a control plane in
    $KUBEBUILDER_ASSETS or on PATH, where their versions fit.
    """
    from tenantry.tools.build import main

    if everything and listed:
        raise click.UsageError("--all and --list exclude each other")
    return main(names, everything=everything, listed=listed)


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Show the steps: on a terminal the latest one with a spinner, otherwise each as a line."""
    if not shows_progress():
        yield say
        return
    console = Console(stderr=True, highlight=False)
    with console.status("starting") as spinner:
        yield lambda message: spinner.update(message)


def _table(found: SandboxStatus) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("CLUSTER", "PART", "STATUS", "PID", "PORT", "MEMORY"):
        table.add_column(heading, no_wrap=True)
    for part in found.parts:
        state = "running" if part.alive else "dead"
        table.add_row(part.owner, part.part, state, str(part.pid), str(part.port or ""), f"{part.memory // 2**20} MiB")
    return table
