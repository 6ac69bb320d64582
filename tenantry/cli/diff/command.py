"""`tenantry diff`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tenantry.cli.commands import Command
from tenantry.cli.diff.data import as_data
from tenantry.cli.diff.lines import EVERYTHING, DisplayLimits
from tenantry.cli.diff.markdown import as_markdown
from tenantry.cli.diff.text import as_names, as_text
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.options import environments as environments_option
from tenantry.cli.options import output, revision
from tenantry.cli.output import data, data_json, document, error, invalid_as_data, report_invalid, say, working
from tenantry.compare.diff import Diff, Status, diff_all
from tenantry.compare.grants import Widened, widened
from tenantry.compare.revision import Base, load_base
from tenantry.fleet.fleet import Fleet
from tenantry.guard import RunLimits, limits_of, refusals_of_change
from tenantry.guard.permissions import checked
from tenantry.load import load_fleet, plan_all, plan_one
from tenantry.messages.errors import InvalidFleet, Refused
from tenantry.messages.problems import Problem
from tenantry.plan.plan import Plan, nothing_of


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
  for each in $(tenantry diff origin/main --output environments); do
    tenantry preflight -e "$each"                check what the change touches
  done

Exit codes:
  0  no difference
  1  differences
  2  invalid input
  4  the change is refused: it removes more than is allowed
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
@output("text", "json", "markdown", "names", "environments")
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
) -> int:
    """Compare what tenants.yaml yields with what it yielded at BASE, a Git revision; default: HEAD.

    BASE can also be another file, or a directory that holds a file of the same name. Both sides are planned by this
    version of Tenantry. No cluster is contacted and nothing is changed.

    An object that moves to another cluster or namespace counts as removed, and an add-on counts as an app.

    `--output environments` prints the names of the environments with differences, without those that the file no longer
    declares: each after the one that its `after` names, which is the order to deploy them in.
    """
    with working(f"planning {file}"):
        fleet = load_fleet(file)
    before, after, grants = _plans(fleet, file, base, environment, merge_base=merge_base, as_json=output == "json")
    if not before.found:
        say(f"{before.name} has no {file.name}: everything is new")
    diffs = diff_all(before.plans, after, grants)
    allowed = checked(allowed)
    refused = {
        each.environment: _refusals(fleet, each.environment, before, after, max_deletions, allowed) for each in diffs
    }
    told = [refusal for each in refused.values() for refusal in each]
    shown = EVERYTHING if everything else DisplayLimits()
    match output:
        case "json":
            limits = {each.environment: _limit(fleet, each.environment, max_deletions) for each in diffs}
            data_json(_as_json(before, diffs, limits, refused))
        case "markdown":
            data(as_markdown(diffs, before.name, [each.message for each in told], shown))
        case "names":
            if names := [name for each in diffs for name in as_names(each)]:
                data("\n".join(names))
        case "environments":
            if touched := [each.environment for each in diffs if each and each.status is not Status.REMOVED]:
                data("\n".join(touched))
        case _:
            data("\n\n".join([f"against {before.name}", *(as_text(each, shown) for each in diffs)]))
    for refusal in told:
        error(str(refusal))
    return 4 if told else int(any(diffs))


def _as_json(
    base: Base, diffs: Sequence[Diff], limits: Mapping[str, int | None], refused: Mapping[str, Sequence[Refused]]
) -> dict[str, Any]:
    environments = [as_data(each, limits[each.environment], refused=bool(refused[each.environment])) for each in diffs]
    return document("Diff", base={"name": base.name, "commit": base.commit or None}, environments=environments)


def _plans(
    fleet: Fleet, file: Path, base: str, environments: tuple[str, ...], *, merge_base: bool, as_json: bool
) -> tuple[Base, Mapping[str, Plan], Mapping[str, tuple[Widened, ...]]]:
    """The base, the plans to compare with it, and what is granted more.

    Raises: Refused: the base is wrong, or neither side declares the environment.
    """
    known: set[str] = set(fleet.environments)
    grants: dict[str, tuple[Widened, ...]] = {}

    def planned_before(there: Fleet) -> Mapping[str, Plan]:
        known.update(there.environments)
        plans = _chosen(there, environments)
        grants.update({name: widened(there, fleet, name) for name in plans if name in after})
        return plans

    with working(f"planning {file}"):
        after = _chosen(fleet, environments)
    try:
        with working(f"planning {base}"):
            before = load_base(file, base, planned_before, merge_base=merge_base)
    except InvalidFleet as invalid:
        if as_json:
            data_json(document("Diff", base={"name": base, "commit": None}, **invalid_as_data(invalid)))
        else:
            report_invalid(invalid)
        message = f"the file at '{base}' is invalid, so there is nothing to compare with"
        raise Refused(
            message, "name a base that is valid; `tenantry render` shows everything that the file yields now"
        ) from None
    if unknown := [each for each in environments if each not in known]:
        message = f"neither {file} nor {before.name} declares environment '{unknown[0]}'"
        raise Refused(message, f"name one of: {', '.join(sorted(known))}")
    return before, after, grants


def _chosen(fleet: Fleet, environments: tuple[str, ...]) -> Mapping[str, Plan]:
    """The plans of the requested environments that are declared, in the fleet's order."""
    if not environments:
        return plan_all(fleet)
    return {name: plan_one(fleet, name) for name in fleet.in_order() if name in environments}


def _limit(fleet: Fleet, environment: str, given: int | None) -> int | None:
    """The most deletions of each kind in an environment; None: it is no longer declared, and no limit is given."""
    if environment not in fleet.environments:
        return given
    return limits_of(fleet, environment, given).deletions


def _refusals(
    fleet: Fleet,
    environment: str,
    base: Base,
    after: Mapping[str, Plan],
    given: int | None,
    allowed: tuple[str, ...],
) -> tuple[Refused, ...]:
    """The guard's reasons why `pulumi up` would refuse the deletions in an environment."""
    before, limit = base.plans.get(environment), _limit(fleet, environment, given)
    if before is None or limit is None:
        return ()
    # No run removes an environment that is no longer declared, but a given limit applies to its objects.
    undeclared = RunLimits(protected=False, deletions=limit, allowed=allowed, emptying=True)
    limits = limits_of(fleet, environment, given, allowed) if environment in after else undeclared
    problems = refusals_of_change(before, after.get(environment, nothing_of(before)), limits)
    return tuple(_refusal(environment, each, limits) for each in problems)


def _refusal(environment: str, problem: Problem, limits: RunLimits) -> Refused:
    message = f"`pulumi up` of environment '{environment}' would be refused: {problem.message}"
    limited = problem.code == "removals" and not limits.protected
    fix = (
        f"{problem.fix}; --max-deletions N and --allow-deletion NAME compare with other limits"
        if limited
        else problem.fix
    )
    return Refused(message, fix)
