"""What every command that edits ends with: the edited fleet is checked, shown or written, and compared with the one before."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from tenantry.cli.edit.check import Checked, check_both
from tenantry.cli.edit.difference import coloured, difference
from tenantry.cli.options import output as output_option
from tenantry.cli.output import columns, data, data_json, report_warnings, say, working
from tenantry.edit.editor import Editor
from tenantry.edit.write import commit
from tenantry.messages.text import counted, listed, printable

if TYPE_CHECKING:
    from tenantry.cli.documents.common import Part
    from tenantry.cli.documents.edits import Edit


_F = TypeVar("_F", bound=Callable[..., Any])


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


def apply(
    editor: Editor,
    how: How,
    done: Sequence[str],
    unchanged: Callable[[Checked], Iterable[str]] = lambda _: (),
    notes: Sequence[str] = (),
    hints: Sequence[str] = (),
    more: Mapping[str, Part] | None = None,
) -> int:
    """Check the edited fleet, write it unless it is a dry run, and say what `tenantry diff` would say.

    done: what was edited, a sentence for each edit, such as "set tenants.rocky.quota.pods to 5". unchanged: why the edit
    changes nothing on any cluster, if it does not. notes: what else changed with it. hints: what to
    do before the next `tenantry up`, if clusters change. more: further keys of the document.
    Raises: InvalidFleet: the edited fleet has errors that it did not have before; Refused: a file cannot be written.
    """
    changes = editor.changes()
    with working(f"checking {editor.path}"):
        checked = check_both(editor) if changes else None
    if changes and not how.dry_run:
        commit(editor)
    if how.is_text:
        _print(editor, how, (done, notes, hints), checked, unchanged)
    else:
        data_json(_document(editor, how, [*done, *notes], checked, hints, more or {}))
    return 0


def _print(
    editor: Editor,
    how: How,
    told: tuple[Sequence[str], Sequence[str], Sequence[str]],
    checked: Checked | None,
    unchanged: Callable[[Checked], Iterable[str]],
) -> None:
    done, notes, hints = told
    if checked is None:
        data(f"nothing to do: {editor.path} says so already")
        return
    # Of a dry run, only the difference is on stdout, for `git apply` and the like.
    tell: Callable[[str], None] = say if how.dry_run else data
    if how.dry_run:
        data("\n".join(map(coloured, difference(editor.changes()))))
    files = listed(editor.changes())
    for sentence in done:
        tell(printable(f"{files}: {sentence}"))
    for note in notes:
        tell(f"  {printable(note)}")
    for line in _consequences(editor, checked, unchanged, sys.stderr if how.dry_run else sys.stdout):
        tell(line)
    report_warnings(checked.new_warnings)
    for hint in hints if checked.compared and checked.compared.is_different else ():
        tell(f"{click.style('hint:', fg='cyan', bold=True)} {printable(hint)}")
    if how.dry_run:
        say("dry run: nothing is written")


def _consequences(
    editor: Editor, checked: Checked, unchanged: Callable[[Checked], Iterable[str]], stream: Any
) -> Iterable[str]:
    if checked.compared is None:
        errors = counted(len(checked.errors), "error")
        now = f"still is ({errors}): see `tenantry validate`" if checked.errors else "is valid now"
        yield f"{editor.path} was invalid before, and {now}"
        return
    if not checked.compared.is_different:
        yield "no cluster changes"
        yield from map(printable, unchanged(checked))
        return
    yield f"\n{checked.compared.text(columns(stream))}"
    for refusal in checked.compared.refusals:
        yield f"{click.style('warning:', fg='yellow', bold=True)} {refusal}"


def _document(
    editor: Editor,
    how: How,
    done: Sequence[str],
    checked: Checked | None,
    hints: Sequence[str],
    more: Mapping[str, Part],
) -> Edit:
    from tenantry.cli.documents.edits import Edit, EditedFile

    changes = editor.changes()
    told = checked or Checked((), (), None)
    compared = told.compared.document() if told.compared else None
    return Edit(
        edits=done if changes else [],
        hints=hints if changes else [],
        written=bool(changes) and not how.dry_run,
        files=[EditedFile(file=str(file), diff="\n".join(difference({file: each}))) for file, each in changes.items()],
        valid=not told.errors,
        errors=told.errors,
        warnings=told.new_warnings,
        environments=compared.environments if compared else [],
        unchanged=compared.unchanged if compared else [],
        **more,
    )


def unwritten(more: Mapping[str, Part], done: Sequence[str] = ()) -> Edit:
    """The document of a command that writes nothing. done: what it would edit; more: further keys."""
    from tenantry.cli.documents.edits import Edit

    return Edit(edits=done, **more)
