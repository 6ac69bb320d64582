"""`tenantry add`: an entry of a kind, with settings as `set` takes them."""

from __future__ import annotations

from pathlib import Path

import click

from tenantry.cli.commands import Command
from tenantry.cli.completers import fleet_data
from tenantry.cli.edit import arguments
from tenantry.cli.edit.apply import EXIT_CODES, edits
from tenantry.edit.adding import Edit, add
from tenantry.edit.editor import Editor
from tenantry.edit.names import Kind, Target
from tenantry.edit.paths import keys_at
from tenantry.messages.data import mapping_at


def _complete_name(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    """The tenants, of whom it can be an app or a source."""
    if not Kind(context.params["kind"]).is_owned or "/" in start:
        return []
    return [f"{tenant}/" for tenant in mapping_at(fleet_data(context), "tenants") if tenant.startswith(start)]


def _complete_setting(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    keys = keys_at(Target(kind := Kind(context.params["kind"]), "name", "tenant" if kind.is_owned else "").path)
    return [key for key in keys if key.startswith(start)]


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
@arguments.kind
@click.argument("name", shell_complete=_complete_name)
@click.argument("settings", nargs=-1, metavar="[KEY=VALUE]...", shell_complete=_complete_setting)
@click.option(
    "--to",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The included file for a cluster, or in which the team of a tenant declares its apps.",
)
@edits
def command(editor: Editor, kind: Kind, name: str, settings: tuple[str, ...], to: Path | None) -> Edit:
    """Add a tenant, an app, a cluster, a source or an add-on to tenants.yaml.

    NAME is that of the entry: TENANT/NAME of an app or a source, platform/NAME of a source for add-ons. KEY=VALUE sets a key
    of the entry, as `tenantry set` does: quota.pods=40. Where only a list fits, VALUE is its words: environments=dev,prod.

    Comments, order and everything else in the file stay as they are. The result is checked before it is written.
    """
    return add(editor, kind, name, settings, to)
