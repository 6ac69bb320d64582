"""`tenantry add` and `tenantry remove`: an entry of a kind, with settings as `set` takes them."""

from __future__ import annotations

from pathlib import Path

import click

from tenantry.cli.commands import Command
from tenantry.cli.edit.apply import EXIT_CODES, edits
from tenantry.edit import entries
from tenantry.edit.editor import Editor
from tenantry.edit.entries import Edit
from tenantry.edit.names import Kind

_kind = click.argument(
    "kind",
    type=click.Choice([kind.value for kind in Kind if kind is not Kind.ENVIRONMENT]),
    callback=lambda _, __, given: Kind(given),
)
"""What is added or removed."""


@click.command(
    "add",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry add tenant nora clusters.labels.tier=edge quota.pods=40
  tenantry add tenant nora clusters.names=edge-1 --to tenants.d/nora.yaml
  tenantry add source nora/manifests git.url=https://git.example.com/nora/app \\
    git.ref.branch=main
  tenantry add source platform/charts helm.url=https://charts.example.com
  tenantry add app nora/web kustomize.source=manifests kustomize.path=./web
  tenantry add app nora/db helm.source=charts helm.chart=db helm.version=16.x
  tenantry add cluster us-2 environments=prod labels.tier=edge \\
    kubeconfig.capi.cluster=us-2 kubeconfig.capi.namespace=capi
  tenantry add addon dns clusters.all=true helm.source=charts helm.chart=dns

{EXIT_CODES}""",
)
@_kind
@click.argument("name")
@click.argument("settings", nargs=-1, metavar="[KEY=VALUE]...")
@click.option(
    "--to",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The included file for a cluster, or in which the team of a tenant declares its apps.",
)
@edits
def add(editor: Editor, kind: Kind, name: str, settings: tuple[str, ...], to: Path | None) -> Edit:
    """Add a tenant, an app, a cluster, a source or an add-on to tenants.yaml.

    NAME is that of the entry: TENANT/NAME of an app or a source, platform/NAME of a source for add-ons. KEY=VALUE sets a key
    of the entry, as `tenantry set` does: quota.pods=40. Where only a list fits, VALUE is its words: environments=dev,prod.

    Comments, order and everything else in the file stay as they are. The result is checked before it is written.
    """
    return entries.add(editor, kind, name, settings, to)


@click.command(
    "remove",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry remove tenant rocky
  tenantry remove app rocky/cache
  tenantry remove cluster edge-2 --cascade
  tenantry remove source rocky/manifests
  tenantry remove addon dns --dry-run

{EXIT_CODES}""",
)
@_kind
@click.argument("name")
@click.option("--cascade", is_flag=True, help="Remove the references to it too, where that changes nothing else.")
@edits
def remove(editor: Editor, kind: Kind, name: str, *, cascade: bool) -> Edit:
    """Remove a tenant, an app, a cluster, a source or an add-on from tenants.yaml.

    NAME is TENANT/NAME of an app or a source. A tenant goes with all of its apps, from all files.

    What other parts of the file refer to is not removed, unless --cascade can remove the references too. `tenantry up`
    removes from the clusters what is not in the file any more; its guard limits how much one run may remove.
    """
    return entries.remove(editor, kind, name, cascade=cascade)


commands = {"add": add, "remove": remove}
