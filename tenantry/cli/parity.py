"""`tenantry parity`, as text, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenantry.cli.annotated import scalar
from tenantry.cli.commands import Command
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.options import app_names, environment_name, output, tenant_names
from tenantry.cli.output import data, data_json, working
from tenantry.explain.common import known
from tenantry.explain.parity import Difference, Found, Missing, Parity, Subject, parity
from tenantry.explain.variants import Reason
from tenantry.kube.names import ADDON_PREFIX, PLATFORM, app_name
from tenantry.load import load_fleet
from tenantry.messages.data import ABSENT
from tenantry.messages.errors import Refused
from tenantry.messages.inert import code, prose
from tenantry.messages.text import counted, format_path, grouped, listed, printable
from tenantry.plan.plan import plan
from tenantry.plan.planner import Part

if TYPE_CHECKING:
    from tenantry.fleet.fleet import Fleet


_MOST_VALUES = 3
"""The most values of one environment in a line. Otherwise they are counted."""
_MOST_CHARACTERS = 60
_MOST_SUBJECTS = 3
_WIDTH = 80
_LEGEND = "meant: written for an environment; follows: from something else, as {env} does"


def as_text(found: Parity) -> str:
    """The whole result for a terminal."""
    lines = [summary(found)]
    for only_in, missing in grouped(found.missing, lambda each: each.only_in).items():
        lines += ["", click.style(f"only in {only_in}", bold=True)]
        for each in _together(missing):
            lines += [f"  {_subjects([one.subject for one in each])}", *_why(each[0].reason)]
    for subjects, differences in grouped(found.differences, lambda each: each.subjects).items():
        lines += ["", click.style(_subjects(subjects), bold=True)]
        for difference in differences:
            first, second = _sides(difference)
            lines += [*_fitting("  ", first, f"-> {second}"), *_why(difference.reason)]
    if found.differences:
        lines += ["", _LEGEND]
    return "\n".join(lines)


def as_markdown(found: Parity) -> str:
    """The whole result for a comment of a pull request. Nothing in it mentions or links."""
    return "\n".join(_markdown(found))


def _markdown(found: Parity) -> Iterator[str]:
    yield prose(summary(found))
    for only_in, missing in grouped(found.missing, lambda each: each.only_in).items():
        yield f"\n**Only in {code(only_in)}**\n"
        for each in _together(missing):
            yield f"- {code(_subjects([one.subject for one in each]))}: {prose(_plain_why(each[0].reason))}"
    for subjects, differences in grouped(found.differences, lambda each: each.subjects).items():
        yield f"\n**{code(_subjects(subjects))}**\n"
        for difference in differences:
            yield f"- {code(change(difference))}: {prose(_plain_why(difference.reason))}"


def summary(found: Parity) -> str:
    """How much differs, in a sentence."""
    first, second = found.environments
    if found.is_equal:
        return f"{first} and {second} are equal: {counted(found.apps, 'app')} compared"
    differing = found.apps - found.equal
    parts = [f"{differing} of {counted(found.apps, 'app')} that both have {'differs' if differing == 1 else 'differ'}"]
    for only_in, missing in grouped(found.missing, lambda each: each.only_in).items():
        parts.append(f"{counted(len(missing), 'app')} only in {only_in}")
    return f"{first} and {second}: {', '.join(parts)}"


def _together(missing: Sequence[Missing]) -> list[list[Missing]]:
    return list(grouped(missing, lambda each: (each.subject.tenant, each.reason.text)).values())


def _subjects(subjects: Sequence[Subject]) -> str:
    """rocky/web, rocky/db and 298 more (300 apps)"""
    if len(subjects) == 1:
        return printable(_subject(subjects[0]))
    noun = "app" if all(subject.app for subject in subjects) else "tenant"
    return printable(f"{listed(map(_subject, subjects), _MOST_SUBJECTS)} ({counted(len(subjects), noun)})")


def _subject(subject: Subject) -> str:
    if not subject.app:
        return f"tenant {subject.tenant}" if subject.tenant else "the environments"
    return app_name(subject.tenant, subject.app)


def change(difference: Difference) -> str:
    """What one environment has, and what the other."""
    return " -> ".join(_sides(difference))


def _sides(difference: Difference) -> tuple[str, str]:
    path = printable(format_path(difference.path))
    return f"{path}: {_side(difference.first)}", _side(difference.second)


def _side(found: Sequence[Found]) -> str:
    if len(found) > _MOST_VALUES:
        return f"{len(found)} different values"
    if len(found) == 1:
        return _value(found[0])
    *others, last = reversed(found)
    told = (f"{_value(other)} on {printable(listed(other.clusters, _MOST_SUBJECTS))}" for other in reversed(others))
    return f"{', '.join((_value(last), *told))}"


def _value(found: Found) -> str:
    if found.value is ABSENT:
        return "not set"
    has_placeholder = isinstance(found.value, str) and "{" in found.value
    text = printable(found.value if has_placeholder else scalar(found.value))
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."


def _why(reason: Reason) -> list[str]:
    word, _, rest = _verdict(reason).partition(" ")
    styled = click.style(word, fg="green" if reason.is_meant else "yellow")
    return _fitting("    ", f"{styled} {printable(rest)}", printable(_places(reason)))


def _plain_why(reason: Reason) -> str:
    return f"{_verdict(reason)} {_places(reason)}".rstrip()


def _verdict(reason: Reason) -> str:
    """Whether it is meant, and why."""
    return f"{'meant' if reason.is_meant else 'follows'}: {reason.text}"


def _places(reason: Reason) -> str:
    """The places that decide, of which the last is the most specific."""
    places = [str(origin.location) for origin in reason.origins]
    return f"({listed(places, 2)})" if places else ""


def _fitting(indent: str, first: str, second: str) -> list[str]:
    """Both parts in a line, or in two if they are wider than a terminal."""
    line = f"{indent}{first} {second}".rstrip()
    return [line] if len(click.unstyle(line)) <= _WIDTH else [f"{indent}{first}", f"{indent}    {second}"]


@click.command(
    "parity",
    cls=Command,
    epilog="""\
