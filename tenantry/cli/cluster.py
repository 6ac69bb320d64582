"""`tenantry cluster`."""

from __future__ import annotations

from pathlib import Path

import click

from tenantry.bootstrap import bootstrap
from tenantry.cli.options import environment as environment_option
from tenantry.cli.output import data
from tenantry.diagnostics import declared
from tenantry.errors import Refused
from tenantry.load import load_fleet
from tenantry.render import to_yaml


@click.group("cluster", short_help="prepare clusters")
def command() -> None:
    """Prepare clusters for the fleet."""


@command.command(
    "bootstrap",
    short_help="print what a cluster needs once",
    epilog="""\b
Examples:
  tenantry cluster bootstrap edge-1 | kubectl --context edge-1 apply -f -
""",
)
@click.argument("name")
@environment_option("The environment whose management cluster runs Flux for it; default: the cluster's first.")
@click.pass_obj
def print_bootstrap(file: Path, name: str, environment: str | None) -> int:
    """Print what cluster NAME needs once, before Flux can act on it: the platform's namespace, and its service account's rights.

    An administrator applies it; no stack owns it, and `pulumi destroy` leaves it.
    """
    fleet = load_fleet(file)
    if name not in fleet.clusters:
        raise Refused(
            f"cluster '{name}' is not declared in {file}", f"name another; {declared('declared', name, fleet.clusters)}"
        )
    managed = [each for each, declared_as in fleet.environments.items() if declared_as.management == name]
    environments = list(dict.fromkeys([*fleet.clusters[name].environments, *managed]))
    chosen = environment or environments[0]
    if chosen not in environments:
        raise Refused(
            f"cluster '{name}' does not belong to environment '{chosen}'", f"name one of: {', '.join(environments)}"
        )
    data(to_yaml(bootstrap(fleet, chosen, name)).rstrip("\n"))
    return 0
