"""`tenantry add`."""

from __future__ import annotations

from typing import Any

import click

from tenantry.cli.commands import Command, Group
from tenantry.cli.edit import arguments
from tenantry.cli.edit.editing import EXIT_CODES, edits, file_named
from tenantry.edit.subjects import adding, granting, overriding, selecting
from tenantry.edit.subjects.assignments import assignment
from tenantry.edit.subjects.draft import Draft, Edit
from tenantry.model import AppPatch
from tenantry.model.document import Frame, SettingsPatch


@click.group(
    "add",
    cls=Group,
    epilog="""\
Examples:
  tenantry add tenant nora --clusters tier=edge --quota pods=40
  tenantry add source nora/manifests --git https://git.example.com/nora/app.git
  tenantry add app nora/web --path ./web
  tenantry add override nora/web --environment prod kustomize.path=./web/prod
  tenantry add cluster us-2 --environments prod --capi capi/us-2
  tenantry add selector nora --clusters hub-dev
""",
)
def command() -> None:
    """Add a tenant, an app, a cluster and so on to tenants.yaml.

    Comments, order and everything else in the file stay as they are. The result is checked before it is written.
    """


@command.command(
    "tenant",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry add tenant nora --clusters tier=edge
  tenantry add tenant nora --clusters all --quota pods=40,requests.cpu=8
  tenantry add tenant nora --environments dev role=edit network=open
  tenantry add tenant nora --clusters edge-1 --to tenants.d/nora.yaml

{EXIT_CODES}""",
)
@click.argument("name")
@click.argument("settings", nargs=-1, metavar="[KEY=VALUE]...")
@arguments.clusters("The clusters of its apps: 'all', names, or labels such as tier=edge.")
@arguments.exclude()
@arguments.names("--environments", "The environments it is in; default: all.", arguments.ENVIRONMENTS)
@arguments.labels("--quota", "A limit of its quota, such as pods=40.")
@click.option("--owner-group", "groups", metavar="NAME", multiple=True, help="A group of people who may look at it.")
@arguments.file_to("The included file in which the team declares its apps.")
@edits
def tenant(
    draft: Draft,
    name: str,
    settings: tuple[str, ...],
    *,
    clusters: str | None,
    exclude: list[str],
    environments: list[str],
    quota: dict[str, str],
    groups: tuple[str, ...],
    to: str | None,
) -> Edit:
    """Add a tenant. KEY=VALUE sets more of its settings."""
    frame: dict[str, Any] = {
        "environments": environments,
        "clusters": selecting.selector_of(clusters, tuple(exclude)) if clusters else None,
        "owners": [{"group": group} for group in groups],
    }
    for text in (*(f"quota.{key}={value}" for key, value in quota.items()), *settings):
        path, value = assignment(Frame, text)
        adding.put_into(frame, path, value)
    return adding.add_tenant(draft, name, frame, file_named(draft, to))


@command.command(
    "app",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry add app nora/web --path ./web
  tenantry add app nora/web --source manifests --path "./web/{{env}}"
  tenantry add app nora/db --source charts --chart postgres --version 16.x
  tenantry add app nora/web --path ./web --depends-on db --environments prod

{EXIT_CODES}""",
)
@arguments.owned()
@click.option("--source", metavar="NAME", help="A source of the tenant; needed if it has several.")
@click.option("--path", metavar="DIRECTORY", help="The directory of the source with the manifests.")
@click.option("--chart", metavar="NAME", help="The chart in the source.")
@click.option("--version", metavar="VERSION", help="The chart's version, or a range such as 1.x.")
@arguments.names("--depends-on", "Apps of the tenant, or platform/ADDON, that must be ready first.")
@arguments.clusters("Where it runs: 'all', names, or labels; default: the tenant's clusters.")
@arguments.exclude()
@arguments.names("--environments", "The environments it is in; default: the tenant's.", arguments.ENVIRONMENTS)
@edits
def app(
    draft: Draft,
    name: str,
    *,
    source: str | None,
    path: str | None,
    chart: str | None,
    version: str | None,
    depends_on: list[str],
    clusters: str | None,
    exclude: list[str],
    environments: list[str],
) -> Edit:
    """Add an app to a tenant.

    Manifests are applied with --path, a chart is installed with --chart.
    """
    selector = selecting.selector_of(clusters, tuple(exclude)) if clusters else None
    block = {"source": source, "path": path, "chart": chart, "version": version}
    return adding.add_app(
        draft, name, {"clusters": selector, "environments": environments, "dependsOn": depends_on}, block
    )