Examples:
  tenantry parity dev prod
  tenantry parity dev prod --tenant rocky
  tenantry parity staging prod --tenant rocky --app web
  tenantry parity dev prod --output markdown
  tenantry parity dev prod --output json

Exit codes:
  0  the environments are equal
  1  they differ
  2  tenants.yaml is invalid, or it does not declare a name
""",
)
@environment_name("first")
@environment_name("second")
@tenant_names(f"Only this tenant, or '{PLATFORM}' for add-ons; repeatable.")
@app_names("Only this app or add-on; repeatable.")
@output("text", "json", "markdown", kind="Parity")
@reads_file
def command(
    file: Path, first: str, second: str, *, tenants: tuple[str, ...], apps: tuple[str, ...], output: str
) -> int:
    """Show what differs between the environments FIRST and SECOND, and why.

    It compares which apps they have and every effective setting: versions, refs, values, quotas and so on. A difference
    is meant if the file writes it for one of the environments. Otherwise it follows from something else, such as a
    cluster's labels or variables. Equal differences of many apps are shown once.

    Clusters themselves are not compared, and none is contacted. Secrets are hidden.
    """
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        if first == second:
            raise Refused("FIRST and SECOND are the same environment", "name two environments")
        wanted = _tenants(fleet, tenants)
        names = _apps(fleet, wanted, apps)
        part = Part(wanted[0]) if len(wanted) == 1 else None
        found = parity(fleet, plan(fleet, first, part), plan(fleet, second, part), wanted, names)
    if output == "json":
        data_json(found, "Parity")
    else:
        data(as_markdown(found) if output == "markdown" else as_text(found))
    return 0 if found.is_equal else 1


def _tenants(fleet: Fleet, names: Collection[str]) -> list[str]:
    """The named tenants; the platform is "". Raises: Refused: one is not declared."""
    declared = fleet.document.tenants
    for name in names:
        known("tenant", name, [*declared, PLATFORM], fleet.source.file)
    return ["" if each == PLATFORM and PLATFORM not in declared else each for each in names]


def _apps(fleet: Fleet, tenants: Collection[str], names: Collection[str]) -> list[str]:
    declared = {name: each.apps for name, each in fleet.document.tenants.items()}
    addons = fleet.document.platform.addons
    owners = tenants or (*declared, "")
    apps = dict.fromkeys(app for owner in owners for app in (declared[owner] if owner else addons))
    short = [each.removeprefix(ADDON_PREFIX) for each in names]
    for name in short:
        known("app", name, apps, fleet.source.file)
    return short
