"""What all formats say about a problem: its file from the root of the repository, its text, its identity."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tenantry.messages.errors import Diagnostic, Severity
from tenantry.messages.text import format_path, printable


def level_of(diagnostic: Diagnostic, *, strict: bool) -> Severity:
    """Args: strict: warnings are errors."""
    return Severity.ERROR if strict else diagnostic.severity


def text_of(diagnostic: Diagnostic) -> str:
    """The message, the path in the data, the facts and the fix, each on a line."""
    path = (f"at {format_path(diagnostic.path)}",) if diagnostic.path else ()
    fix = (f"fix: {diagnostic.fix}",) if diagnostic.fix else ()
    return "\n".join(map(printable, (diagnostic.message, *path, *diagnostic.notes, *fix)))


def file_of(file: str) -> str:
    """The file's path from the root of its Git repository, otherwise from the current directory.

    A file elsewhere keeps its name. Runs no git, because a repository's own configuration can make git run programs.
    """
    path = Path(os.path.normpath(Path.cwd() / file))
    top = next((each for each in path.parents if (each / ".git").exists()), Path.cwd())
    return path.relative_to(top).as_posix() if path.is_relative_to(top) else file


def fingerprints(diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    """The identity of each problem, which stays the same when lines are added above it: `<hash>:<number>`.

    number: which of the problems with the same hash it is.
    """
    seen: Counter[str] = Counter()
    for each in diagnostics:
        # The path says where the problem is, whatever its line. A syntax error has none.
        subject = repr(each.path) if each.path else each.message
        digest = hashlib.sha256("\0".join((each.code, file_of(each.location.file), subject)).encode()).hexdigest()[:16]
        seen[digest] += 1
        yield f"{digest}:{seen[digest]}"
