"""`tenantry upgrade`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenantry import __version__
from tenantry.cli.commands import Command
from tenantry.cli.options import output as output_option
from tenantry.cli.output import data, data_json, say
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted, printable
from tenantry.scaffold.existing import Existing
from tenantry.scaffold.upgrade import Kind

if TYPE_CHECKING:
    from tenantry.cli.documents.checks import Upgrade
    from tenantry.scaffold.upgrade import Change


@click.command(
    "upgrade",
    cls=Command,
    epilog="""\
Examples:
  tenantry upgrade --dry-run            show what would change, write nothing
  tenantry upgrade                      update the files that nobody edited
  tenantry upgrade --merge              also merge into edited files
  tenantry upgrade --keep README.md     this file stays as you have it
  tenantry upgrade --check              for pipelines

Exit codes:
  0  the project is up to date, or was brought up to date
  1  with --check: something would change
  2  there is no project of `tenantry init`, or it cannot be written
""",
)
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False), default=".", metavar="[DIR]")
@click.option("--dry-run", is_flag=True, help="Show the changes, and write nothing.")
@click.option("--check", is_flag=True, help="As --dry-run, but exit with code 1 if something would change.")
@click.option(
    "--merge", is_flag=True, help="Also change edited files, if Git can merge both changes without a conflict."
)
@click.option(
    "--keep",
    metavar="FILE",
    multiple=True,
    type=click.Path(),
    help="Leave an edited file as it is, and do not show it again.",
)
@output_option("text", "json", kind="Upgrade")
def command(directory: Path, keep: tuple[str, ...], output: str, *, dry_run: bool, check: bool, merge: bool) -> int:
    """Show what this version of `tenantry init` would write differently into a project that an older version made.

    Files that nobody edited since are updated. Edited and deleted files stay as they are: the changes of edited files are
    shown, for you to take over.
    """
    project = Existing.read(directory)
    found = project.changes()
    if unknown := next((each for each in keep if each not in {change.path for change in found}), None):
        raise Refused(f"'{unknown}' is not among the files that would change", "see `tenantry upgrade --dry-run`")
    found = [project.merged(each) for each in found] if merge else found
    written = not (dry_run or check)
    if written:
        project.apply(found, keep)
    if output == "json":
        data_json(_document(project.record.version, found, keep, written=written))
    else:
        _print(found, keep, written=written)
    return 1 if check and any(each.is_open for each in found if each.path not in keep) else 0


def _print(found: Sequence[Change], keep: Sequence[str], *, written: bool) -> None:
    for each in found:
        data(f"{_SAYS[each.kind] if each.path not in keep else 'kept'}: {printable(each.path)}")
        if each.path not in keep and (lines := difference(each)):
            data(lines)
    edited = [each for each in found if each.kind is Kind.EDITED and each.path not in keep]
    if edited:
        say("fix: take over the changes of edited files by hand or with --merge, or keep a file with --keep FILE")
    changed = sum(each.is_written and each.path not in keep for each in found)
    if not found:
        say("the project is up to date")
    else:
        say(f"{counted(changed, 'file')} {'written' if written else 'would be written'}")


_SAYS = {
    "add": "new",
    "update": "updated",
    "edited": "edited by you, and stays as it is",
    "merged": "merged with your edits",
    "deleted": "deleted by you, and stays deleted",
    "obsolete": "not written any more; delete it if you do not need it",
}
_GENERATED = re.compile(r".*\.schema\.json")


def difference(change: Change) -> str:
    """What this version writes differently, as a unified diff: against what was written before if that is known."""
    if change.after is None or change.kind == "deleted":
        return ""
    before = change.written if change.kind == "edited" and change.written is not None else change.before
    old, new = (before or "").splitlines(), change.after.text.splitlines()
    lines = list(_unified(old, new, change.path, is_new=change.before is None))
    if _GENERATED.fullmatch(change.path):
        added, removed = (sum(each.startswith(sign) for each in lines[2:]) for sign in "+-")
        return f"  {added} lines added, {removed} removed"
    return "\n".join(printable(line) for line in lines)


def _unified(old: list[str], new: list[str], path: str, *, is_new: bool) -> Iterator[str]:
    return unified_diff(old, new, "/dev/null" if is_new else path, path, lineterm="")


def _document(version: str, found: Sequence[Change], keep: Sequence[str], *, written: bool) -> Upgrade:
    from tenantry.cli.documents.checks import FileChange, Upgrade

    changes = [
        FileChange(path=each.path, kind="kept" if each.path in keep else each.kind, diff=difference(each))
        for each in found
    ]
    return Upgrade(made=version, running=__version__, written=written, changes=changes)
