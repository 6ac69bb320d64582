"""`tenantry fmt`."""

from __future__ import annotations

from pathlib import Path

import click

from tenantry.cli.commands import Command
from tenantry.cli.edit.difference import coloured, difference
from tenantry.cli.fleet_file import file_option, fleet_file
from tenantry.cli.output import data
from tenantry.edit.canonical import canonical
from tenantry.edit.editor import Editor
from tenantry.edit.write import write_all
from tenantry.messages.text import counted, listed, printable
from tenantry.source.parse import bytes_of


@click.command(
    "fmt",
    cls=Command,
    epilog="""\
Examples:
  tenantry fmt
  tenantry fmt --dry-run
  tenantry fmt --check                       in a pipeline
  tenantry fmt tenants.d/rocky.yaml

Exit codes:
  0  the files are formatted
  1  with --check: files are not formatted
  2  a file is not valid YAML, or it cannot be written; nothing is written
""",
)
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--check", is_flag=True, help="Write nothing, and exit with code 1 if a file is not formatted.")
@click.option("--dry-run", is_flag=True, help="Print the changes of the files, and write nothing.")
@file_option()
@click.pass_context
def command(context: click.Context, files: tuple[Path, ...], *, check: bool, dry_run: bool) -> int:
    """Format tenants.yaml and the files that it includes, or FILES.

    Keys get the order of the reference, two spaces of indentation, quotes where they are needed, and an empty line between
    sections and between tenants. Comments, names, the order of lists and what stands in brackets stay. The meaning does not
    change: this is checked before anything is written.
    """
    found = _read(context, files)
    formatted = {file: (raw, canonical(raw, file)) for file, raw in found.items()}
    changes = {file: both for file, both in formatted.items() if both[0] != both[1]}
    if dry_run and changes:
        data("\n".join(map(coloured, difference(changes))))
    elif not (check or dry_run):
        write_all(changes)
    if not dry_run:
        names = printable(listed(changes, most=len(changes)))
        done = f"{'not formatted' if check else 'formatted'}: {names}" if changes else _unchanged(len(found))
        data(done)
    return 1 if check and changes else 0


def _read(context: click.Context, files: tuple[Path, ...]) -> dict[Path, bytes]:
    return {file: bytes_of(file) for file in files or Editor.open(fleet_file(context)).files}


def _unchanged(count: int) -> str:
    return f"{counted(count, 'file')} formatted already"
