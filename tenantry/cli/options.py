"""Options that several commands share: the fleet's file, names in it, the output, the management cluster of an environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tenantry.cli.output import working
from tenantry.messages.errors import NO_FILE, UNKNOWN_NAME, Refused
from tenantry.messages.text import require

if TYPE_CHECKING:
    from tenantry.cluster.client import Client
    from tenantry.fleet.fleet import Fleet

_F = TypeVar("_F", bound=Callable[..., Any])


# --- the file -----------------------------------------------------------------------------------------------------------

NAME = "tenants.yaml"


def file_option(envvar: str | None = None) -> Callable[[_F], _F]:
    """`-f, --file PATH`, before or after the command; the later one wins. The context's `obj` holds it."""

    def keep(context: click.Context, _: click.Parameter, file: Path | None) -> None:
        if file is not None:
            context.obj = file

    return click.option(
        "-f",
        "--file",
        type=click.Path(path_type=Path),
        envvar=envvar,
        expose_value=False,
        callback=keep,
        help=f"The file to read; default: $TENANTRY_FILE, else {NAME} here or in a parent directory.",
    )


def reads_file(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the option `-f, --file`, and its file as the first argument."""

    @wraps(command)
    def with_file(*arguments: Any, **options: Any) -> int:
        return command(fleet_file(click.get_current_context()), *arguments, **options)

    return file_option()(with_file)


def fleet_file(context: click.Context) -> Path:
    """The file of a command. Raises: Refused: no file was named, and none was found."""
    file = context.obj or _nearest()
    if file is None:
        raise Refused(
            f"there is no {NAME} in this directory or above it",
            "cd into the directory of the fleet, or name its file with --file; `tenantry init` makes a new fleet",
            code=NO_FILE,
        )
    return Path(file)


def project_directory(context: click.Context) -> Path:
    """The directory of the fleet's other files: that of the `tenants.yaml` that was found, otherwise the current one."""
    file = None if context.obj else _nearest()
    return file.parent if file else Path()


def _nearest() -> Path | None:
    """The relative path to the nearest `tenants.yaml`, which editors can open.

    As with Git, directories above must belong to the owner of the current one: files next to `tenants.yaml` can make commands
    run programs, and everybody can write to /tmp.
    """
    here = Path.cwd()
    for directory in (here, *here.parents):
        file = directory / NAME
        if file.exists() and (directory == here or len({path.lstat().st_uid for path in (here, directory, file)}) == 1):
            return Path(os.path.relpath(file, here))
    return None


# --- arguments and options ----------------------------------------------------------------------------------------------


def subject(metavar: str) -> Callable[[_F], _F]:
    """`TENANT/APP`, or `platform/ADDON`, as a tenant and an app. metavar: `TENANT[/APP]` may have none, which is None then."""

    def parted(_: click.Context, __: click.Parameter, word: str) -> tuple[str, str | None]:
        tenant, slash, app = word.partition("/")
        if not tenant or (not app and (slash or "[" not in metavar)):
            raise click.BadParameter(f"'{word}' is not {metavar}, such as 'rocky/web'.")
        return tenant, app or None

    return click.argument("subject", metavar=metavar, callback=parted)


def cluster(help: str) -> Callable[[_F], _F]:
    """`-c, --cluster NAME`"""
    return click.option("-c", "--cluster", metavar="NAME", help=help)


_WORD = "tenantry.environment"
"""The key of a context's `meta` for the argument that says the same as `--environment`."""


def environment(help: str, *, required: bool = False, argument: bool = False) -> Callable[[_F], _F]:
    """`-e, --environment NAME`. Args: argument: it may also be the command's argument, `tenantry status dev`."""

    def settle(context: click.Context, _: click.Parameter, value: str | None) -> str | None:
        words = {word for word in (context.meta.get(_WORD), value) if word is not None}
        if "" in words:  # a script's variable that is not set must not select all environments
            raise click.UsageError("The name of the environment is empty.", context)
        if len(words) > 1:
            raise click.UsageError(f"Two environments are named, {' and '.join(sorted(words))}: name one.", context)
        if required and not words:
            raise click.UsageError("Name an environment.", context)
        return next(iter(words), None)

    def keep(context: click.Context, _: click.Parameter, word: str | None) -> None:
        context.meta[_WORD] = word

    option: Callable[[_F], _F] = click.option("-e", "--environment", metavar="NAME", help=help, callback=settle)
    # Before the option, which takes its value.
    word: Callable[[_F], _F] = click.argument(
        "word", metavar="[ENVIRONMENT]", required=False, is_eager=True, expose_value=False, callback=keep
    )
    return (lambda command: word(option(command))) if argument else option


def tenants(help: str) -> Callable[[_F], _F]:
    """`-n, --tenant NAME`, or `platform`; may be repeated."""
    return _names("tenant", help, "-n")


def apps(help: str) -> Callable[[_F], _F]:
    """`--app NAME` of an app or add-on; may be repeated."""
    return _names("app", help)


def clusters(help: str) -> Callable[[_F], _F]:
    """`-c, --cluster NAME`; may be repeated."""
    return _names("cluster", help, "-c")


def _names(name: str, help: str, *short: str) -> Callable[[_F], _F]:
    return click.option(*short, f"--{name}", f"{name}s", metavar="NAME", multiple=True, help=help)


def timeout(default: int, help: str) -> Callable[[_F], _F]:
    """`--timeout SECONDS`"""
    return click.option(
        "--timeout", type=click.IntRange(min=1), default=default, show_default=True, metavar="SECONDS", help=help
    )


def output(*formats: str) -> Callable[[_F], _F]:
    """`-o, --output FORMAT`; the first format is the default."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="The format of the result.",
    )


# --- the management cluster of an environment ---------------------------------------------------------------------------


def management(command: _F) -> _F:
    """`--kubeconfig` and `--context` of the management cluster."""
    kubeconfig = click.option(
        "--kubeconfig",
        type=click.Path(path_type=Path, dir_okay=False),
        help="The kubeconfig of the management cluster;"
        " default: the one in Pulumi.<environment>.yaml, then KUBECONFIG, then ~/.kube/config.",
    )
    context = click.option(
        "--context",
        metavar="NAME",
        help="Its context; default: the one in Pulumi.<environment>.yaml, then the current one.",
    )
    return kubeconfig(context(command))


@contextmanager
def connect_management(
    file: Path, environment: str, kubeconfig: Path | None, context: str | None, seconds: float | None = None
) -> Iterator[Client]:
    """A client for the environment's management cluster, from the options or otherwise from the stack's file.

    Args:   seconds: as for `connect`.
    Raises: Refused: it cannot be reached, or stops answering; commands in the fix are for the environment's stack.
    """
    # Commands that contact no cluster do not wait for these.
    from tenantry.cluster.connect import LISTING, connected
    from tenantry.stacks.file import Reach, target_of
    from tenantry.stacks.outcome import for_stack

    given = target_of(file.resolve().parent, environment).reach
    way = Reach(kubeconfig or given.kubeconfig, context or given.context)
    with ExitStack() as stack:
        try:
            with working(f"connecting to the management cluster of {environment}"):
                client = stack.enter_context(connected(way, LISTING if seconds is None else seconds))
        except Refused as refused:
            raise Refused(refused.message, for_stack(refused.fix, environment), code=refused.code) from None
        yield client


def cluster_environment(fleet: Fleet, cluster: str, environment: str | None) -> str:
    """The environment of a command about a cluster; None: its first.

    Raises: Refused: the cluster is not declared, or not in the environment.
    """
    require("cluster", cluster, fleet.clusters, fleet.source.file)
    managed = [name for name, entry in fleet.environments.items() if cluster == entry.management]
    environments = list(dict.fromkeys([*fleet.clusters[cluster].environments, *managed]))
    chosen = environment or environments[0]
    if chosen not in environments:
        message = f"cluster '{cluster}' does not belong to environment '{chosen}'"
        raise Refused(message, f"name one of: {', '.join(environments)}", code=UNKNOWN_NAME)
    return chosen
