"""`tenantry bootstrap`: what clusters, and people who deploy, need before the first run."""

from __future__ import annotations

from pathlib import Path

import click

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.options import cluster_environment, file_option, fleet_file
from tenantry.cli.output import data, say, working
from tenantry.cluster.apply_bootstrap import apply
from tenantry.cluster.connect import answering, connect
from tenantry.kube.objects import Manifest
from tenantry.load import load_fleet, plan_one
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import counted
from tenantry.plan.bootstrap import bootstrap
from tenantry.plan.plan import check_declared
from tenantry.preflight.roles import ROLES, RoleName, roles
from tenantry.render import to_yaml, write_files

_RBAC = "rbac.authorization.k8s.io"
_KINDS = {"group": "Group", "user": "User"}


def _subject(_: click.Context, __: click.Parameter, value: str | None) -> dict[str, str] | None:
    """Who gets a role, as a binding has it."""
    if value is None:
        return None
    kind, _colon, name = value.partition(":")
    if kind in _KINDS and name:
        return {"apiGroup": _RBAC, "kind": _KINDS[kind], "name": name}
    namespace, _slash, account = name.partition("/")
    if kind == "account" and namespace and account:
        return {"kind": "ServiceAccount", "namespace": namespace, "name": account}
    raise click.BadParameter(f"'{value}' is none of: group:NAME, user:NAME, account:NAMESPACE/NAME.")


@click.command(
    "bootstrap",
    cls=Command,
    short_help="print or apply what clusters need before the first run",
    epilog="""\
Examples:
  tenantry bootstrap --environment prod | kubectl --context hub-prod apply -f -
  tenantry bootstrap edge-1 --kubeconfig ~/.kube/edge-1
  tenantry bootstrap -e prod --roles deploy --for group:deployers --secrets
  tenantry bootstrap -e prod --roles operate --for group:on-call --kubeconfigs
  tenantry bootstrap hub-us -e prod --roles preview --for account:ci/preview
  tenantry bootstrap --chart charts/objects

The roles:
  preview  tenantry preflight, preview, status: reads, and no Secret
  deploy   tenantry up and destroy: the same, and writes what the plan has
  operate  tenantry status and why; flux reconcile, suspend and resume

Exit codes:
  0  success
  2  tenants.yaml is invalid, the cluster does not take the objects, or the
     directory of --chart has other files or cannot be written
""",
)
@click.argument("name", metavar="[CLUSTER]", required=False)
@options.environment("The environment that the cluster is prepared for; of CLUSTER, its first.")
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Apply the objects with this kubeconfig of an administrator of the cluster.",
)
@click.option("--context", metavar="NAME", help="Its context; default: the current one.")
@click.option(
    "--roles",
    "role",
    type=click.Choice(ROLES),
    help="Print the smallest roles on a management cluster for who does this, for an administrator to apply.",
)
@click.option(
    "--for",
    "subject",
    metavar="WHO",
    callback=_subject,
    help="Who gets the roles: group:NAME, user:NAME or account:NAMESPACE/NAME.",
)
@click.option(
    "--kubeconfigs", is_flag=True, help="With --roles: read the Secrets with the kubeconfigs of remote clusters, too."
)
@click.option(
    "--secrets",
    is_flag=True,
    help="With --roles deploy: list the Secrets in the namespaces where the fleet writes some. Pulumi does so to delete one.",
)
@click.option(
    "--chart",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIRECTORY",
    help="Write the chart of baselines, for a Git repository that Flux fetches. It needs no tenants.yaml.",
)
@file_option()
@click.pass_context
def command(
    ctx: click.Context,
    name: str | None,
    environment: str | None,
    kubeconfig: Path | None,
    context: str | None,
    role: RoleName | None,
    subject: dict[str, str] | None,
    chart: Path | None,
    *,
    kubeconfigs: bool,
    secrets: bool,
) -> int:
    """Print the objects that CLUSTER needs before Flux can act on it; without CLUSTER, the environment's management cluster.

    These are the platform's namespace, the permissions of its service account, and admission policies. With --kubeconfig
    they are applied instead. They belong to no stack, and `tenantry destroy` does not remove them. Run it again after an
    upgrade of Tenantry.

    The roles of --roles follow from the plan. When the file gets a tenant, a namespace, a credential or a kind of object that
    is new, apply them again before `tenantry up`. When it loses one, apply them after the run that removes it. No role has a
    wildcard or reads Secrets but those that the fleet writes, by their names. What may be bound is named. The admission
    policies let who has the role 'deploy' write the fleet's labels. To delete a Secret, Pulumi lists those of its namespace:
    without --secrets, `tenantry up` and `destroy` refuse to delete one.

    Of the chart of --chart, Flux installs baselines on remote clusters. Write it again after an upgrade of Tenantry.
    """
    if chart is not None:
        if name or environment or kubeconfig or role:
            raise click.UsageError("--chart writes the chart alone: leave out the rest")
        return _write_chart(chart)
    file = fleet_file(ctx)
    if not name and not environment:
        raise click.UsageError("Name a cluster, or its environment with --environment.")
    if kubeconfig is None and context:
        raise click.UsageError("--context needs --kubeconfig: without it nothing is applied")
    if role and kubeconfig:
        raise click.UsageError("--roles prints: pipe it to `kubectl apply -f -` as an administrator")
    if not role and (subject or kubeconfigs or secrets):
        raise click.UsageError("--for, --kubeconfigs and --secrets are for --roles")
    if role and not subject:
        raise click.UsageError("say who gets the roles: --for group:NAME, user:NAME or account:NAMESPACE/NAME")
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        chosen = cluster_environment(fleet, name, environment) if name else str(environment)
        check_declared(fleet, chosen)
        management = fleet.environments[chosen].management
        cluster = name or management
        planned = plan_one(fleet, chosen) if role else None
    if role and subject and planned:
        if cluster != management:
            message = f"'{cluster}' is no management cluster of environment {chosen}"
            raise Refused(message, f"name {management}", code=UNKNOWN_NAME)
        smallest = roles(fleet, planned, role, subject, kubeconfigs=kubeconfigs, secrets=secrets)
        data(to_yaml(smallest.manifests).rstrip("\n"))
        for line in smallest.wide:
            say(f"wide: {line}")
        return 0
    manifests = bootstrap(fleet, chosen, cluster)
    if kubeconfig is None:
        data(to_yaml(manifests).rstrip("\n"))
    else:
        _apply(kubeconfig, context, manifests)
    return 0