def _source_options(function: Any) -> Any:
    """The options of a source, whose keys are those of `_source`."""
    for option in (
        click.option("--credentials", metavar="NAME", help="Declared credentials with which Flux fetches it."),
        click.option("--semver", metavar="RANGE", help="The newest tag in this range of versions."),
        click.option("--tag", metavar="TAG", help="A tag of a Git repository or an OCI artifact."),
        click.option("--branch", metavar="NAME", help="A branch of a Git repository; default: main."),
        click.option("--bucket", metavar="ENDPOINT/NAME", help="A bucket in an object store."),
        click.option("--oci", metavar="URL", help="An OCI artifact: oci://HOST/PATH."),
        click.option("--helm", metavar="URL", help="A Helm repository, or oci:// of a registry with charts."),
        click.option("--git", metavar="URL", help="A Git repository."),
    ):
        function = option(function)
    return function


@command.command(
    "source",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry add source nora/manifests --git https://git.example.com/nora/app.git
  tenantry add source nora/tools --git ssh://git@git.example.com/tools --tag v1
  tenantry add source nora/charts --helm https://charts.example.com
  tenantry add source nora/charts --helm oci://registry.example.com/charts
  tenantry add source nora/app --oci oci://registry.example.com/app --tag 1.2.0

{EXIT_CODES}""",
)
@arguments.owned()
@_source_options
@edits
def source(draft: Draft, name: str, **options: str | None) -> Edit:
    """Add a source of manifests or charts to a tenant."""
    return adding.add_source(draft, name, adding.source_of(options))


@command.command(
    "addon",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry add addon dns --clusters all --git https://git.example.com/dns.git
  tenantry add addon dns --clusters all --helm https://charts.example.com \\
    --chart dns --version 1.x --namespace dns

{EXIT_CODES}""",
)
@click.argument("name")
@arguments.clusters("Where it runs: 'all', names, or labels such as tier=edge.", required=True)
@arguments.exclude()
@_source_options
@click.option("--path", metavar="DIRECTORY", help="The directory of the source with the manifests.")
@click.option("--chart", metavar="NAME", help="The chart in the source.")
@click.option("--version", metavar="VERSION", help="The chart's version, or a range such as 1.x.")
@click.option("--namespace", metavar="NAME", help="The namespace to install into.")
@arguments.names("--depends-on", "Add-ons that must be ready first.", arguments.ADDONS)
@arguments.names("--environments", "The environments it is in; default: all.", arguments.ENVIRONMENTS)
@edits
def addon(
    draft: Draft,
    name: str,
    *,
    clusters: str,
    exclude: list[str],
    depends_on: list[str],
    environments: list[str],
    **options: str | None,
) -> Edit:
    """Add an add-on, an app of the platform team."""
    keys = {"path": "path", "chart": "chart", "version": "version", "targetNamespace": "namespace"}
    block = {key: options.pop(option) for key, option in keys.items()}
    selector = selecting.selector_of(clusters, tuple(exclude))
    source = adding.source_of(options)
    return adding.add_addon(
        draft,
        name,
        {"clusters": selector, "environments": environments, "dependsOn": depends_on, "source": source},
        block,
    )


def _kubeconfig_options(function: Any) -> Any:
    for option in (
        click.option("--secret", metavar="NAMESPACE/NAME:KEY", help="Its kubeconfig is in this key of a Secret."),
        click.option("--vcluster", metavar="NAMESPACE/NAME", help="It is a vCluster virtual cluster."),
        click.option("--capi", metavar="NAMESPACE/NAME", help="It is a Cluster of Cluster API."),
        click.option("--kamaji", metavar="NAMESPACE/NAME", help="It is a Kamaji control plane."),
    ):
        function = option(function)
    return function


@command.command(
    "cluster",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry add cluster us-2 --environments prod --capi capi/us-2 --labels a=b
  tenantry add cluster edge-2 --environments dev --kamaji kamaji/edge-2
  tenantry add cluster lab --environments dev --secret clusters/lab:kubeconfig
  tenantry add cluster berlin --group eu
  tenantry add cluster berlin --group eu --to clusters.d/eu.yaml

{EXIT_CODES}""",
)
@click.argument("name")
@arguments.names("--environments", "The environments it belongs to; default: its group's.", arguments.ENVIRONMENTS)
@arguments.one("--group", "The entry of 'clusterGroups' whose settings it takes.", arguments.GROUPS)
@arguments.labels("--labels", "Labels for selectors.")
@arguments.labels("--variables", "Variables for placeholders.")
@_kubeconfig_options
@arguments.file_to("The included file to add it to.")
@edits
def cluster(
    draft: Draft,
    name: str,
    *,
    environments: list[str],
    group: str | None,
    labels: dict[str, str],
    variables: dict[str, str],
    to: str | None,
    **kubeconfig: str | None,
) -> Edit:
    """Add a cluster. A remote cluster needs to say where its kubeconfig is, or its group does."""
    entry = {"group": group, "environments": environments, "labels": labels, "variables": variables}
    entry["kubeconfig"] = adding.kubeconfig_of(kubeconfig)
    return adding.add_cluster(draft, name, entry, file_named(draft, to))


@command.command(
    "group",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry add group edge --environments prod --kamaji 'kamaji/{{cluster}}'
  tenantry add group eu --group edge --labels region=eu

{EXIT_CODES}""",
)
@click.argument("name")
@arguments.names("--environments", "The environments of its clusters.", arguments.ENVIRONMENTS)
@arguments.one("--group", "The group whose settings apply to this one too.", arguments.GROUPS)
@arguments.labels("--labels", "Labels of its clusters.")
@arguments.labels("--variables", "Variables of its clusters.")
@_kubeconfig_options
@edits
def group(
    draft: Draft,
    name: str,
    *,
    environments: list[str],
    group: str | None,
    labels: dict[str, str],
    variables: dict[str, str],
    **kubeconfig: str | None,
) -> Edit:
    """Add a group: what equal clusters share.

    '{cluster}' stands for the name of each cluster.
    """
    entry = {"group": group, "environments": environments, "labels": labels, "variables": variables}
    return adding.add_group(draft, name, {**entry, "kubeconfig": adding.kubeconfig_of(kubeconfig)})


