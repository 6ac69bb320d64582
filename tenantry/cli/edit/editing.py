"""What `add`, `remove`, `rename` and `move` share: they open the fleet's files, edit them, and end as every edit does."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from tenantry.cli.edit.apply import How, apply, edit_options
from tenantry.cli.fleet_file import reads_file
from tenantry.edit.editor import Editor
from tenantry.edit.subjects.draft import Draft, Edit

EXIT_CODES = """\
Exit codes:
  0  success
  2  the edit is refused, and no file is changed
"""


def edits(work: Callable[..., Edit]) -> Callable[..., int]:
    """Make a command of a function that edits a draft and says what it did."""

    @reads_file
    @edit_options
    @wraps(work)
    def command(file: Path, *arguments: Any, dry_run: bool, output: str, **options: Any) -> int:
        editor = Editor.open(file)
        edit = work(Draft(editor), *arguments, **options)
        return apply(editor, How(dry_run, output), [edit.done], notes=edit.notes, hints=edit.hints)

    return command


def file_named(draft: Draft, name: str | None) -> Path | None:
    """The file of the fleet that a path names, or the path itself."""
    if name is None:
        return None
    wanted = Path(name).resolve()
    return next((file for file in draft.documents if file.resolve() == wanted), Path(name))
