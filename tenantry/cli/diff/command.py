"""`tenantry diff`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.diff.lines import DisplayLimits, Line, block, change_lines
from tenantry.cli.diff.markdown import section
from tenantry.cli.diff.result import FORMATS, compared
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.output import columns, data, data_json, error, say, working
from tenantry.facts.changes import Change, Effect
from tenantry.facts.changes import between as changes_between
from tenantry.load import load_fleet
from tenantry.messages.errors import Refused
from tenantry.plan.plan import plan

_OF_ENVIRONMENTS = ("text", "json", "markdown")
"""The formats of --between."""


@click.command(
    "diff",
    cls=Command,
    epilog="""\
Examples:
  tenantry diff                                  changes not committed yet
  tenantry diff origin/main --merge-base         what this branch changes
  tenantry diff main -e prod                     in one environment
  tenantry diff ../release-7/tenants.yaml        another file
  tenantry diff origin/main --output markdown    for a pull request's comment
  tenantry diff main --output html > diff.html   a page: tenants by clusters
  tenantry diff --between dev prod               how two environments differ
  for each in $(tenantry diff origin/main --output environments); do
    tenantry preflight -e "$each"                check what the change touches
  done

Exit codes:
  0  no difference
  1  differences
  2  invalid input
  4  the change is refused: by the guard of `tenantry up`, or by a limit
""",
)
@click.argument("base", default="HEAD")
@click.option(
    "--merge-base", is_flag=True, help="Compare with the merge base of HEAD and BASE, like `git diff BASE...`."
)
@options.environment("Only this environment; default: all of them.")
@click.option(
    "--allow-deletion",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="Allow one removal, as tenantry:allowDeletions does: tenant/TENANT, namespace/CLUSTER/NAMESPACE,"
    " app/CLUSTER/TENANT/APP, addon/CLUSTER/ADDON, or reinstall/CLUSTER/TENANT/APP for a Helm release that Flux would"
    " uninstall and install anew; can be repeated.",
)
@click.option(
    "--between",
    nargs=2,
    metavar="FIRST SECOND",
    shell_complete=options.complete_environments,
    help="Compare two environments of the file instead: which apps only one has, and what is written differently.",
)
@options.output(*FORMATS, kind="Diff")
@reads_file
def command(
    file: Path,
    base: str,
    environment: str | None,
    allowed: tuple[str, ...],
    output: str,
    *,
    between: tuple[str, str] | None,
    merge_base: bool,
) -> int:
    """Compare what tenants.yaml yields with what it yielded at BASE, a Git revision; default: HEAD.

    BASE can also be another file, or a directory that holds a file of the same name. Both sides are planned by this
    version of Tenantry. No cluster is contacted and nothing is changed.

    An object that moves to another cluster or namespace counts as removed, and an add-on counts as an app.

    `--output environments` prints the names of the environments with differences, without those that the file no longer
    declares: each after the one that its `after` names, which is the order to deploy them in.
    """
    if between:
        return _between(file, *between, output)
    json = output == "json"
    result = compared(file, base, environment, allowed=allowed, merge_base=merge_base, as_json=json)
    if result.base.fleet is None:
        say(f"{result.base.name} has no {file.name}: everything is new")
    if json:
        data_json(result.document(), "Diff")
    elif shown := result.text(output, columns(sys.stdout)):
        data(shown)
    for refusal in result.refusals:
        error(str(refusal))
    return 4 if result.refusals else int(result.is_different)


def _between(file: Path, first: str, second: str, output: str) -> int:
    """Print what differs. Returns: 1 if anything does. Raises: Refused: an environment is unknown, or the format does not fit."""
    if output not in _OF_ENVIRONMENTS:
        raise Refused(f"--between has no format '{output}'", f"choose one of: {', '.join(_OF_ENVIRONMENTS)}")
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        changes = changes_between(fleet, plan(fleet, first), plan(fleet, second))
    title = f"{first} -> {second}{'' if changes else ': no difference'}"
    if output == "json":
        data_json({"environments": [first, second], "changes": changes}, "Comparison")
    elif output == "markdown":
        data(section(title, list(_lines(changes, first, second))))
    else:
        data(block(title, _lines(changes, first, second), columns(sys.stdout)))
    return int(bool(changes))


def _lines(changes: Sequence[Change], first: str, second: str) -> Iterator[Line]:
    only = {Effect.REMOVED: f" only in {first}", Effect.ADDED: f" only in {second}", Effect.CHANGED: ""}
    for change in changes:
        heading, *values = change_lines(change, 0, DisplayLimits())
        yield heading._replace(text=heading.text + only[change.effect])
        yield from values
