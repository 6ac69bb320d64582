"""`tenantry remove`: an entry of a kind."""

from __future__ import annotations

import click

from tenantry.cli.commands import Command
from tenantry.cli.edit import arguments
from tenantry.cli.edit.apply import EXIT_CODES, edits
from tenantry.edit.adding import Edit
from tenantry.edit.editor import Editor
from tenantry.edit.names import Kind
from tenantry.edit.removing import remove


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
@arguments.kind
@click.argument("name", shell_complete=arguments.complete_existing)
@click.option("--cascade", is_flag=True, help="Remove the references to it too, where that changes nothing else.")
@edits
def command(editor: Editor, kind: Kind, name: str, *, cascade: bool) -> Edit:
    """Remove a tenant, an app, a cluster, a source or an add-on from tenants.yaml.

    NAME is TENANT/NAME of an app or a source. A tenant goes with all of its apps, from all files.

    What other parts of the file refer to is not removed, unless --cascade can remove the references too. `tenantry up`
    removes from the clusters what is not in the file any more; its guard limits how much one run may remove.
    """
    return remove(editor, kind, name, cascade=cascade)
