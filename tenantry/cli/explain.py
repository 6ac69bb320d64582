"""`tenantry explain`: output that looks like YAML, with comments at the ends of lines, aligned in one column."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import yaml

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.options import reads_file
from tenantry.cli.output import data, data_json, working
from tenantry.facts.explain import AppRollout, Explanation, Placed, explain
from tenantry.facts.facts import THE_PLATFORM, Kind, Subject
from tenantry.fleet.merge import Origin, Value
from tenantry.fleet.placement import Choice
from tenantry.kube.names import PLATFORM
from tenantry.load import load_fleet
from tenantry.messages.redact import shorten
from tenantry.messages.text import counted, listed, printable
from tenantry.model.durations import duration
from tenantry.plan.plan import Part, plan


@click.command(
    "explain",
    cls=Command,
    epilog="""\
Examples:
  tenantry explain rocky -e dev                     a tenant
  tenantry explain rocky/web -e prod                an app on all its clusters
  tenantry explain rocky/web -e prod -c eu-west-1   an app on one cluster
  tenantry explain platform/cert-controller -e dev  an add-on
  tenantry explain platform -e prod                 what all add-ons share

Exit codes:
  0  success
  2  tenants.yaml is invalid, or it does not declare a name
""",
)
@options.subject("TENANT[/APP]")
@options.environment("The environment to show.", required=True)
@options.cluster("Only this cluster; default: all of the environment.")
@options.output("text", "json")
@reads_file
def command(file: Path, subject: tuple[str, str | None], environment: str, cluster: str | None, output: str) -> int:
    """Show the effective settings of TENANT, or of its APP on each cluster, and the line that sets each value.

    It also shows which clusters are selected and why, and the values of placeholders. A value that the file does not set
    is marked as a default. No cluster is contacted and nothing is changed.

    Of a tenant with a file of its own, it shows what is granted to that file, and which clusters the file may select.

    Use platform/ADDON for an add-on, and platform for the settings that all add-ons share.
    """
    tenant, app = subject
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        # The platform as a whole says which clusters have tenants.
        planned = plan(fleet, environment, Part(tenant if tenant != PLATFORM else "" if app else None, cluster))
    if tenant == PLATFORM:
        about = Subject(Kind.ADDON, name=app) if app else THE_PLATFORM
    else:
        about = Subject(Kind.APP, tenant, app) if app else Subject(Kind.TENANT, tenant)
    explanation = explain(fleet, planned, about, cluster)
    if output == "json":
        data_json(explanation, "Explanation")
    else:
        data(annotated(_lines(explanation)))
    return 0


# --- text -------------------------------------------------------------------------------------------------------------

_MOST_CLUSTERS = 5


def _lines(explanation: Explanation) -> Iterator[Line]:
    subject = explanation.subject
    name = {Kind.APP: f"app {subject.name} of tenant {subject.tenant}", Kind.ADDON: f"add-on {subject.name}"}
    yield Line("", f"{name.get(subject.kind, subject)} in environment {explanation.environment}")
    if explanation.choice:
        yield from _choice(explanation.choice, "granted" if subject.kind is Kind.TENANT else "placed")
    if explanation.gate:
        after, origin = explanation.gate
        yield Line(f"after: {scalar(after.environment)}", f"{after.format_gate()}, {place(origin)}", bold=True)
    if explanation.rollout:
        yield from _rollout_lines(explanation.rollout)
    if explanation.choices:
        yield Line("addons:" if subject == THE_PLATFORM else "apps:", bold=True)
        for app, choice in explanation.choices.items():
            colour = None if choice.clusters else "yellow"
            yield Line(f"  {app}: [{', '.join(choice.clusters)}]", _selector(choice), colour)
    if explanation.shared:
        clusters = listed((placed.cluster for placed in explanation.placed), _MOST_CLUSTERS)
        yield Line("")
        yield Line(f"all clusters ({clusters}):" if clusters else "on no cluster:", bold=True)
        yield from value_lines(explanation.shared, 2)
    for placed in explanation.placed:
        yield from _placed_lines(placed, apart=not explanation.shared)


def _choice(choice: Choice, taken: str) -> Iterator[Line]:
    """Args: taken: what is said of a cluster that is chosen."""
    yield Line("clusters:", _selector(choice), bold=True)
    for decision in choice.decisions:
        text, colour = (taken, "green") if decision.placed else (f"not {taken}", "yellow")
        yield Line(f"  {decision.cluster}: {text}", f"{decision.reason}, {place(decision.origin)}", colour)
    if choice.elsewhere:
        yield Line("", f"in other environments: {', '.join(choice.elsewhere)}")


def _selector(choice: Choice) -> str:
    return f"selector: {choice.selector}, {place(choice.origin)}"


def _rollout_lines(rollout: AppRollout) -> Iterator[Line]:
    where = place(rollout.origin)
    if rollout.of == "off":
        yield Line("waves: false", f"all clusters change at the same time, {where}", bold=True)
        return
    yield Line("waves:", f"the environment's {counted(rollout.total, 'wave')}, {where}", bold=True)
    for wave in rollout.waves:
        left = f"not waited for: {', '.join(wave.left_out)}" if wave.left_out else ""
        conditions = [f"soaks for {duration(wave.soak)}"] if wave.soak else []
        conditions += [f"tolerates {wave.tolerate.written}"] if wave.tolerate.written else []
        notes = "; ".join(filter(None, (left, *conditions)))
        yield Line(f"  {wave.name}: [{', '.join((*wave.clusters, *wave.left_out))}]", notes)
    if rollout.bypass:
        yield Line(
            f"  bypassed by: {scalar(rollout.bypass)}", "what is new there reaches all clusters at once", "yellow"
        )


def _placed_lines(placed: Placed, *, apart: bool) -> Iterator[Line]:
    """What a subject has on one cluster alone. apart: as the only block, set off from what is above."""
    if not (placed.object or placed.values):
        return
    if apart:
        yield Line("")
    yield Line(f"{placed.cluster}:", placed.object, bold=True)
    yield from value_lines(placed.values, 2)


_WIDEST = 50
"""Comments are not aligned with lines that are longer than this."""


_MANY = 3
"""How many entries a list has that nobody wrote, and that is shown whole."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the output; comment: without `#`; colour: of the text, not of the comment."""

    text: str
    comment: str = ""
    colour: str | None = None
    bold: bool = False


