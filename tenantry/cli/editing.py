"""What every command that edits ends with: the edited fleet is checked, shown or written, and compared with the one before."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import unified_diff
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Any

import click

from tenantry.cli import options
from tenantry.cli.diff import Result
from tenantry.cli.options import reads_file
from tenantry.cli.output import data, data_json, say, working
from tenantry.cli.problems import report_warnings
from tenantry.edit.editor import Editor, write_all
from tenantry.edit.entries import Edit
from tenantry.facts.revision import Base
from tenantry.load import load_fleet, plan_all, warnings_of
from tenantry.messages.errors import InvalidFleet, Problem
from tenantry.messages.redact import redacted
from tenantry.messages.text import listed, printable

EXIT_CODES = """\
Exit codes:
  0  success
  2  the edit is refused, and no file is changed
"""
_BEFORE = "the file before this edit"
_COLOURS = {"+": "green", "-": "red"}


def edits(work: Callable[..., Edit]) -> Callable[..., int]:
    """Make a command of a function that edits a fleet's files and returns what it did."""

    @reads_file
    @click.option("--dry-run", is_flag=True, help="Print the changes of the files, and write nothing.")
    @options.output("text", "json")
    @wraps(work)
    def command(file: Path, *arguments: Any, dry_run: bool, output: str, **given: Any) -> int:
        editor = Editor(file)
        return apply(editor, work(editor, *arguments, **given), output, dry_run=dry_run)

    return command


def apply(editor: Editor, edit: Edit, output: str, *, dry_run: bool) -> int:
    """Check the edited fleet, write it unless it is a dry run, and print what `tenantry diff` would print. Returns: 0.

    Raises: InvalidFleet: the edited fleet would be; Refused: a file cannot be written.
    """
    changes = editor.changes()
    with working(f"checking {editor.main}"):
        warnings, compared = check_both(editor) if changes else ((), None)
    if changes and not dry_run:
        write_all(changes)
    if output == "json":
        diffs = {file: "\n".join(difference({file: change})) for file, change in changes.items()}
        result = {
            "edits": [*edit.done, *edit.notes] if changes else [],
            "written": bool(changes) and not dry_run,
            "files": [{"file": file, "diff": diff} for file, diff in diffs.items()],
            "warnings": warnings,
            "environments": compared.reviews if compared else [],
        }
        data_json(result, "Edit")
    elif changes:
        _print(editor, edit, compared, dry_run=dry_run)
        report_warnings(warnings)
        if dry_run:
            say("dry run: nothing is written")
    else:
        data(f"nothing to do: {editor.main} says so already")
        for note in edit.notes:
            data(f"  {printable(note)}")
    return 0


def _print(editor: Editor, edit: Edit, compared: Result | None, *, dry_run: bool) -> None:
    if dry_run:
        data("\n".join(map(_coloured, difference(editor.changes()))))
    files = listed(editor.changes())
    for sentence in edit.done:
        data(printable(f"{files}: {sentence}"))
    for note in edit.notes:
        data(f"  {printable(note)}")
    if compared is None:
        data(f"{editor.main} was invalid before, and is valid now")
    elif not compared.is_different:
        data("no cluster changes")
    else:
        # Without the line that names what it is compared with.
        data("\n" + compared.text("text").partition("\n\n")[2])
        for refusal in compared.refusals:
            data(f"{click.style('warning:', fg='yellow', bold=True)} {refusal}")


# --- the check of an edited fleet in memory -----------------------------------------------------------------------------


def check_both(editor: Editor) -> tuple[Sequence[Problem], Result | None]:
    """Check the fleet before and after the edit. Returns: the warnings that are new, and what differs; None: it was invalid before.

    Raises: InvalidFleet: it is invalid after the edit.
    """
    try:
        fleet = load_fleet(editor.main, editor.read)
        plans = plan_all(fleet)
    except InvalidFleet:
        say("nothing is written, because the edited file would be invalid (lines as edited):")
        raise
    try:
        before = load_fleet(editor.main, editor.read_before)
        plans_before = plan_all(before)
    except InvalidFleet:
        return (), None
    known = {_essence(warning) for warning in warnings_of(before)}
    warnings = [warning for warning in warnings_of(fleet) if _essence(warning) not in known]
    return warnings, Result(Base(_BEFORE, fleet=before), plans_before, fleet, plans)


def _essence(problem: Problem) -> tuple[Any, ...]:
    """What makes a problem the same one although its line is another: everything but its places."""
    return problem.location.file, problem.code, problem.path, problem.message.split(":")[0]


# --- the changes of files, to read --------------------------------------------------------------------------------------


def difference(changes: Mapping[Path, tuple[bytes, bytes]]) -> Iterator[str]:
    """The lines that differ below the name of each file, without secrets and without characters that act on a terminal.

    No program takes them for a patch: applied, what is hidden here would be written into the files.
    """
    for file, pair in changes.items():
        before, after = (raw.decode(errors="replace").splitlines() for raw in pair)
        yield f"{printable(os.path.relpath(file))}:"
        for line in islice(unified_diff(before, after, lineterm=""), 2, None):
            yield "..." if line.startswith("@@") else printable(redacted(line))


def _coloured(line: str) -> str:
    """The line in the colour of its sign. Whether colours appear is decided when it is printed."""
    colour = _COLOURS.get(line[:1])
    return click.style(line, fg=colour) if colour else line
