"""Finds the file that a command reads: the one on the command line, or the nearest `tenants.yaml` here or above."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from tenantry.messages.errors import NO_FILE, InvalidFleet, Refused, TenantryError

_F = TypeVar("_F", bound=Callable[..., Any])
NAME = "tenants.yaml"


def file_option(envvar: str | None = None) -> Callable[[_F], _F]:
    """`-f, --file PATH`, before or after the command; the later one wins. The context's `obj` holds it."""
    return click.option(
        "-f",
        "--file",
        type=click.Path(path_type=Path),
        envvar=envvar,
        expose_value=False,
        callback=_keep,
        help=f"The file to read; default: $TENANTRY_FILE, else {NAME} here or in a parent directory.",
    )


def _keep(context: click.Context, _: click.Parameter, file: Path | None) -> None:
    if file is not None:
        context.obj = file


def reads_file(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the option `-f, --file`, and its file as the first argument.

    If the output is for GitHub, problems of the file are commands on stdout.
    """

    @wraps(command)
    def with_file(*arguments: Any, **options: Any) -> int:
        try:
            return command(fleet_file(click.get_current_context()), *arguments, **options)
        except InvalidFleet as invalid:
            # Every command has the option; few meet an invalid file.
            from tenantry.cli.annotations import annotate_invalid

            if options.get("output") != "github":
                raise
            annotate_invalid(invalid)
            return 2

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


def fleet_data(context: click.Context) -> dict[str, Any]:
    """The data of the fleet's files, for completion; empty if the files cannot be read."""
    from tenantry.grants.frames import filled
    from tenantry.source.include import read_all

    try:
        return filled(read_all(fleet_file(context))).data
    except TenantryError:
        return {}
