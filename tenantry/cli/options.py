"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from tenantry.errors import TenantryError

_F = TypeVar("_F", bound=Callable[..., Any])


def _environments(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Completes the names of environments from the fleet's file, if it can be read."""
    from tenantry.source import read

    parent = context.find_root().params.get("file") or Path("tenants.yaml")
    try:
        declared = read(parent).data.get("environments", {})
    except TenantryError:
        return []
    return [name for name in declared if name.startswith(start)] if isinstance(declared, dict) else []


def environment(help: str, *, required: bool = False) -> Callable[[_F], _F]:
    """`-e, --environment NAME`, completed from the file."""
    return click.option(
        "-e", "--environment", metavar="NAME", required=required, help=help, shell_complete=_environments
    )


def output(*formats: str) -> Callable[[_F], _F]:
    """`-o, --output FORMAT`; the first format is the default."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="How the result is printed.",
    )
