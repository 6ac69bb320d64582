"""`tenantry init`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tenantry.cli.commands import Command
from tenantry.cli.init.questions import Given, answers
from tenantry.cli.init.report import next_steps, shown, summary
from tenantry.cli.options import output as output_option
from tenantry.cli.output import data, data_json, say
from tenantry.scaffold.answers import FORGES, PORT
from tenantry.scaffold.project import Project


@click.command(
    "init",
    cls=Command,
    epilog="""\
Examples:
  tenantry init                         ask, then write into this directory
  tenantry init fleet --yes             write into fleet/, with the defaults
  tenantry init fleet --dry-run         print the files, and write nothing
  tenantry init fleet --environment dev=hub-dev --environment prod=hub-prod \\
    --remote edge-1=dev --repository https://github.com/acme/fleet.git
  tenantry init fleet --tenant - --forge gitlab

Exit codes:
  0    the project is written
  2    wrong usage, or files are in the way; nothing is written
  130  interrupted
""",
)
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False), default=".", metavar="[DIR]")
@click.option(
    "-e",
    "--environment",
    "environments",
    metavar="NAME[=CLUSTER]",
    multiple=True,
    help="An environment and its management cluster (default: hub-NAME), in the order in which changes reach them. The sandbox "
    "runs the first one. Default: dev and prod.",
)
@click.option(
    "--remote",
    "remotes",
    metavar="NAME[=ENVIRONMENT]",
    multiple=True,
    help="A remote cluster, and its environment (default: the first). Default: none.",
)
@click.option(
    "--repository", metavar="URL", help="The repository for this project. Default: that of the remote 'origin'."
)
@click.option(
    "--tenant-repositories",
    metavar="URL",
    help="What the URLs of tenants' repositories begin with. Default: that of --repository, without the last part.",
)
@click.option("--tenant", metavar="NAME", help="The first tenant, or '-' for none. Default: rocky.")
@click.option(
    "--forge",
    type=click.Choice(FORGES),
    help="Whose pipelines to write. Default: gitlab if the URL says so, else github.",
)
@click.option("--name", metavar="NAME", help="The name of the Pulumi project. Default: that of the directory.")
@click.option(
    "--sandbox-port",
    type=int,
    default=PORT,
    show_default=True,
    help="Where the sandbox serves repositories on this machine.",
)
@click.option("-y", "--yes", is_flag=True, help="Ask nothing: what no option says takes its default.")
@click.option("--keep-existing", is_flag=True, help="Write the other files if some exist, such as README.md.")
@click.option("--dry-run", is_flag=True, help="Print the files with their content, and write nothing.")
@output_option("text", "json", kind="Project")
def command(
    directory: Path,
    environments: tuple[str, ...],
    remotes: tuple[str, ...],
    repository: str | None,
    tenant_repositories: str | None,
    tenant: str | None,
    forge: str | None,
    name: str | None,
    sandbox_port: int,
    output: str,
    *,
    yes: bool,
    keep_existing: bool,
    dry_run: bool,
) -> int:
    """Write a new project for a fleet: tenants.yaml, the Pulumi project, a chart, pipelines, and content for the sandbox.

    On a terminal it asks what no option answers. Otherwise defaults apply. Existing files are never changed.

    The result is valid, and runs in the sandbox at once.
    """
    Project.refuse_fleet(directory)
    given = Given(name, environments, remotes, repository, tenant_repositories, tenant, forge, sandbox_port)
    project = Project.planned(
        directory, answers(directory, given, asks=not yes and output == "text" and _is_terminal())
    )
    kept = project.in_the_way(keep=keep_existing)
    if not dry_run:
        project.write(kept)
    steps = next_steps(directory, project.answers)
    if output == "json":
        from tenantry.cli.documents.checks import Project as Document

        files, next_ = project.paths(kept), [line for line, _ in steps]
        data_json(Document(directory=str(directory), written=not dry_run, files=files, kept=kept, next=next_))
    elif dry_run:
        data(shown(project.contents(kept)))
        say(f"{summary(project.paths(kept), directory)}\nNothing was written.")
    else:
        data(summary(project.paths(kept), directory))
        _say_next(kept, steps)
    return 0


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def _say_next(kept: list[str], steps: list[tuple[str, str]]) -> None:
    for each in kept:
        say(f"note: {each} exists and stays as it is")
    say("\nNext:")
    width = max(len(line) for line, why in steps if why)
    for line, why in steps:
        say(f"  {line:<{width}}  # {why}" if why else f"  {line}")
    say("\nREADME.md says how to get to real clusters.")
