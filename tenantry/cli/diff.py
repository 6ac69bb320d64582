"""`tenantry diff`: the file as it is and as it is at BASE, both planned, why `tenantry up` would refuse it, and its formats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tenantry.cli import options
from tenantry.cli.commands import Command, described
from tenantry.cli.lines import Line, as_markdown, as_text, block, change_lines, section
from tenantry.cli.options import reads_file
from tenantry.cli.output import data, data_json, error, say, working
from tenantry.cli.problems import report_invalid
from tenantry.facts.changes import Change, Effect
from tenantry.facts.changes import between as changes_between
from tenantry.facts.objects import Status
from tenantry.facts.review import Review, review
from tenantry.facts.revision import Base, load_base
from tenantry.fleet.fleet import Fleet
from tenantry.guard.check import limits_of, refusals_of_change
from tenantry.guard.ways import checked
from tenantry.load import load_fleet, plan_all, plan_one
from tenantry.messages.errors import INVALID_BASE, UNKNOWN_NAME, InvalidFleet, Problem, Refused
from tenantry.plan.plan import Plan, plan
from tenantry.stacks.outcome import for_stack

FORMATS = ("text", "json", "markdown", "environments", "html")
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
    help="Compare two environments of the file instead: which apps only one has, and what is written differently.",
)
@options.output(*FORMATS)
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
    result = compared(file, base, environment, allowed=allowed, merge_base=merge_base)
    if result.base.fleet is None:
        say(f"{result.base.name} has no {file.name}: everything is new")
    if output == "json":
        data_json(result.document(), "Diff")
    elif shown := result.text(output):
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
        data(block(title, _lines(changes, first, second)))
    return int(bool(changes))


def _lines(changes: Sequence[Change], first: str, second: str) -> Iterator[Line]:
    only = {Effect.REMOVED: f" only in {first}", Effect.ADDED: f" only in {second}", Effect.CHANGED: ""}
    for change in changes:
        heading, *values = change_lines(change, 0)
        yield heading._replace(text=heading.text + only[change.effect])
        yield from values


Plans = Mapping[str, Plan]
"""The plans of a side by environment."""


def compared(file: Path, base: str, environment: str | None, *, allowed: tuple[str, ...], merge_base: bool) -> Result:
    """Read, plan and compare both sides. Args: allowed: of `Result`.

    Raises: InvalidFleet: the file is invalid; Refused: the base is wrong, or neither side declares the environment.
    """
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        if environment is None:
            after: Plans = plan_all(fleet)
        else:
            after = {environment: plan_one(fleet, environment)} if environment in fleet.in_order() else {}
            fleet.check_stack(environment)
    try:
        with working(f"planning {base}"):
            side = load_base(file, base, merge_base=merge_base)
            before = _plans_before(side.fleet, fleet, after, environment)
    except InvalidFleet as invalid:
        message = f"the file at '{base}' is invalid, so there is nothing to compare with"
        fix = "name a base that is valid; `tenantry render` shows everything that the file yields now"
        report_invalid(invalid)
        raise Refused(message, fix, code=INVALID_BASE) from None
    known = {*fleet.environments, *(side.fleet.environments if side.fleet else ())}
    if environment and environment not in known:
        message = f"neither {file} nor {side.name} declares environment '{environment}'"
        raise Refused(message, f"name one of: {', '.join(sorted(known))}", code=UNKNOWN_NAME)
    with working("comparing"):
        return Result(side, before, fleet, after, allowed)


def _plans_before(before: Fleet | None, fleet: Fleet, after: Plans, environment: str | None) -> Plans:
    if before is None:
        return {}
    # `==` would treat True as 1. The order of keys counts, because plans are in the order of the file. A comment or another
    # layout changes nothing.
    source, other = fleet.source, before.source
    if source.fills.keys() == other.fills.keys() and repr(source.data) == repr(other.data):
        return after
    # Nothing is applied of this side, so nobody needs a second opinion of it, or what its environments have in common.
    return {name: plan(before, name) for name in before.in_order() if environment in (None, name)}


class Result:
    """A comparison, and why `tenantry up` would refuse it.

    Args:
        base: What is compared with; before: its plans. after: Those of the fleet.
        allowed: Removals that the command line allows by name.
    """

    def __init__(self, base: Base, before: Plans, fleet: Fleet, after: Plans, allowed: tuple[str, ...] = ()) -> None:
        self.base, allowed = base, checked(allowed)
        self.reviews: tuple[Review, ...] = review(base.fleet, fleet, before, after)
        self._refused = {
            name: [
                *(
                    _refusal(name, problem)
                    for problem in refusals_of_change(before[name], plan, limits_of(fleet, name, None, allowed))
                )
            ]
            for name, plan in after.items()
            if name in before and before[name] is not plan
        }

    @property
    def refusals(self) -> list[Refused]:
        return [refused for refusals in self._refused.values() for refused in refusals]

    @property
    def is_different(self) -> bool:
        return any(self.reviews)

    def text(self, format: str) -> str:
        """Every format but JSON."""
        base = self.base.name
        match format:
            case "environments":
                changed = (review for review in self.reviews if review and review.status is not Status.REMOVED)
                return "\n".join(review.environment for review in changed)
            case "markdown":
                return as_markdown(self.reviews, base, [refused.message for refused in self.refusals])
            case "html":
                # It takes a while to import, and no other format needs it.
                from tenantry.cli.page import as_html

                return as_html(self.reviews, base, self.refusals)
        return as_text(self.reviews, base)

    def document(self) -> dict[str, Any]:
        """What `--output json` prints."""
        return {
            "base": {"name": self.base.name, "commit": self.base.commit or None},
            "environments": self.reviews,
            "refusals": {name: [*map(described, refusals)] for name, refusals in self._refused.items() if refusals},
        }


def _refusal(environment: str, problem: Problem) -> Refused:
    message = f"`tenantry up` of environment '{environment}' would be refused: {problem.message}"
    # A stack is called like its environment, unless its config says otherwise.
    return Refused(message, for_stack(problem.fix, environment), code=problem.code)
