"""What every command that edits ends with: the edited fleet is checked, shown or written, and compared with the one before."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from tenantry.cli.edit.check import Checked, check_both
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.options import output as output_option
from tenantry.cli.output import columns, data, data_json, report_warnings, say, working
from tenantry.edit.adding import Edit as Done
from tenantry.edit.editor import Editor
from tenantry.edit.write import write_all
from tenantry.messages.redact import redacted
from tenantry.messages.text import counted, listed, printable

_F = TypeVar("_F", bound=Callable[..., Any])

EXIT_CODES = """\
Exit codes:
  0  success
  2  the edit is refused, and no file is changed
"""
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_NOTHING_ELSE = Done("")


class How(NamedTuple):
    """The options of an edit."""

    dry_run: bool
    output: str

    @property
    def is_text(self) -> bool:
        return self.output == "text"


def edit_options(command: _F) -> _F:
    """`--dry-run` and `--output`, which every command that edits has."""
    command = output_option("text", "json", kind="Edit")(command)
    return click.option("--dry-run", is_flag=True, help="Print the changes of the files, and write nothing.")(command)


def edits(work: Callable[..., Done]) -> Callable[..., int]:
    """Make a command of a function that edits a fleet's files and says what it did."""

    @reads_file
    @edit_options
    @wraps(work)
    def command(file: Path, *arguments: Any, dry_run: bool, output: str, **options: Any) -> int:
        editor = Editor.open(file)
        done = work(editor, *arguments, **options)
        return apply(editor, How(dry_run, output), [done.done], made=done)

    return command


def apply(
    editor: Editor,
    how: How,
    done: Sequence[str],
    made: Done = _NOTHING_ELSE,
) -> int:
    """Check the edited fleet, write it unless it is a dry run, and say what `tenantry diff` would say.

    done: what was edited, a sentence for each edit, such as "set tenants.rocky.quota.pods to 5". made: what else there is to say.
    Raises: InvalidFleet: the edited fleet has errors that it did not have before; Refused: a file cannot be written.
    """
    changes = editor.changes()
    with working(f"checking {editor.main}"):
        checked = check_both(editor) if changes else None
    if checked and (added := made.added):
        # That nothing uses a new entry yet is no reason for a warning.
        told = (each for each in checked.new_warnings if each.code != "unused" or each.path[: len(added)] != added)
        checked = checked._replace(new_warnings=tuple(told))
    if changes and not how.dry_run:
        write_all(changes)
    if how.is_text:
        _print(editor, how, done, made, checked)
    else:
        data_json(_result(editor, how, [*done, *made.notes], checked), "Edit")
    return 0


def _print(
    editor: Editor,
    how: How,
    done: Sequence[str],
    made: Done,
    checked: Checked | None,
) -> None:
    if checked is None:
        data(f"nothing to do: {editor.main} says so already")
        for note in made.notes:
            data(f"  {printable(note)}")
        return
    # Of a dry run, only the difference is on stdout, for `git apply` and the like.
    tell: Callable[[str], None] = say if how.dry_run else data
    if how.dry_run:
        print_difference(editor.changes())
    files = listed(editor.changes())
    for sentence in done:
        tell(printable(f"{files}: {sentence}"))
    for note in made.notes:
        tell(f"  {printable(note)}")
    for line in _consequences(editor, checked, sys.stderr if how.dry_run else sys.stdout):
        tell(line)
    report_warnings(checked.new_warnings)
    if how.dry_run:
        say("dry run: nothing is written")


def _consequences(editor: Editor, checked: Checked, stream: Any) -> Iterable[str]:
    if checked.compared is None:
        errors = counted(len(checked.errors), "error")
        now = f"still is ({errors}): see `tenantry validate`" if checked.errors else "is valid now"
        yield f"{editor.main} was invalid before, and {now}"
        return
    if not checked.compared.is_different:
        yield "no cluster changes"
        return
    # Without the line that names what it is compared with.
    yield "\n" + checked.compared.text("text", columns(stream)).partition("\n\n")[2]
    for refusal in checked.compared.refusals:
        yield f"{click.style('warning:', fg='yellow', bold=True)} {refusal}"


def _result(editor: Editor, how: How, done: Sequence[str], checked: Checked | None) -> dict[str, Any]:
    """What `--output json` prints. Secrets are hidden in the differences of the files."""
    changes = editor.changes()
    errors, warnings, compared = checked or Checked((), (), None)
    return {
        "edits": done if changes else [],
        "written": bool(changes) and not how.dry_run,
        "files": [{"file": file, "diff": "\n".join(difference({file: change}))} for file, change in changes.items()],
        "valid": not errors,
        "errors": errors,
        "warnings": warnings,
        "environments": compared.document().environments if compared else [],
    }


# --- the changes of files as a unified diff -----------------------------------------------------------------------------


def difference(changes: Mapping[Path, tuple[bytes, bytes]]) -> Iterator[str]:
    """The lines of a diff that `git apply` takes, without secrets and without characters that act on a terminal.

    If anything had to be hidden or escaped, no program takes it: applied, it would write what is shown into the files.
    """
    found = [(file, exact) for file, pair in changes.items() for exact in _differing(file, *pair)]
    is_whole = all(_shown(exact) == exact for _, exact in found if not exact.startswith("@@"))
    for _, exact in found:
        if exact.startswith("@@"):
            yield exact if is_whole else f"{_NOT_WHOLE}{exact.removeprefix('@@')}"
        else:
            yield _shown(exact)


def print_difference(changes: Mapping[Path, tuple[bytes, bytes]]) -> None:
    """Print the diff to stdout, and to stderr if it can only be read."""
    lines = list(difference(changes))
    data("\n".join(map(coloured, lines)))
    if any(line.startswith(_NOT_WHOLE) for line in lines):
        say(
            "this diff cannot be applied: parts of it are hidden or escaped; to edit, run the command without --dry-run"
        )


_HEADER = 2
"""Lines of a diff with the names of the files."""
_UNENDED = "\\ No newline at end of file"
_NOT_WHOLE = "@@ cannot be applied, because something is hidden or escaped here:"
"""In place of the first characters of a part's header. Without them `git apply` and `patch` find no part."""


def _differing(file: Path, before: bytes, after: bytes) -> Iterator[str]:
    """The exact lines of the diff of a file, without the line feeds at their ends."""
    name = os.path.relpath(file)
    old = f"a/{name}" if before else os.devnull
    lines = (raw.decode(errors="backslashreplace").split("\n") for raw in (before, after))
    one, other = ([*(f"{line}\n" for line in ended), *([last] if last else [])] for *ended, last in lines)
    for number, line in enumerate(unified_diff(one, other, old, f"b/{name}", lineterm="")):
        yield line.removesuffix("\n")
        if number >= _HEADER and not line.endswith("\n") and not line.startswith("@@"):
            yield _UNENDED


def coloured(line: str) -> str:
    """The line in the colour of its sign. Whether colours appear is decided when it is printed."""
    if line.startswith(("+++", "---")):
        return click.style(line, bold=True)
    colour = _COLOURS.get(line[:1])
    return click.style(line, fg=colour) if colour else line


def _shown(line: str) -> str:
    text = line.removesuffix("\r")  # the first half of a line break of Windows, which stays for `git apply`
    return printable(redacted(text)) + line[len(text) :]
