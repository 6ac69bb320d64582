"""Adds what the platform team owns: add-ons, clusters, groups, environments."""

from __future__ import annotations

from typing import Any

import click

from tenantry.cli.commands import Command
from tenantry.cli.edit import arguments
from tenantry.cli.edit.add.command import command
from tenantry.cli.edit.add.sources import source_options
from tenantry.cli.edit.editing import EXIT_CODES, edits, file_named
from tenantry.edit.subjects import adding, selecting
from tenantry.edit.subjects.draft import Draft, Edit


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
@source_options
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
def cluster(draft: Draft, name: str, *, to: str | None, **options: Any) -> Edit:
    """Add a cluster. A remote cluster needs to say where its kubeconfig is, or its group does."""
    return adding.add_cluster(draft, name, _entry_of(options), file_named(draft, to))


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
def group(draft: Draft, name: str, **options: Any) -> Edit:
    """Add a group: what equal clusters share.

    '{cluster}' stands for the name of each cluster.
    """
    return adding.add_group(draft, name, _entry_of(options))


def _entry_of(options: dict[str, Any]) -> dict[str, Any]:
    """A cluster or a group, from the options that both have."""
    entry = {key: options.pop(key) for key in ("group", "environments", "labels", "variables")}
    return {**entry, "kubeconfig": adding.kubeconfig_of(options)}


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
