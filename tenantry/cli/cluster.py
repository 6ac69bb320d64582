"""`tenantry cluster`: prepare a cluster, check how Flux reaches it, and find those that a management cluster knows."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import click

from tenantry.cli.commands import Group
from tenantry.cli.discover import discover
from tenantry.cli.fleet_file import file_option, reads_file
from tenantry.cli.management import connect_management, management_options
from tenantry.cli.options import cluster_name, output
from tenantry.cli.options import environment as environment_option
from tenantry.cli.output import as_text, counts, data, data_json, say
from tenantry.cluster.apply_bootstrap import Outcome, apply
from tenantry.cluster.connect import connect
from tenantry.cluster.inventory import secret_of
from tenantry.fleet.fleet import Fleet
from tenantry.kube.objects import Manifest
from tenantry.load import load_fleet
from tenantry.messages.errors import UNKNOWN_NAME, Problem, Refused, Severity
from tenantry.messages.text import declared
from tenantry.model import SecretKey
from tenantry.plan.bootstrap import bootstrap
from tenantry.preflight.kubeconfig import check_secret, is_loopback
from tenantry.render import to_yaml

_WOULD = {Outcome.CREATED: "would be created", Outcome.CHANGED: "would be changed", Outcome.UNCHANGED: "unchanged"}


@click.group("cluster", cls=Group)
@file_option()
def command() -> None:
    """Prepare a cluster for Flux, check the kubeconfig through which Flux reaches it, or find clusters."""


@command.command(
    "bootstrap",
    short_help="print or apply what a cluster needs before the first run",
    epilog="""\
Examples:
  tenantry cluster bootstrap edge-1 | kubectl --context edge-1 apply -f -
  tenantry cluster bootstrap edge-1 --kubeconfig ~/.kube/edge-1 --dry-run
  tenantry cluster bootstrap edge-1 --kubeconfig ~/.kube/edge-1

Exit codes:
  0  success
  2  tenants.yaml is invalid, or the cluster does not take the objects
""",
)
@cluster_name()
@environment_option("The environment that the cluster is prepared for; default: its first.")
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Apply the objects with this kubeconfig of an administrator of the cluster.",
)
@click.option("--context", metavar="NAME", help="Its context; default: the current one.")
@click.option("--dry-run", is_flag=True, help="Show what applying would change, and change nothing.")
@reads_file
def bootstrap_command(
    file: Path, name: str, environment: str | None, kubeconfig: Path | None, context: str | None, *, dry_run: bool
) -> int:
    """Print the objects that cluster NAME needs before Flux can act on it.

    These are the platform's namespace and the permissions of its service account. With --kubeconfig they are applied
    instead. They belong to no stack, and `tenantry destroy` does not remove them.
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
        # Other commands find the cluster in the stack's file.
        fix = "name an administrator's kubeconfig and context for this cluster with --kubeconfig and --context"
        raise Refused(refused.message, fix, code=refused.code) from None
    with client:
        say(f"cluster {client.config.cluster.server}, context '{client.config.context_name}'")
        for id, outcome in apply(client, manifests, dry_run=dry_run):
            data(f"{id}: {_WOULD[outcome] if dry_run else outcome}")


def environment_of(fleet: Fleet, name: str, environment: str | None) -> str:
    """The environment of a command about a cluster. Raises: Refused: the cluster is not declared, or not in the environment."""
    if name not in fleet.clusters:
        message = f"cluster '{name}' is not declared in {fleet.source.file}"
        raise Refused(message, f"name another; {declared('declared', name, fleet.clusters)}", code=UNKNOWN_NAME)
    managed = [each for each, declared_as in fleet.environments.items() if declared_as.management == name]
    environments = list(dict.fromkeys([*fleet.clusters[name].environments, *managed]))
    chosen = environment or environments[0]
    if chosen not in environments:
        message = f"cluster '{name}' does not belong to environment '{chosen}'"
        raise Refused(message, f"name one of: {', '.join(environments)}", code=UNKNOWN_NAME)
    return chosen


@command.command(
    "check",
    short_help="check a remote cluster's kubeconfig for settings that Flux rejects",
    epilog="""\
Examples:
  tenantry cluster check edge-1
  tenantry cluster check edge-1 --environment prod --output json

Exit codes:
  0  no errors; there may be warnings
  1  at least one error
  2  tenants.yaml is invalid, or the management cluster does not answer
""",
)
@cluster_name()
@environment_option("The environment whose management cluster holds the kubeconfig; default: the cluster's first.")
@management_options
@output("text", "json", kind="KubeconfigCheck")
@reads_file
def check(
    file: Path, name: str, environment: str | None, kubeconfig: Path | None, context: str | None, output: str
) -> int:
    """Check the kubeconfig of remote cluster NAME for settings that Flux rejects or ignores.

    The kubeconfig is read from its Secret on the management cluster. Its contents are never printed, and nothing is
    changed.
    """
    fleet = load_fleet(file)
    chosen = environment_of(fleet, name, environment)
    reference = _reference(fleet, name, chosen)
    with connect_management(file, chosen, kubeconfig, context) as client:
        local = is_loopback(urlsplit(client.config.cluster.server).hostname or "")
        problems = check_secret(reference, secret_of(client, reference), now=datetime.now(UTC), local=local)
    _print(name, problems, output)
    return 1 if any(problem.severity is Severity.ERROR for problem in problems) else 0


def _reference(fleet: Fleet, name: str, environment: str) -> SecretKey:
    declared = fleet.clusters[name].kubeconfig
    if declared is None or name == fleet.environments[environment].management:
        message = (
            f"cluster '{name}' is the management cluster of environment '{environment}': no kubeconfig leads to it"
        )
        raise Refused(message, "name a remote cluster")
    reference = declared.resolved
    if not isinstance(reference, SecretKey):
        message = f"cluster '{name}' is reached by workload identity: there is no kubeconfig to check"
        raise Refused(message, "see `tenantry status` for what Flux says about it")
    return reference


def _print(name: str, problems: tuple[Problem, ...], output: str) -> None:
    if output == "json":
        from tenantry.cli.documents.checks import KubeconfigCheck

        data_json(KubeconfigCheck(cluster=name, problems=problems))
        return
    for problem in problems:
        data(as_text(problem))
    data(f"{name}: {counts(problems) or 'nothing that Flux would refuse'}")


command.add_command(discover)
