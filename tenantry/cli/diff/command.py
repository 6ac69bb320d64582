"""`tenantry diff`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from tenantry.cli.commands import Command
from tenantry.cli.diff import manifest_options, manifests
from tenantry.cli.diff.comment import as_markdown
from tenantry.cli.diff.data import as_data
from tenantry.cli.diff.names import as_names
from tenantry.cli.diff.refusals import Limits
from tenantry.cli.diff.sides import Sides, both_sides
from tenantry.cli.diff.terminal import as_text
from tenantry.cli.diff.values import EVERYTHING, DisplayLimits
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.options import environments as environments_option
from tenantry.cli.options import output, revision
from tenantry.cli.output import columns, data, data_json, document, error, say, working
from tenantry.compare.diff import Diff, Status, diff_all
from tenantry.compare.review.build import review
from tenantry.compare.review.model import Review
from tenantry.messages.errors import Refused
from tenantry.messages.text import printable


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
  tenantry diff --manifests                      render what changed apps apply
  tenantry diff --manifests --source rocky/manifests=../manifests
                                                 from a local copy of a source
  tenantry diff main --output html > diff.html   a page with the fleet as a map
  for each in $(tenantry diff origin/main --output environments); do
    tenantry preflight -e "$each"                check what the change touches
  done

Exit codes:
  0  no difference
  1  differences
  2  invalid input
  4  the change is refused: by the guard of `pulumi up`, or by a limit
""",
)
@revision("base", default="HEAD")
@click.option(
    "--merge-base", is_flag=True, help="Compare with the merge base of HEAD and BASE, like `git diff BASE...`."
)
@environments_option("Only this environment; can be repeated. Default: all of them.")
@click.option(
    "--max-deletions",
    type=click.IntRange(min=0),
    metavar="N",
    help="Refuse a change that removes more than N tenants, namespaces or apps from an environment;"
    " default: its maxDeletions.",
)
@click.option(
    "--allow-deletion",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="Allow one removal, as tenantry:allowDeletions does: tenant/TENANT, namespace/CLUSTER/NAMESPACE,"
    " app/CLUSTER/TENANT/APP or addon/CLUSTER/ADDON; can be repeated.",
)
@click.option("--all", "everything", is_flag=True, help="Show every object, field and value; shorten nothing.")
@manifest_options.options
@output("text", "json", "markdown", "names", "environments", "html", kind="Diff")
@reads_file
def command(
    file: Path,
    base: str,
    environment: tuple[str, ...],
    max_deletions: int | None,
    allowed: tuple[str, ...],
    output: str,
    *,
    merge_base: bool,
    everything: bool,
    **rendering: Any,
) -> int:
    """Compare what tenants.yaml yields with what it yielded at BASE, a Git revision; default: HEAD.

    BASE can also be another file, or a directory that holds a file of the same name. If the file had another path at
    a revision, write REVISION:PATH, as in `tenantry diff main:fleet/tenants.yaml`. Both sides are planned by this
    version of Tenantry. No cluster is contacted and nothing is changed.

    An object that moves to another cluster or namespace counts as removed, and an add-on counts as an app.

    `--output environments` prints the names of the environments with differences, without those that the file no longer
    declares: each after the one that its `after` names, which is the order to deploy them in.
    """
    wanted = manifest_options.wanted(output, **rendering)
    sides = both_sides(file, base, environment, merge_base=merge_base, as_json=output == "json")
    if not sides.base.found:
        say(f"{sides.base.name} has no {file.name}: everything is new")
        if sides.base.elsewhere:
            say(f"  fix: if the file was moved, write: tenantry diff {printable(shlex.quote(sides.base.elsewhere[0]))}")
    limits = Limits(sides, max_deletions, allowed)
    with working("comparing"):
        diffs = diff_all(sides.before, sides.after, sides.grants)
        refused = {each.environment: limits.refusals(each.environment) for each in diffs}
        result = _result(output, sides, diffs, refused, limits, EVERYTHING if everything else DisplayLimits())
    rendered = manifest_options.outcome(diffs, sides.before, sides.after, wanted, everything=everything)
    result = manifests.added(result, output, rendered, everything=everything)
    if isinstance(result, str):
        if result:
            data(result)
    else:
        data_json(result)
    told = [refusal for each in refused.values() for refusal in each]
    for refusal in told:
        error(str(refusal))
    return 4 if told else int(any(diffs))


def _result(
    output: str,
    sides: Sides,
    diffs: Sequence[Diff],
    refused: dict[str, tuple[Refused, ...]],
    limits: Limits,
    shown: DisplayLimits,
) -> str | dict[str, Any]:
    """What is printed: a text, or a document in JSON."""
    match output:
        case "names":
            return "\n".join(name for each in diffs for name in as_names(each))
        case "environments":
            return "\n".join(each.environment for each in diffs if each and each.status is not Status.REMOVED)
    found = review(diffs, sides.before, sides.after)
    match output:
        case "json":
            return _as_json(sides, diffs, found, refused, limits)
        case "markdown":
            return as_markdown(found, sides.base.name, _messages(refused), shown)
        case "html":
            return _as_html(sides, found, _messages(refused))
    return as_text(found, sides.base.name, shown, columns(sys.stdout))


def _messages(refused: dict[str, tuple[Refused, ...]]) -> list[str]:
    return [each.message for own in refused.values() for each in own]


def _as_html(sides: Sides, found: Review, refused: Sequence[str]) -> str:
    # It takes a while to import, and no other format needs it.
    from tenantry.cli.page.diff_page import diff_page
    from tenantry.cli.page.document import as_html

    return as_html(diff_page(found, sides.base.name, refused, sides.fleet.clusters, sides.before, sides.after))


def _as_json(
    sides: Sides, diffs: Sequence[Diff], found: Review, refused: dict[str, tuple[Refused, ...]], limits: Limits
) -> dict[str, Any]:
    reviews = {each.environment: each for each in found.environments}
    environments = [
        as_data(
            each,
            reviews.get(each.environment),
            limits.deletions(each.environment),
            refused[each.environment],
        )
        for each in diffs
    ]
    base = {"name": sides.base.name, "commit": sides.base.commit or None}
    return document("Diff", base=base, environments=environments, unchanged=list(found.unchanged))