def _apply(kubeconfig: Path, context: str | None, manifests: tuple[Manifest, ...]) -> None:
    try:
        client = connect(kubeconfig, context)
    except Refused as refused:
        # Other commands find the cluster in the stack's file.
        fix = "name an administrator's kubeconfig and context for this cluster with --kubeconfig and --context"
        raise Refused(refused.message, fix, code=refused.code) from None
    with client, answering(client):
        say(f"cluster {client.access.cluster.server}, context '{client.access.name}'")
        for id, outcome in apply(client, manifests):
            data(f"{id}: {outcome}")


def _write_chart(directory: Path) -> int:
    # Nothing else of the command needs these.
    import yaml

    from tenantry.charts import OBJECTS, files_of

    wanted = {name: content.decode() for name, content in files_of(OBJECTS).items()}
    # Helm would install any other template.
    written, _ = write_files(wanted, directory, lambda file: file.relative_to(directory).as_posix() in wanted)
    chart, files = yaml.safe_load(wanted["Chart.yaml"]), f"{counted(written, 'file')} written"
    data(f"{directory}: {chart['name']} {chart['version']}, {files if written else 'nothing to write'}")
    where = f"{{url: ..., ref: {{branch: main}}, path: {directory.as_posix()}}}"
    say(f"commit and push it, then write in tenants.yaml:\n  platform: {{chart: {{git: {where}}}}}")
    return 0