@command.command(
    "environment",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry add environment test --management hub-test --after dev
  tenantry add environment dev-1 --management hub --extends dev --tenants nora

{EXIT_CODES}""",
)
@click.argument("name")
@arguments.one("--management", "The cluster that runs Flux; a new one is declared.", arguments.CLUSTERS, required=True)
@arguments.one("--extends", "The environment whose settings apply too.", arguments.ENVIRONMENTS)
@arguments.one("--after", "The environment before this one.", arguments.ENVIRONMENTS)
@click.option("--namespace", metavar="TEMPLATE", help="Namespaces of tenants, such as '{env}-{tenant}'.")
@arguments.names("--tenants", "The only tenants in it.", arguments.TENANTS)
@arguments.labels("--variables", "Variables for placeholders.")
@click.option("--protected", is_flag=True, help="Removals need 'state: offboarding' in an earlier run.")
@edits
def environment(draft: Draft, name: str, **options: Any) -> Edit:
    """Add an environment.

    It is a Pulumi stack on one management cluster.
    """
    keys = ("extends", "after", "management", "namespace", "tenants", "variables", "protected")
    entry = {key: options[key] or None for key in keys}
    return adding.add_environment(draft, name, entry)


@command.command(
    "selector",
    cls=Command,
    epilog=f"""\
OWNER is a tenant, TENANT/APP, platform/ADDON or 'defaults'.

Examples:
  tenantry add selector rocky --clusters edge-2          one cluster more
  tenantry add selector rocky/web --clusters tier=edge   a selector of its own
  tenantry add selector rocky --exclude edge-2

{EXIT_CODES}""",
)
@arguments.holder()
@arguments.clusters("Clusters to take: 'all', names, or labels.")
@arguments.exclude()
@edits
def selector(draft: Draft, owner: str, *, clusters: str | None, exclude: list[str]) -> Edit:
    """Select more clusters for a tenant, an app or an add-on."""
    return selecting.select(draft, owner, selecting.chosen(clusters, exclude))


@command.command(
    "override",
    cls=Command,
    epilog=f"""\
OWNER is a tenant, TENANT/APP, platform/ADDON or 'defaults'.

Examples:
  tenantry add override movy/shop --environment prod helm.version=2.3.1
  tenantry add override movy/shop --cluster us-1 helm.values.replicas=4
  tenantry add override movy/shop --labels region=eu helm.values.replicas=3
  tenantry add override movy --environment prod quota.pods=80

{EXIT_CODES}""",
)
@arguments.holder()
@click.argument("values", nargs=-1, required=True, metavar="KEY=VALUE...")
@arguments.one("--environment", "Where it differs: in an environment.", arguments.ENVIRONMENTS, short=("-e",))
@arguments.one("--cluster", "Where it differs: on a cluster.", arguments.CLUSTERS, short=("-c",))
@arguments.labels("--labels", "Where it differs: on clusters with these labels.")
@edits
def override(
    draft: Draft,
    owner: str,
    values: tuple[str, ...],
    *,
    environment: str | None,
    cluster: str | None,
    labels: dict[str, str],
) -> Edit:
    """Set something for one environment or some clusters only."""
    model = AppPatch if "/" in owner else SettingsPatch
    place = overriding.Place(environment, cluster, labels)
    return overriding.override(draft, owner, place, [assignment(model, each) for each in values])


@command.command(
    "grant",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry add grant rocky sources='https://git.example.com/rocky/*'
  tenantry add grant rocky settings=quota,limits
  tenantry add grant rocky clusters=tier=edge
  tenantry add grant selfService/team sources='https://git.example.com/*'

{EXIT_CODES}""",
)
@arguments.existing(arguments.TENANTS, name="tenant")
@click.argument("grants", nargs=-1, required=True, metavar="KEY=VALUE...")
@edits
def grant(draft: Draft, tenant: str, grants: tuple[str, ...]) -> Edit:
    """Allow the included file of a tenant more. The values of a list are separated by commas."""
    done = [granting.grant(draft, tenant, *granting.pair(each)) for each in grants]
    return draft.edit("; ".join(each.done for each in done))
