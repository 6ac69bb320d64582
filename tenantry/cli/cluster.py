"""`tenantry cluster`."""

from __future__ import annotations

from pathlib import Path

import click

from tenantry.apply import Outcome, apply
from tenantry.bootstrap import bootstrap
from tenantry.cli.check import check
from tenantry.cli.clusters import environment_of
from tenantry.cli.options import environment as environment_option
from tenantry.cli.output import data, say
from tenantry.errors import Refused
from tenantry.kube import Manifest
from tenantry.live import connect
from tenantry.load import load_fleet
from tenantry.render import to_yaml

_WOULD = {Outcome.CREATED: "would be created", Outcome.CHANGED: "would be changed", Outcome.UNCHANGED: "unchanged"}


@click.group("cluster", short_help="prepare and check clusters")
def command() -> None:
    """Prepare clusters for the fleet, and check how Flux reaches them."""


command.add_command(check)


@command.command(
    "bootstrap",
    short_help="print or apply what a cluster needs once",
    epilog="""\b
Examples:
  tenantry cluster bootstrap edge-1 | kubectl --context edge-1 apply -f -
  tenantry cluster bootstrap edge-1 --kubeconfig ~/.kube/config --context edge-1 --dry-run
  tenantry cluster bootstrap edge-1 --kubeconfig ~/.kube/config --context edge-1
""",
)
@click.argument("name")
@environment_option("The environment whose management cluster runs Flux for it; default: the cluster's first.")
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Apply it with this kubeconfig: that of an administrator of cluster NAME.",
)
@click.option("--context", help="The context in it; default: the current one.")
@click.option("--dry-run", is_flag=True, help="Ask the cluster what applying would do, and change nothing.")
@click.pass_obj
def bootstrap_command(
    file: Path, name: str, environment: str | None, kubeconfig: Path | None, context: str | None, *, dry_run: bool
) -> int:
    """Print what cluster NAME needs once, before Flux can act on it: the platform's namespace, and its service account's rights.

    With --kubeconfig it is applied instead. No stack owns it, and `pulumi destroy` leaves it.
    """
    if kubeconfig is None and (context or dry_run):
        raise click.UsageError("--context and --dry-run need --kubeconfig: without it nothing is applied")
    fleet = load_fleet(file)
    manifests = bootstrap(fleet, environment_of(fleet, name, environment), name)
    if kubeconfig is None:
        data(to_yaml(manifests).rstrip("\n"))
    else:
        _apply(kubeconfig, context, manifests, dry_run=dry_run)
    return 0


def _apply(kubeconfig: Path, context: str | None, manifests: tuple[Manifest, ...], *, dry_run: bool) -> None:
    try:
        client = connect(kubeconfig, context)
    except Refused as refused:
        # Elsewhere the stack's file says which cluster is meant.
        remedy = "name an administrator's kubeconfig and context for this cluster with --kubeconfig and --context"
        raise Refused(refused.message, remedy) from None
    with client:
        say(f"cluster {client.config.cluster.server}, context '{client.config.context_name}'")
        for id, outcome in apply(client, manifests, dry_run=dry_run):
            data(f"{id}: {_WOULD[outcome] if dry_run else outcome}")
