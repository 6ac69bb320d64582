"""Arguments of the edit commands. What the file declares is completed from it, by its kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from tenantry.cli.completers import fleet_data
from tenantry.edit.names import Kind
from tenantry.kube.names import PLATFORM
from tenantry.messages.data import mapping_at

kind = click.argument(
    "kind",
    type=click.Choice([kind.value for kind in Kind if kind is not Kind.ENVIRONMENT]),
    callback=lambda _, __, given: Kind(given),
)
"""What is added or removed."""


def _names(data: dict[str, Any], kind: Kind) -> Iterator[str]:
    """The names of a kind as commands take them: of what a tenant owns, `TENANT/NAME`."""
    if kind.is_owned:
        for tenant in mapping_at(data, "tenants"):
            yield from (f"{tenant}/{name}" for name in mapping_at(data, "tenants", tenant, f"{kind}s"))
    else:
        yield from mapping_at(data, *((PLATFORM,) if kind is Kind.ADDON else ()), f"{kind}s")


def complete_existing(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    """Names of the kind that the first argument names."""
    return [name for name in _names(fleet_data(context), Kind(context.params["kind"])) if name.startswith(start)]


def complete_clusters(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    """`all`, or a name behind the last comma."""
    before, comma, last = start.rpartition(",")
    found = [*(() if before else ("all",)), *_names(fleet_data(context), Kind.CLUSTER)]
    return [f"{before}{comma}{name}" for name in found if name.startswith(last) and name not in before.split(",")]
