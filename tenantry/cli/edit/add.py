"""`tenantry add`: a table of the kinds of entries with their options, and the command that each becomes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from tenantry.cli.commands import Command, Group
from tenantry.cli.edit.apply import EXIT_CODES, edits
from tenantry.cli.edit.arguments import Option, clusters, environments, file_to, names, new, one, pairs, text
from tenantry.edit.editor import Editor
from tenantry.edit.subjects.adding import Edit, add
from tenantry.edit.subjects.names import Kind


class _Form(NamedTuple):
    """How an entry of a kind is added. options: each has the name of the key that it sets, or is read by `adding`."""

    help: str
    examples: str
    options: Sequence[Option]


_EXCLUDE = names("--exclude", "Clusters to leave out, or those with labels such as tier=edge.", Kind.CLUSTER)
_SOURCE = (
    text("--git", "URL", "A Git repository."),
    text("--helm", "URL", "A Helm repository, or oci:// of a registry with charts."),
    text("--oci", "URL", "An OCI artifact: oci://HOST/PATH."),
    text("--bucket", "ENDPOINT/NAME", "A bucket in an object store."),
    text("--branch", "NAME", "A branch of a Git repository; default: main."),
    text("--tag", "TAG", "A tag of a Git repository or an OCI artifact."),
    text("--semver", "RANGE", "The newest tag in this range of versions."),
    text("--credentials", "NAME", "Declared credentials with which Flux fetches it."),
)
_CONTENT = (
    text("--path", "DIRECTORY", "The directory of the source with the manifests."),
    text("--chart", "NAME", "The chart in the source."),
    text("--version", "VERSION", "The chart's version, or a range such as 1.x."),
)
_KUBECONFIG = (
    text("--kamaji", "NAMESPACE/NAME", "It is a Kamaji control plane."),
    text("--capi", "NAMESPACE/NAME", "It is a Cluster of Cluster API."),
    text("--vcluster", "NAMESPACE/NAME", "It is a vCluster virtual cluster."),
    text("--secret", "NAMESPACE/NAME:KEY", "Its kubeconfig is in this key of a Secret."),
)

_FORMS = {
    Kind.TENANT: _Form(
        "Add a tenant. KEY=VALUE sets more of its settings, such as quota.pods=40.",
        """\
  tenantry add tenant nora --clusters tier=edge
  tenantry add tenant nora --clusters all quota.pods=40 quota.requests.cpu=8
  tenantry add tenant nora --environments dev role=edit network=open
  tenantry add tenant nora --clusters edge-1 --to tenants.d/nora.yaml
  tenantry add tenant acme --class small
""",
        (
            click.argument("settings", nargs=-1, metavar="[KEY=VALUE]..."),
            names("--class", "The entries of 'tenantClasses' whose keys it takes.", Kind.CLASS, key="class"),
            clusters("The clusters of its apps: 'all', names, or labels such as tier=edge."),
            _EXCLUDE,
            environments("The environments it is in; default: all."),
            click.option(
                "--owner-group", "groups", metavar="NAME", multiple=True, help="A group of people who may look at it."
            ),
            file_to("The included file in which the team declares its apps."),
        ),
    ),
    Kind.CLASS: _Form(
        "Add a class: what tenants that are alike share. KEY=VALUE sets more of it, such as quota.pods=40.",
        """\
  tenantry add class customer --clusters tier=edge
  tenantry add class small --class customer quota.pods=10
""",
        (
            click.argument("settings", nargs=-1, metavar="[KEY=VALUE]..."),
            names("--class", "The classes whose keys apply to this one too.", Kind.CLASS, key="class"),
            clusters("The clusters of its apps: 'all', names, or labels such as tier=edge."),
            _EXCLUDE,
            environments("The environments its tenants are in; default: all."),
        ),
    ),
    Kind.APP: _Form(
        "Add an app to a tenant.\n\nManifests are applied with --path, a chart is installed with --chart.",
        """\
  tenantry add app nora/web --path ./web
  tenantry add app nora/web --source manifests --path "./web/{env}"
  tenantry add app nora/db --source charts --chart postgres --version 16.x
  tenantry add app nora/web --path ./web --depends-on db --environments prod
""",
        (
            text("--source", "NAME", "A source of the tenant; needed if it has several."),
            *_CONTENT,
            names("--depends-on", "Apps of the tenant, or platform/ADDON, that must be ready first.", key="dependsOn"),
            clusters("Where it runs: 'all', names, or labels; default: the tenant's clusters."),
            _EXCLUDE,
            environments("The environments it is in; default: the tenant's."),
        ),
    ),
    Kind.SOURCE: _Form(
        "Add a source of manifests or charts to a tenant, or to the platform for its add-ons.",
        """\
  tenantry add source nora/manifests --git https://git.example.com/nora/app.git
  tenantry add source nora/tools --git ssh://git@git.example.com/tools --tag v1
  tenantry add source nora/charts --helm https://charts.example.com
  tenantry add source nora/charts --helm oci://registry.example.com/charts
  tenantry add source nora/app --oci oci://registry.example.com/app --tag 1.2.0
  tenantry add source platform/charts --helm https://charts.example.com
