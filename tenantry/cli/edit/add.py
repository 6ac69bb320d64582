"""`tenantry add`: an entry of a kind, from the options that belong to the kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from tenantry.cli.commands import Command
from tenantry.cli.edit import arguments
from tenantry.cli.edit.apply import EXIT_CODES, edits
from tenantry.cli.edit.arguments import clusters, environments, file_to, names, one, pairs, text
from tenantry.edit.editor import Editor
from tenantry.edit.subjects.adding import Edit, add
from tenantry.edit.subjects.names import Kind

_TEMPLATES = (Kind.TENANT_TEMPLATE, Kind.CLUSTER_TEMPLATE)
_OPTIONS = (
    clusters("Where its apps run: 'all', names, or labels such as tier=edge; an app's default: the tenant's clusters."),
    names("--exclude", "Clusters to leave out, or those with labels such as tier=edge.", Kind.CLUSTER),
    environments("The environments it is in; default: all, of an app the tenant's, of a cluster its template's."),
    names("--from", "The entries of 'templates' whose keys it takes.", *_TEMPLATES, key="from"),
    click.option(
        "--owner-group", "groups", metavar="NAME", multiple=True, help="A group of people who may look at it."
    ),
    text("--source", "NAME", "A source of the tenant, or of the platform; needed if a tenant has several."),
    text("--path", "DIRECTORY", "The directory of the source with the manifests."),
    text("--chart", "NAME", "The chart in the source."),
    text("--version", "VERSION", "The chart's version, or a range such as 1.x."),
    text("--namespace", "NAME", "The namespace to install into.", key="target_namespace"),
    names("--depends-on", "Apps of the tenant, or add-ons, that must be ready first.", Kind.ADDON, key="dependsOn"),
    text("--git", "URL", "A Git repository."),
    text("--helm", "URL", "A Helm repository, or oci:// of a registry with charts."),
    text("--oci", "URL", "An OCI artifact: oci://HOST/PATH."),
    text("--bucket", "ENDPOINT/NAME", "A bucket in an object store."),
    text("--branch", "NAME", "A branch of a Git repository; default: main."),
    text("--tag", "TAG", "A tag of a Git repository or an OCI artifact."),
    text("--semver", "RANGE", "The newest tag in this range of versions."),
    text("--credentials", "NAME", "Declared credentials with which Flux fetches it."),
    one("--management", "Its management cluster, where an environment has several.", Kind.CLUSTER),
    pairs("--labels", "Labels for selectors."),
    pairs("--variables", "Variables for placeholders."),
    text("--kamaji", "NAMESPACE/NAME", "It is a Kamaji control plane."),
    text("--capi", "NAMESPACE/NAME", "It is a Cluster of Cluster API."),
    text("--vcluster", "NAMESPACE/NAME", "It is a vCluster virtual cluster."),
    text("--secret", "NAMESPACE/NAME:KEY", "Its kubeconfig is in this key of a Secret."),
    file_to("The included file for a cluster, or in which the team of a tenant declares its apps."),
)
_PLACED = ("clusters", "exclude", "environments")
_FETCHED = ("git", "helm", "oci", "bucket", "branch", "tag", "semver", "credentials")
_TAKEN = ("source", "path", "chart", "version", "dependsOn")
_KUBECONFIG = ("kamaji", "capi", "vcluster", "secret")
_BELONG: Mapping[Kind, tuple[str, ...]] = {
    Kind.TENANT: ("settings", *_PLACED, "from", "groups", "to"),
    Kind.APP: (*_PLACED, *_TAKEN),
    Kind.CLUSTER: ("environments", "from", "management", "labels", "variables", *_KUBECONFIG, "to"),
    Kind.SOURCE: _FETCHED,
    Kind.ADDON: (*_PLACED, *_TAKEN, "target_namespace", *_FETCHED),
}
"""The parameters that belong to each kind."""


def _options(function: Any) -> Any:
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@click.command(
    "add",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry add tenant nora --clusters tier=edge quota.pods=40
  tenantry add tenant nora --clusters edge-1 --to tenants.d/nora.yaml
  tenantry add source nora/manifests --git https://git.example.com/nora/app.git
  tenantry add source platform/charts --helm https://charts.example.com
  tenantry add app nora/web --source manifests --path "./web/{{env}}"
  tenantry add app nora/db --source charts --chart postgres --version 16.x
  tenantry add cluster us-2 --environments prod --capi capi/us-2 --labels a=b
  tenantry add cluster lab -e dev --secret clusters/lab:kubeconfig
  tenantry add addon dns --clusters all --source charts --chart dns
  tenantry add addon dns --clusters all --git https://git.example.com/dns.git

Options by kind:
  tenant   KEY=VALUE, --clusters, --exclude, --environments, --from,
           --owner-group, --to
  app      --clusters, --exclude, --environments, --source, --path, --chart,
           --version, --depends-on
  cluster  --environments, --from, --management, --labels, --variables,
           --kamaji, --capi, --vcluster, --secret, --to
  source   --git, --helm, --oci, --bucket, --branch, --tag, --semver,
           --credentials
  addon    those of an app and of a source, and --namespace; --clusters is
           required, and --source stands instead of a source of its own

{EXIT_CODES}""",
)
@arguments.kind
@arguments.new_name
@click.argument("settings", nargs=-1, metavar="[KEY=VALUE]...")
@_options
@edits
def command(editor: Editor, kind: Kind, name: str, to: Path | None, **options: Any) -> Edit:
    """Add a tenant, an app, a cluster, a source or an add-on to tenants.yaml.

    NAME is that of the entry: TENANT/NAME of an app or a source, platform/NAME of a source for add-ons. KEY=VALUE sets more
    of a tenant's settings, such as quota.pods=40. An app applies manifests with --path, or installs a chart with --chart. A
    remote cluster needs to say where its kubeconfig is, or its template does.

    Comments, order and everything else in the file stay as they are. The result is checked before it is written.
    """
    _check_options(kind)
    return add(editor, kind, name, {key: options[key] for key in _BELONG[kind] if key != "to"}, to)


def _check_options(kind: Kind) -> None:
    """Raises: UsageError: an option does not belong to the kind, or a required one is missing."""
    context = click.get_current_context()
    known = {str(each.name): each for each in context.command.params}
    given = {name for name in known if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    others = {name for belonging in _BELONG.values() for name in belonging} - {*_BELONG[kind]}
    if wrong := [_shown(known[name]) for name in known if name in given & others]:
        what = f"{'an' if kind.word[0] in 'aeiou' else 'a'} {kind.word}"
        those = ", ".join(_shown(known[name]) for name in _BELONG[kind])
        raise click.UsageError(f"{', '.join(wrong)} cannot be used to add {what}, which takes {those}.")
    if kind is Kind.ADDON and "clusters" not in given:
        raise click.UsageError("An add-on needs --clusters: all, names, or labels such as tier=edge.")


def _shown(parameter: click.Parameter) -> str:
    return "KEY=VALUE" if isinstance(parameter, click.Argument) else max(parameter.opts, key=len)
