"""`tenantry cluster`: prepare a cluster, check how Flux reaches it, and find those that a management cluster knows."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from tenantry.cli.commands import Group
from tenantry.cli.discover import discover
from tenantry.cli.fleet_file import file_option, reads_file
from tenantry.cli.management import connect_management, management_options
from tenantry.cli.options import cluster_name, output
from tenantry.cli.options import environment as environment_option
from tenantry.cli.output import as_text, counts, data, data_json, say, working
from tenantry.cli.register import register
from tenantry.cluster.apply_bootstrap import Outcome, apply
from tenantry.cluster.connect import connect
from tenantry.fleet.fleet import Fleet
from tenantry.kube.objects import Manifest
from tenantry.load import load_fleet
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import counted, declared
from tenantry.model import SecretKey
from tenantry.plan.bootstrap import bootstrap
from tenantry.plan.plan import plan
from tenantry.preflight.kubeconfig import is_loopback
from tenantry.render import to_yaml

if TYPE_CHECKING:
    from tenantry.preflight.contact import Contact

_WOULD = {Outcome.CREATED: "would be created", Outcome.CHANGED: "would be changed", Outcome.UNCHANGED: "unchanged"}


@click.group("cluster", cls=Group)
@file_option()
def command() -> None:
    """Prepare a cluster for Flux, check the kubeconfig through which Flux reaches it, or find clusters."""


@command.command(
    "bootstrap",
    short_help="print or apply what clusters need before the first run",
    epilog="""\
Examples:
  tenantry cluster bootstrap edge-1 | kubectl --context edge-1 apply -f -
  tenantry cluster bootstrap edge-1 --kubeconfig ~/.kube/edge-1 --dry-run
  tenantry cluster bootstrap edge-1 --kubeconfig ~/.kube/edge-1
  tenantry cluster bootstrap --all --environment prod --dry-run
  tenantry cluster bootstrap --all --environment prod

Exit codes:
  0  success; with --all: every cluster is prepared
  1  with --all: at least one cluster is not; the others are
  2  tenants.yaml is invalid, or the cluster does not take the objects
""",
)
@cluster_name(required=False)
@click.option("--all", "all_clusters", is_flag=True, help="Prepare all clusters of the environment.")
@environment_option("The environment that the cluster is prepared for; default: its first.")
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Apply the objects with this kubeconfig of an administrator of the cluster. With --all: the kubeconfig of the"
    " management cluster; default: the one in Pulumi.<environment>.yaml.",
)
@click.option("--context", metavar="NAME", help="Its context; default: the current one.")
@click.option("--dry-run", is_flag=True, help="Show what applying would change, and change nothing.")
@reads_file
def bootstrap_command(
    file: Path,
    name: str | None,
    environment: str | None,
    kubeconfig: Path | None,
    context: str | None,
    *,
    all_clusters: bool,
    dry_run: bool,
) -> int:
    """Print the objects that cluster NAME needs before Flux can act on it.

    These are the platform's namespace, the permissions of its service account, and admission policies. With --kubeconfig
    they are applied instead. They belong to no stack, and `tenantry destroy` does not remove them.

    With --all they are applied to every cluster of the environment: to its management clusters, and to its remote
    clusters with the kubeconfigs that Flux uses. Run it again after an upgrade of Tenantry.
    """
    if all_clusters:
        # Only this needs a plan and the kubeconfigs.
        from tenantry.cli.prepare import bootstrap_all

        if name or not environment:
            raise click.UsageError("--all takes no NAME: type `tenantry cluster bootstrap --all --environment NAME`")
        return bootstrap_all(file, load_fleet(file), environment, kubeconfig, context, dry_run=dry_run)
    if name is None:
        raise click.UsageError("Name a cluster, or all of an environment: --all --environment NAME")
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
    managed = [each for each, declared_as in fleet.environments.items() if name in declared_as.managements]
    environments = list(dict.fromkeys([*fleet.clusters[name].environments, *managed]))
    chosen = environment or environments[0]
    if chosen not in environments:
        message = f"cluster '{name}' does not belong to environment '{chosen}'"
        raise Refused(message, f"name one of: {', '.join(environments)}", code=UNKNOWN_NAME)
    return chosen


@command.command(
    "check",
    short_help="check that a cluster answers, and takes what Flux does there",
    epilog="""\
