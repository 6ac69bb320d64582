"""`tenantry init`: asks, writes a project, and says what to type next.

An option answers a question; on a terminal the others are asked; otherwise they take a default.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import click

from tenantry.cli.commands import Command
from tenantry.cli.options import output as output_option
from tenantry.cli.output import data, data_json, say
from tenantry.compare.git import Repository
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted, printable
from tenantry.scaffold.answers import (
    DEFAULT_ENVIRONMENTS,
    DEFAULT_REPOSITORY,
    DEFAULT_TENANT,
    FORGES,
    PORT,
    Answers,
    parent_of,
    project_name,
    public,
)
from tenantry.scaffold.files import SCHEMA
from tenantry.scaffold.installed import EXTRAS, local_source
from tenantry.scaffold.project import Project

NOTHING = "-"
"""What to type for no tenant or no remote clusters, where an empty line means the default."""

Ask = Callable[[str, str], str]
"""From a question and its default to the answer."""
Pairs = tuple[tuple[str, str], ...]


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
@click.option("-n", "--tenant", metavar="NAME", help="The first tenant, or '-' for none. Default: rocky.")
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
@click.option("--keep-existing", is_flag=True, help="Write the other files if some exist, such as tenants.yaml.")
@click.option("--dry-run", is_flag=True, help="Print the files with their content, and write nothing.")
@output_option("text", "json", kind="Project")
def command(directory: Path, output: str, *, yes: bool, keep_existing: bool, dry_run: bool, **given: Any) -> int:
    """Write a new project for a fleet: tenants.yaml, the Pulumi project, a chart, pipelines, and content for the sandbox.

    On a terminal it asks what no option answers. Otherwise defaults apply. Existing files are never changed.

    The result is valid, and runs in the sandbox at once.
    """
    Project.refuse_fleet(directory, keep=keep_existing)
    is_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    asks = is_terminal and not yes and output == "text"
    project = Project.planned(directory, _answers(directory, given, _ask if asks else _take))
    kept = project.in_the_way(keep=keep_existing)
    if not dry_run:
        project.write(kept)
    files, steps = project.paths(kept), _next_steps(directory, project.answers, local_source())
    if output == "json":
        from tenantry.cli.documents.checks import Project as Document

        next_ = [line for line, _ in steps]
        data_json(Document(directory=str(directory), written=not dry_run, files=files, kept=kept, next=next_))
    elif dry_run:
        data(_shown(project.contents(kept)))
        say(f"{_summary(files, directory)}\nNothing was written.")
    else:
        data(_summary(files, directory))
        for file in kept:
            say(f"note: {file} exists and stays as it is")
        say("\nNext:")
        width = max(len(line) for line, why in steps if why)
        for line, why in steps:
            say(f"  {line:<{width}}  # {why}" if why else f"  {line}")
        say("\nREADME.md says how to get to real clusters.")
    return 0


# --- the questions ------------------------------------------------------------------------------------------------------


def _ask(question: str, default: str) -> str:
    return str(click.prompt(question, default=default, err=True)).strip()


def _take(_: str, default: str) -> str:
    return default


def _answers(directory: Path, given: Mapping[str, Any], ask: Ask) -> Answers:
    """given: the options by their names; None or empty: not given. Raises: Refused: an answer cannot be used."""
    origin, prefix = _around(directory)
    environments = _environments(given["environments"], ask)
    remotes = _remotes(given["remotes"], ask, environments[0][0])
    repository = given["repository"] or ask("URL of this fleet's repository", origin or DEFAULT_REPOSITORY)
    siblings = given["tenant_repositories"] or ask("Tenants' repositories are below", parent_of(repository))
    tenant = given["tenant"]
    tenant = ask(f"First tenant ({NOTHING} for none)", DEFAULT_TENANT) if tenant is None else tenant
    return Answers(
        given["name"] or project_name(directory.absolute().name),
        environments,
        remotes,
        repository.rstrip("/"),
        siblings.rstrip("/"),
        tenant if tenant not in ("", NOTHING) else None,
        _forge(given["forge"], ask, repository, prefix),
        given["sandbox_port"],
        prefix,
    )


def _environments(given: Sequence[str], ask: Ask) -> Pairs:
    question = "Environments, in the order in which changes reach them"
    named = given or _words(ask(question, " ".join(DEFAULT_ENVIRONMENTS)))
    pairs = [_pair(text, "an environment") for text in named]
    return tuple((name, cluster or ask(f"Management cluster of {name}", f"hub-{name}")) for name, cluster in pairs)


def _remotes(given: Sequence[str], ask: Ask, environment: str) -> Pairs:
    question = f"Remote clusters, such as edge-1={environment} ({NOTHING} for none)"
    named = given or _words(ask(question, NOTHING))
    pairs = [_pair(text, "a remote cluster") for text in named if text != NOTHING]
    return tuple((name, of or environment) for name, of in pairs)


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _pair(text: str, what: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name:
        raise Refused(f"'{text}' does not begin with the name of {what}", "write NAME=VALUE")
    return name, value


def _forge(given: str | None, ask: Ask, repository: str, prefix: str) -> str:
    if prefix:
        if given not in (None, "none"):
            message = f"this directory is '{prefix}' in its repository, but {given} reads workflows at the top only"
            raise Refused(message, "run it at the top of the repository, or with --forge none")
        return "none"
    return given or ask(f"Pipelines for ({', '.join(FORGES)})", "gitlab" if "gitlab" in repository else "github")


def _around(directory: Path) -> tuple[str, str]:
    """The URL of the repository around a directory, and the directory in it."""
    whole = directory.absolute()
    nearest = next(parent for parent in (whole, *whole.parents) if parent.is_dir())
    try:
        repository = Repository(nearest)
    except Refused:
        return "", ""
    remote = repository.run("remote", "get-url", "origin")
    below = whole.relative_to(nearest).as_posix()
    prefix = repository.prefix + (f"{below}/" if below != "." else "")
    return (public(remote.stdout.decode(errors="replace").strip()) if remote.returncode == 0 else ""), prefix


# --- what is printed ----------------------------------------------------------------------------------------------------


def _summary(paths: Sequence[str], directory: Path) -> str:
    """How many files, and where: those at the top, and directories with a slash."""
    where = "this directory" if directory == Path() else printable(str(directory))
    parts = (path.partition("/") for path in paths)
    names = dict.fromkeys(f"{first}/" if rest else first for first, _, rest in parts)
    lines = wrap(", ".join(names), 78, break_on_hyphens=False)
    return "\n  ".join((f"{counted(len(paths), 'file')} in {where}:", *lines))


def _shown(contents: Mapping[str, str]) -> str:
    """All files with their content; of the JSON Schema only how long it is."""
    lines = counted(contents.get(SCHEMA, "").count("\n"), "line")
    texts = {**contents, SCHEMA: f"({lines})\n"} if SCHEMA in contents else contents
    return "\n".join(f"--- {printable(path)}\n{text}" for path, text in texts.items())


def _next_steps(directory: Path, answers: Answers, source: Path | None) -> list[tuple[str, str]]:
    """Commands in their order, each with what it is for. source: the wheel or checkout that is running; None: an index has it."""
    first = answers.sandboxed
    steps = [(f"cd {shlex.quote(str(directory))}", "")] if directory != Path() else []
    if not (directory / ".venv").exists():
        wanted = shlex.quote(f"{source}[{EXTRAS}]") if source else "-r requirements.txt"
        steps += [("python3 -m venv .venv", "Pulumi uses it too"), (f".venv/bin/pip install {wanted}", "")]
    return [
        *steps,
        (". .venv/bin/activate", ""),
        ("tenantry validate", "check tenants.yaml"),
        (f"tenantry render {first}", "look at the objects"),
        ("tenantry sandbox tools", "once: about 20 minutes, 17 GB"),
        ("tenantry sandbox up", "real API servers and Flux"),
        (f"tenantry sandbox run -- pulumi stack select --create {first}", ""),
        (f"tenantry sandbox run -- tenantry up {first}", "apply it, wait until ready"),
    ]
