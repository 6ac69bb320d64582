"""`tenantry diff --manifests`: what changed apps apply before and after, as text, Markdown and plain data."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING

import click

from tenantry.cli.diff.comment import fold
from tenantry.cli.diff.terminal import line_as_text
from tenantry.cli.diff.values import EVERYTHING, DisplayLimits, Line, field_lines
from tenantry.cli.diff.words import SIGNS
from tenantry.manifests.model import AppChange, Left, Outcome
from tenantry.messages.redact import presentable
from tenantry.messages.text import counted, grouped, listed, printable

if TYPE_CHECKING:
    from tenantry.cli.documents import diff as documents


TITLE = "what the manifests change"
_FAILED = {
    "before": "cannot be rendered before the change",
    "after": "cannot be rendered after the change",
    "": "cannot be rendered, neither before nor after the change",
}
_MISSING = {
    "before": "cannot be compared: before the change,",
    "after": "cannot be compared: after the change,",
    "": "cannot be compared:",
}
_FITS = 64_000
"""Characters of a comment on GitHub, with some room to spare."""


def lines_of(outcome: Outcome, limits: DisplayLimits) -> list[Line]:
    """What cannot be compared, then each app with its objects, then the apps that apply the same as before."""
    lines = list(_problem_lines(outcome.apps))
    changed = (app for app in outcome.apps if app.changes)
    told = grouped(changed, lambda app: (app.tenant, app.name, repr((app.changes, app.notes))))
    for same in list(told.values())[: limits.lines]:
        lines += _app_lines(same, limits)
    if (left := len(told) - limits.lines) > 0:
        lines.append(Line(" ", f"and {counted(left, 'more app')}; --all shows them"))
    lines += [Line(" ", _left(each)) for each in outcome.left]
    if same := [each for each in outcome.apps if not each.changes and not each.problems]:
        names = listed((_name(each) for each in same), limits.names)
        lines.append(Line(" ", f"no difference in what these apps apply: {names}"))
    return lines


def _app_lines(same: Sequence[AppChange], limits: DisplayLimits) -> Iterator[Line]:
    """An app, on all clusters where it changes in this way."""
    app = same[0]
    yield Line("~", f"{_environments(same)}: app {_name(app)}{_clusters(same, limits)}")
    yield from (Line(" ", printable(note), 1) for note in app.notes)
    for change in app.changes[: limits.changes]:
        yield Line(SIGNS[change.effect], printable(str(change.id)), 1)
        yield from field_lines(change.fields, limits, 2)
    if (left := len(app.changes) - limits.changes) > 0:
        yield Line(" ", f"and {counted(left, 'more object')}; --all shows them", 1)


def _left(left: Left) -> str:
    name = f"{left.tenant or 'platform'}/{left.name}"
    more = counted(len(left.clusters), "more cluster")
    return f"{left.environment}: {name} has other values on {more}, where it is not rendered; --all renders it there"


def _problem_lines(apps: Iterable[AppChange]) -> Iterator[Line]:
    """Each problem once, with all the apps that it concerns."""
    pairs = [(problem, app) for app in apps for problem in app.problems]
    for problem, own in grouped(pairs, lambda pair: pair[0]).items():
        names = listed(_name(app) for _, app in own)
        what = f"{_FAILED[problem.side]}:" if problem.failed else _MISSING[problem.side]
        first, *rest = [printable(line) for line in presentable(problem.message).splitlines()] or [""]
        yield Line("!", f"{_environments([app for _, app in own])}: {names} {what} {first}")
        yield from (Line("!", each, 1) for each in rest[:10])
        if problem.fix:
            yield Line(" ", f"fix: {problem.fix}", 1)


def _environments(apps: Iterable[AppChange]) -> str:
    return ", ".join(dict.fromkeys(app.environment for app in apps))


def _name(app: AppChange) -> str:
    return f"{app.tenant or 'platform'}/{app.name}"


def _clusters(same: Sequence[AppChange], limits: DisplayLimits) -> str:
    clusters = list(dict.fromkeys(cluster for each in same for cluster in each.clusters))
    return f" on {', '.join(clusters)}" if len(clusters) <= limits.few else f" on {len(clusters)} clusters"


_ENDLESS = 10**9
_NOTHING = Line(" ", "no changed app applies anything else")


def added(
    result: str | documents.Diff, output: str, outcome: Outcome | None, *, everything: bool
) -> str | documents.Diff:
    """The result of `diff` in one of its formats, with what the manifests change; outcome: None: nobody asked for it."""
    if outcome is None:
        return result
    limits = EVERYTHING if everything else DisplayLimits()
    if not isinstance(result, str):
        from tenantry.cli.documents.diff import Manifests

        return result.model_copy(update={"manifests": Manifests.model_validate(outcome)})
    if output == "markdown":
        return f"{result}\n\n{as_markdown(outcome, limits, _ENDLESS if everything else _FITS - len(result))}"
    width = get_terminal_size().columns if sys.stdout.isatty() else None
    return f"{result}\n\n{as_text(outcome, limits, width)}"


def as_text(outcome: Outcome, limits: DisplayLimits, width: int | None) -> str:
    """A section for a terminal."""
    lines = lines_of(outcome, limits) or [_NOTHING]
    return "\n".join([click.style(TITLE, bold=True), *(line_as_text(line, width) for line in lines)])


def as_markdown(outcome: Outcome, limits: DisplayLimits, room: int) -> str:
    """A section of a comment, folded. Args: room: the most characters."""
    lines = lines_of(outcome, limits) or [_NOTHING]
    number = sum(bool(each.changes) for each in outcome.apps)
    failed = {(app.tenant, app.name) for app in outcome.apps for problem in app.problems if problem.failed}
    summary = f"{TITLE}: {counted(number, 'app')}" + (f"; {len(failed)} cannot be rendered" if failed else "")
    whole = fold(summary, lines)
    while len(whole) > room and len(lines) > 1:
        lines = lines[: len(lines) // 2]
        whole = fold(summary, [*lines, Line(" ", "the rest does not fit into a comment")])
    return whole