Examples:
  tenantry cluster check edge-1
  tenantry cluster check edge-1 --environment prod --output json
  tenantry cluster check edge-1 --offline
  tenantry cluster check hub-prod

Exit codes:
  0  no errors; there may be warnings
  1  at least one error, such as a remote cluster that does not answer
  2  tenants.yaml is invalid, or the management cluster does not answer
""",
)
@cluster_name()
@environment_option("The environment whose management cluster holds the kubeconfig; default: the cluster's first.")
@management_options
@click.option(
    "--offline", is_flag=True, help="Check the kubeconfig alone, such as where only Flux reaches the cluster."
)
@output("text", "json", kind="KubeconfigCheck")
@reads_file
def check(
    file: Path,
    name: str,
    environment: str | None,
    kubeconfig: Path | None,
    context: str | None,
    output: str,
    *,
    offline: bool,
) -> int:
    """Check cluster NAME: that it answers, and what Flux needs there.

    A remote cluster is asked with the kubeconfig that Flux uses, from its Secret on the management cluster: whether Flux takes
    the kubeconfig, until when it is valid, whether the cluster accepts it, is the right one, lets Flux impersonate the
    tenants' accounts, and is bootstrapped. Of a management cluster, Flux's controllers and the admission policies are checked.
    Contents of the kubeconfig are never printed, and nothing is changed.
    """
    # The other commands of the group do without these.
    from tenantry.preflight.contact import contact_management, contact_remote, remote_of

    fleet = load_fleet(file)
    chosen = environment_of(fleet, name, environment)
    planned = plan(fleet, chosen)
    remote = name not in fleet.environments[chosen].managements
    if offline and not remote:
        raise click.UsageError(f"--offline is for remote clusters: no kubeconfig leads to '{name}'")
    reference = _reference(fleet, name) if remote else None
    hub = planned.hub_by_cluster[name]
    if len(planned.hubs) > 1:
        planned = planned.only([hub])
        others = [each for each in fleet.environments[chosen].managements if each != hub]
    else:
        others = []
    hubs = fleet.environments[chosen].managements
    with (
        connect_management(file, chosen, kubeconfig, context, hubs=hubs, without=others) as client,
        working(f"asking {name}"),
    ):
        (client,) = client.each()
        now = datetime.now(UTC)
        if reference is None:
            found = contact_management(client, fleet, planned, now)
        else:
            local = is_loopback(urlsplit(client.config.cluster.server).hostname or "")
            asked = remote_of(fleet, planned, name)
            found = contact_remote(client, asked, reference, now, local=local, offline=offline)
    _print(found, output, now)
    return 0 if found.fit else 1


def _reference(fleet: Fleet, name: str) -> SecretKey:
    declared = fleet.clusters[name].kubeconfig
    reference = declared and declared.resolved
    if not isinstance(reference, SecretKey):
        message = f"cluster '{name}' is reached by workload identity: there is no kubeconfig to check"
        raise Refused(message, "see `tenantry status` for what Flux says about it")
    return reference


def _print(found: Contact, output: str, now: datetime) -> None:
    if output == "json":
        from tenantry.cli.documents.checks import KubeconfigCheck

        expires = {what: end.strftime("%Y-%m-%dT%H:%M:%SZ") for what, end in found.expires.items()}
        document = KubeconfigCheck(
            cluster=found.cluster, problems=found.problems, answered=found.answer, expires=expires
        )
        data_json(document)
        return
    if found.answer:
        version = f", Kubernetes {found.answer.version}" if found.answer.version else ""
        data(f"{found.cluster} answered in {found.answer.milliseconds} ms{version}")
    for what, end in found.expires.items():
        if end > now:
            data(f"{what} is valid until {end:%Y-%m-%d %H:%M} UTC, for {counted((end - now).days, 'day')}")
    for problem in found.problems:
        data(as_text(problem))
    data(f"{found.cluster}: {counts(found.problems) or 'no problems'}")


command.add_command(discover)
command.add_command(register)
