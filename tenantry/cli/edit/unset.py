"""`tenantry unset`."""

from __future__ import annotations

from pathlib import Path as FilePath

import click

from tenantry.cli.commands import Command
from tenantry.cli.edit.apply import How, apply, edit_options
from tenantry.cli.edit.paths import complete, not_there
from tenantry.cli.fleet_file import reads_file
from tenantry.edit.editor import Editor
from tenantry.edit.paths import parse_path
from tenantry.messages.data import ABSENT
from tenantry.messages.text import format_path


@click.command(
    "unset",
    cls=Command,
    epilog="""\
Examples:
  tenantry unset tenants.rocky.quota
  tenantry unset 'tenants.rocky.quota["requests.cpu"]'
  tenantry unset tenants.rocky.apps.web.overrides.environments.prod
  tenantry unset 'tenants.rocky.owners[1]' --dry-run

Exit codes:
  0  the entry is removed
  2  nothing stands at the path, the edited file would be invalid, or it
     cannot be written; nothing is written
""",
)
@click.argument("path", shell_complete=complete)
@edit_options
@reads_file
def command(file: FilePath, path: str, output: str, *, dry_run: bool) -> int:
    """Remove the entry at PATH from tenants.yaml, or from the included file that declares it, with its comments.

    A mapping that becomes empty goes too, if its absence means the same. To remove a tenant or an app with what refers to it,
    use `tenantry remove`.
    """
    at = parse_path(path)
    editor = Editor.open(file)
    if editor.value(at) is ABSENT:
        raise not_there(at, editor.value)
    editor.unset(at)
    return apply(editor, How(dry_run=dry_run, output=output), [f"removed {format_path(at)}"])