""",
        _SOURCE,
    ),
    Kind.ADDON: _Form(
        "Add an add-on, an app of the platform team.",
        """\
  tenantry add addon dns --clusters all --git https://git.example.com/dns.git
  tenantry add addon dns --clusters all --helm https://charts.example.com \\
    --chart dns --version 1.x --namespace dns
  tenantry add addon dns --clusters all --source charts --chart dns \\
    --version 1.x
""",
        (
            clusters("Where it runs: 'all', names, or labels such as tier=edge.", required=True),
            _EXCLUDE,
            text("--source", "NAME", "One of 'platform.sources', instead of a source of its own."),
            *_SOURCE,
            *_CONTENT,
            text("--namespace", "NAME", "The namespace to install into.", key="target_namespace"),
            names("--depends-on", "Add-ons that must be ready first.", Kind.ADDON, key="dependsOn"),
            environments("The environments it is in; default: all."),
        ),
    ),
    Kind.CLUSTER: _Form(
        "Add a cluster. A remote cluster needs to say where its kubeconfig is, or its group does.",
        """\
  tenantry add cluster us-2 --environments prod --capi capi/us-2 --labels a=b
  tenantry add cluster edge-2 --environments dev --kamaji kamaji/edge-2
  tenantry add cluster lab --environments dev --secret clusters/lab:kubeconfig
  tenantry add cluster berlin --group eu
  tenantry add cluster berlin --group eu --group canary
  tenantry add cluster oslo --group eu --management hub-eu
  tenantry add cluster berlin --group eu --to clusters.d/eu.yaml
""",
        (
            environments("The environments it belongs to; default: its group's."),
            names("--group", "The entries of 'clusterGroups' whose settings it takes.", Kind.GROUP, key="group"),
            one("--management", "Its management cluster, where an environment has several.", Kind.CLUSTER),
            pairs("--labels", "Labels for selectors."),
            pairs("--variables", "Variables for placeholders."),
            *_KUBECONFIG,
            file_to("The included file to add it to."),
        ),
    ),
    Kind.GROUP: _Form(
        "Add a group: what equal clusters share.\n\n'{cluster}' stands for the name of each cluster.",
        """\
  tenantry add group edge --environments prod --kamaji 'kamaji/{cluster}'
  tenantry add group eu --group edge --labels region=eu
""",
        (
            environments("The environments of its clusters."),
            names("--group", "The groups whose settings apply to this one too.", Kind.GROUP, key="group"),
            one("--management", "Their management cluster, where an environment has several.", Kind.CLUSTER),
            pairs("--labels", "Labels of its clusters."),
            pairs("--variables", "Variables of its clusters."),
            *_KUBECONFIG,
        ),
    ),
    Kind.ENVIRONMENT: _Form(
        "Add an environment.\n\nIt is a Pulumi stack on one management cluster, or on several.",
        """\
  tenantry add environment test --management hub-test --after dev
  tenantry add environment prod --management hub-eu,hub-us
  tenantry add environment dev-1 --management hub --extends dev --tenants nora
""",
        (
            names("--management", "The clusters that run Flux; new ones are declared.", Kind.CLUSTER, required=True),
            one("--extends", "The environment whose settings apply too.", Kind.ENVIRONMENT),
            one("--after", "The environment before this one.", Kind.ENVIRONMENT),
            text("--namespace", "TEMPLATE", "Namespaces of tenants, such as '{env}-{tenant}'."),
            names("--tenants", "The only tenants in it.", Kind.TENANT),
            pairs("--variables", "Variables for placeholders."),
            click.option("--protected", is_flag=True, help="Removals need 'state: removing' in an earlier run."),
        ),
    ),
}


@click.group(
    "add",
    cls=Group,
    epilog="""\
Examples:
  tenantry add tenant nora --clusters tier=edge quota.pods=40
  tenantry add source nora/manifests --git https://git.example.com/nora/app.git
  tenantry add app nora/web --path ./web
  tenantry add cluster us-2 --environments prod --capi capi/us-2
""",
)
def command() -> None:
    """Add a tenant, an app, a cluster and so on to tenants.yaml.

    Comments, order and everything else in the file stay as they are. The result is checked before it is written.
    """


def _declare(kind: Kind, form: _Form) -> None:
    """Declare `add KIND NAME`."""

    def addition(editor: Editor, name: str, to: Path | None = None, **options: Any) -> Edit:
        return add(editor, kind, name, options, to)

    decorated: Any = edits(addition)
    for option in (*reversed(form.options), new(kind)):
        decorated = option(decorated)
    epilog = f"Examples:\n{form.examples}\n{EXIT_CODES}"
    command.command(kind.value, cls=Command, help=form.help, epilog=epilog)(decorated)


for _kind, _form in _FORMS.items():
    _declare(_kind, _form)