def annotated(lines: Iterable[Line]) -> str:
    """The lines with aligned comments and colours, without a newline at the end."""
    lines = list(lines)
    column = max((len(line.text) for line in lines if line.comment and len(line.text) <= _WIDEST), default=0)
    return "\n".join(_finished(line, column) for line in lines)


def _finished(line: Line, column: int) -> str:
    text = click.style(line.text, fg=line.colour, bold=line.bold or None) if line.colour or line.bold else line.text
    if not line.comment:
        return text
    gap = " " * (max(column - len(line.text), 0) + 2) if line.text else ""
    return text + gap + click.style(f"# {printable(line.comment)}", dim=True)


def value_lines(values: Iterable[Value], indent: int = 0) -> Iterator[Line]:
    """Lines for the values, nested by their paths as in the file."""
    above: tuple[str | int, ...] = ()
    for value in values:
        path = value.path
        shared = next((depth for depth, (a, b) in enumerate(zip(above, path, strict=False)) if a != b), len(above))
        above, dashes = path, ""
        for depth, part in enumerate(path[shared:], shared):
            column = indent + 2 * depth
            if isinstance(part, int):  # on the same line as the first entry in it
                dashes += "- "
                head = " " * (column + 2 - len(dashes)) + dashes
            else:
                head = " " * (column - len(dashes)) + dashes + f"{scalar(part)}: "
                dashes = ""
            if depth == len(path) - 1:
                yield from _value(head, value, column + 2)
            elif not dashes:
                yield Line(head.rstrip())


def _value(head: str, value: Value, indent: int) -> Iterator[Line]:
    colour = "red" if value.value is None else None
    if isinstance(value.value, str) and "\n" in value.value:
        chomped = "" if value.value.endswith("\n") else "-"
        yield Line(f"{head}|{chomped}", comment_of(value), colour)
        yield from (Line(f"{' ' * indent}{printable(line)}") for line in value.value.rstrip("\n").split("\n"))
    else:
        # Nobody wrote a default, so the first of many say enough.
        many = isinstance(value.value, list) and len(value.value) > _MANY and not value.origin
        shown, more = (value.value[:1], f", and {len(value.value) - 1} more") if many else (value.value, "")
        yield Line(f"{head}{scalar(shown)}", f"{comment_of(value)}{more}", colour)


def scalar(value: Any) -> str:
    """A value as YAML on one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=1_000_000, allow_unicode=True)
    text = text.removesuffix("\n").removesuffix("\n...")
    return json.dumps(value, ensure_ascii=False) if "\n" in text else text


def comment_of(value: Value) -> str:
    """The comment of a value: its origin, the text before placeholders were filled in, and the `null` that removed a value."""
    if value.value is None and value.removed:
        return f"removed at {place(value.removed)}"
    text = place(value.origin) if value.origin else "default"
    if value.written is not None:
        text += f", from {shorten(scalar(value.written))}"
    if value.removed:
        text += f"; null at {place(value.removed)}"
    return text


def place(origin: Origin) -> str:
    """`file:line:column (level)`."""
    return f"{origin.location} ({origin.level})"
