"""`tenantry promote`: what differs in versions, copied from one environment to another."""

from __future__ import annotations

from pathlib import Path

import click

from tenantry.cli.commands import Command
from tenantry.cli.edit.apply import EXIT_CODES, apply, edit_options
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.options import complete_environments, complete_subjects
from tenantry.edit.editor import Editor
from tenantry.edit.entries import Edit
from tenantry.edit.names import Kind, Target, require
from tenantry.edit.promoting import in_words, promote
from tenantry.fleet import walk
from tenantry.load import load_fleet
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import closest


@click.command(
    "promote",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry promote dev prod --dry-run
  tenantry promote dev prod rocky movy/shop
  tenantry promote staging prod platform/dns

{EXIT_CODES}""",
)
@click.argument("first", metavar="FROM", shell_complete=complete_environments)
@click.argument("second", metavar="TO", shell_complete=complete_environments)
@click.argument("apps", nargs=-1, metavar="[APP|TENANT]...", shell_complete=complete_subjects)
@edit_options
@reads_file
def command(file: Path, first: str, second: str, apps: tuple[str, ...], output: str, *, dry_run: bool) -> int:
    """Edit tenants.yaml so that environment TO gets the versions that environment FROM has.

    Versions of charts and refs of sources are copied to where the file sets them for TO: an override, a variable of the
    environment, or a source. What else differs, such as replicas, stays different. The edit is refused if it would change a
    version of anything else. APP is TENANT/APP or platform/ADDON; `platform` is all add-ons; default: all that both have.
    """
    editor = Editor(file)
    fleet = load_fleet(file, editor.read_before)
    for environment in (first, second):
        require(editor, Target(Kind.ENVIRONMENT, environment))
        fleet.check_stack(environment)
    if first == second:
        raise Refused("FROM and TO are the same environment", "name two environments")
    every = {in_words(at): at for at, _, _, _ in walk.apps(fleet)}
    known = {*every, *(name.partition("/")[0] for name in every)}
    for unknown in sorted({*apps} - known):
        near = closest(unknown, known)
        fix = f"did you mean '{near}'?" if near else "name a tenant, TENANT/APP or platform/ADDON"
        raise Refused(f"there is no app of '{unknown}'", fix, code=UNKNOWN_NAME)
    chosen = [at for name, at in every.items() if not apps or {name, name.partition("/")[0]} & {*apps}]
    made = promote(editor, fleet, chosen, first, second)
    return apply(editor, Edit([*made.done], [*made.left]), output, dry_run=dry_run)
