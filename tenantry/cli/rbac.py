"""`tenantry rbac`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenantry.cli.commands import Command
from tenantry.cli.completers import clusters
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.options import environment as environment_option
from tenantry.cli.output import data, say, working
from tenantry.load import load_fleet, plan_one
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import listed
from tenantry.preflight.roles import FLUX_NAMESPACE, ROLES, RoleName, roles
from tenantry.render import on_hub, to_yaml

if TYPE_CHECKING:
    from tenantry.plan.plan import Plan

_RBAC = "rbac.authorization.k8s.io"


@click.command(
    "rbac",
    cls=Command,
    epilog="""\
Examples:
  tenantry rbac --role deploy -e prod --group deployers
  tenantry rbac --role deploy -e prod --group deployers | kubectl apply -f -
  tenantry rbac --role preview -e prod --account ci/tenantry-preview
  tenantry rbac --role deploy -e prod --group deployers --secrets
  tenantry rbac --role operate -e prod --group on-call --kubeconfigs
  tenantry rbac --role deploy -e prod --user ci --hub hub-us

The roles:
  preview  tenantry preflight, preview, status: reads, and no Secret
  deploy   tenantry up and destroy: the same, and writes what the plan has
  operate  tenantry status, why, events, logs, reconcile, suspend, resume

Exit codes:
  0  success
  2  tenants.yaml is invalid, or it does not say who gets the role
""",
)
@click.option("--role", type=click.Choice(ROLES), required=True, help="What the role is for.")
@environment_option("The environment.", required=True)
@click.option("--group", metavar="NAME", help="Give the role to this group.")
@click.option("--user", metavar="NAME", help="Give the role to this user.")
@click.option("--account", metavar="NAMESPACE/NAME", help="Give the role to this service account.")
@click.option("--hub", metavar="NAME", help="The management cluster, of several.", shell_complete=clusters)
@click.option(
    "--kubeconfigs", is_flag=True, help="Let it read the Secrets with the kubeconfigs of remote clusters, too."
)
@click.option(
    "--secrets",
    is_flag=True,
    help="Let who deploys list the Secrets in the namespaces where the fleet writes some: Pulumi does so to delete one.",
)
@click.option(
    "--flux-namespace",
    metavar="NAME",
    default=FLUX_NAMESPACE,
    show_default=True,
    help="Where Flux's controllers run, whose logs an operator reads.",
)
@reads_file
def command(
    file: Path,
    role: RoleName,
    environment: str,
    group: str | None,
    user: str | None,
    account: str | None,
    hub: str | None,
    flux_namespace: str,
    *,
    kubeconfigs: bool,
    secrets: bool,
) -> int:
    """Print the smallest roles for a management cluster, as YAML for an administrator to apply. No cluster is contacted.

    The roles follow from the plan. When the file gets a tenant, a namespace, a credential or a kind of object that is new, apply
    them again before `tenantry up`. When it loses one, apply them after the run that removes it.

    No role has a wildcard or reads Secrets but those that the fleet writes, by their names. What may be bound is named. The
    admission policies of `tenantry cluster bootstrap` let who has the role 'deploy' write the fleet's labels.

    To delete a Secret, Pulumi lists those of its namespace. Without --secrets, `tenantry up` and `destroy` refuse to delete one.
    """
    subject = _subject(group, user, account)
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        planned = _on_one(plan_one(fleet, environment), hub)
    made = roles(fleet, planned, role, subject, kubeconfigs=kubeconfigs, secrets=secrets, flux=flux_namespace)
    data(to_yaml(made.manifests).rstrip("\n"))
    for line in made.wide:
        say(f"wide: {line}")
    return 0


def _subject(group: str | None, user: str | None, account: str | None) -> dict[str, str]:
    """Who gets the role, as a binding has it."""
    if sum(map(bool, (group, user, account))) != 1:
        raise click.UsageError("say who gets the role: --group NAME, --user NAME or --account NAMESPACE/NAME")
    if account is None:
        kind = "Group" if group else "User"
        return {"apiGroup": _RBAC, "kind": kind, "name": group or user or ""}
    namespace, slash, name = account.partition("/")
    if not (namespace and slash and name):
        raise click.UsageError(f"'{account}' is no service account: write --account NAMESPACE/NAME")
    return {"kind": "ServiceAccount", "namespace": namespace, "name": name}


def _on_one(plan: Plan, hub: str | None) -> Plan:
    """The plan of one management cluster. Raises: Refused: there are several, and none is named."""
    if hub is None and len(plan.hubs) > 1:
        message = f"environment '{plan.environment}' has several management clusters, and each gets roles of its own"
        raise Refused(message, f"name one: --hub {plan.hubs[0]} (there are {listed(plan.hubs)})", code=UNKNOWN_NAME)
    return on_hub({plan.environment: plan}, hub or plan.hubs[0])[plan.environment]
