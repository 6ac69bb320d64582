"""`tenantry diff`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from tenantry.cli import completers
from tenantry.cli.commands import Command
from tenantry.cli.diff.between import compare_environments
from tenantry.cli.diff.result import FORMATS, Result
from tenantry.cli.diff.sides import Limits, both_sides
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.options import environments as environments_option
from tenantry.cli.options import output, revision, tenant_names
from tenantry.cli.output import columns, data, data_json, error, say, working
from tenantry.guard.permissions import limit_in
from tenantry.kube.names import PLATFORM


class _Limit(click.ParamType["int | str"]):
    """A number, or a share such as `10%`."""

    name = "N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | str:
        limit = limit_in(str(value))
        if limit is None:
            self.fail(f"'{value}' is neither a number nor a share such as 10%", param, ctx)
        return limit


@click.command(
    "diff",
    cls=Command,
    epilog="""\
Examples:
  tenantry diff                                  changes not committed yet
  tenantry diff origin/main --merge-base         what this branch changes
  tenantry diff main -e prod --max-deletions 0   allow no removal from prod
  tenantry diff ../release-7/tenants.yaml --all  another file, every field
  tenantry diff origin/main --output markdown    for a pull request's comment
  tenantry diff main --output html > diff.html   a page: tenants by clusters
  tenantry diff --between dev prod -n rocky      how two environments differ
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
@revision("base", default="HEAD")
@click.option(
    "--merge-base", is_flag=True, help="Compare with the merge base of HEAD and BASE, like `git diff BASE...`."
)
@environments_option("Only this environment; can be repeated. Default: all of them.")
@click.option(
    "--max-deletions",
    type=_Limit(),
    metavar="N",
    help="Refuse a change that removes more than N tenants, namespaces or apps from an environment, or more than a"
    " share such as 10%; default: what the environment's maxDeletions in the file says.",
)
@click.option(
    "--allow-deletion",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="Allow one removal, as tenantry:allowDeletions does: tenant/TENANT, namespace/CLUSTER/NAMESPACE,"
    " app/CLUSTER/TENANT/APP, addon/CLUSTER/ADDON, or reinstall/CLUSTER/TENANT/APP for a Helm release that Flux would"
    " uninstall and install anew; can be repeated.",
)
@click.option("--all", "everything", is_flag=True, help="Show every object, field and value; shorten nothing.")
@click.option(
    "--between",
    nargs=2,
    metavar="FIRST SECOND",
    shell_complete=completers.environments,
    help="Compare two environments of the file instead: which apps only one has, and what is written differently.",
)
@tenant_names(f"With --between, only this tenant, or '{PLATFORM}' for add-ons; repeatable.")
@output(*FORMATS, kind="Diff")
@reads_file
def command(
    file: Path,
    base: str,
    environment: tuple[str, ...],
    max_deletions: int | str | None,
    allowed: tuple[str, ...],
    output: str,
    *,
    between: tuple[str, str] | None,
    tenants: tuple[str, ...],
    merge_base: bool,
    everything: bool,
) -> int:
    """Compare what tenants.yaml yields with what it yielded at BASE, a Git revision; default: HEAD.

    BASE can also be another file, or a directory that holds a file of the same name. If the file had another path at
    a revision, write REVISION:PATH, as in `tenantry diff main:fleet/tenants.yaml`. Both sides are planned by this
    version of Tenantry. No cluster is contacted and nothing is changed.

    An object that moves to another cluster or namespace counts as removed, and an add-on counts as an app.

    `--output environments` prints the names of the environments with differences, without those that the file no longer
    declares: each after the one that its `after` names, which is the order to deploy them in.
    """
    if between:
        return compare_environments(file, *between, tenants, output)
    sides = both_sides(file, base, environment, merge_base=merge_base, as_json=output == "json")
    if not sides.base.exists:
        say(f"{sides.base.name} has no {file.name}: everything is new")
    limits = Limits(sides, max_deletions, allowed)
    with working("comparing"):
        result = Result(sides, limits, everything=everything)
        different = result.is_different
    if output == "json":
        data_json(result.document(), "Diff")
    elif shown := result.text(output, columns(sys.stdout)):
        data(shown)
    for refusal in result.refusals:
        error(str(refusal))
    return 4 if result.refusals else int(different)
