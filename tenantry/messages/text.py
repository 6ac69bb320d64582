"""Problems and lists as text that people and editors can read. Used by the commands and the Pulumi program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from tenantry.messages.errors import UNKNOWN_NAME, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tenantry.messages.errors import InvalidFleet, Path, Problem


_MAX_NAMES = 300
"""How many names are compared. Each comparison takes time, and a file can have many mistakes."""
_LEAST_START = 3
"""The least characters of a name with which another one begins, as `production` does with `prod`."""
_MAX_COMPARED = 100
"""The most characters of a name to compare. The comparison takes quadratic time."""


def format_invalid(error: InvalidFleet) -> str:
    """All problems and a closing count, without a newline at the end."""
    return "\n".join([*map(format_diagnostic, error.diagnostics), format_count(error)])


def format_count(error: InvalidFleet) -> str:
    """The last line of a list of problems."""
    if error.more:
        return f"Found more than {len(error.diagnostics)} errors; only these were collected"
    return f"Found {counted(len(error.diagnostics), 'error')}"


def format_warnings(warnings: Sequence[Problem]) -> str:
    """All warnings and a closing count, without a newline at the end."""
    return "\n".join([*map(format_diagnostic, warnings), format_warning_count(warnings)])


def format_warning_count(warnings: Sequence[Problem]) -> str:
    """The last line of a list of warnings."""
    return f"Found {counted(len(warnings), 'warning')}"


def counted(count: int, noun: str) -> str:
    """(1, "tenant") -> 1 tenant; (2, "tenant") -> 2 tenants"""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def format_diagnostic(diagnostic: Problem) -> str:
    """`file:line:column: error[code]: message` or `... warning[code]: ...`, then the data path, the facts and the fix, indented."""
    lines = [f"{diagnostic.location}: {diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}"]
    if diagnostic.path:
        lines.append(f"  at {format_path(diagnostic.path)}")
    for note in diagnostic.notes:
        if note.startswith("known: "):  # a long list of names
            from textwrap import wrap

            lines += wrap(note, _COLUMNS, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
        else:
            lines.append(f"  {note}")
    if diagnostic.fix:
        lines.append(f"  fix: {diagnostic.fix}")
    return "\n".join(printable(line) for line in lines)


_COLUMNS = 80


def printable(text: str) -> str:
    """The text on one line, without control characters, which keys and values of a file can contain."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def one_line(text: str) -> str:
    """The same for a text of several lines."""
    return printable(" ".join(text.split()))


def format_path(path: Path) -> str:
    """("apps", "web", "names", 1) -> apps.web.names[1]; keys with dots are quoted."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif "." in part or not part:
            text += f'["{part}"]'
        else:
            text += f".{part}"
    return text.removeprefix(".")


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that the author of `name` probably meant."""
    if len(name) > _MAX_COMPARED:
        return None
    names = [candidate for candidate in islice(known, _MAX_NAMES) if len(candidate) <= _MAX_COMPARED]
    near = next(iter(get_close_matches(name, names, n=1)), None)
    return near or next(
        (candidate for candidate in names if len(candidate) >= _LEAST_START and name.startswith(candidate)), None
    )


def declared(what: str, name: str, known: Iterable[str]) -> str:
    """A note listing what is declared, with the closest name: `declared: a, b (closest: b)`."""
    names = sorted(known)
    if not names:
        return f"{what}: none"
    shown = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    near = closest(name, names)
    return f"{what}: {shown}" + (f" (closest: {near})" if near else "")


def require(what: str, name: str, known: Iterable[str], owner: str) -> None:
    """Raises: Refused: the owner, such as the file, declares nothing of this name."""
    names = list(known)
    if name not in names:
        near = closest(name, names)
        fix = f"name '{near}'" if near else "name one of these" if names else ""
        message = f"{owner} declares no {what} '{name}' (declared: {listed(names, 12) or 'none'})"
        raise Refused(message, fix, code=UNKNOWN_NAME)


_T = TypeVar("_T")
_K = TypeVar("_K")

MOST_NAMES = 8
"""The most names of a list in a sentence. The others are counted."""


def listed(names: Iterable[object], most: int = MOST_NAMES) -> str:
    """a, b and 3 more"""
    unique = [str(name) for name in dict.fromkeys(names)]
    more = f" and {len(unique) - most} more" if len(unique) > most else ""
    return ", ".join(unique[:most]) + more


_LINES = 20
"""How many lines a list in a message has."""


def lines_of(items: Iterable[object]) -> str:
    """A list with a line for each, below the first line of a message."""
    items = list(items)
    lines = [f"    {line}" for line in items[:_LINES]]
    return "\n".join([*lines, f"    and {len(items) - _LINES} more"] if len(items) > _LINES else lines)


def grouped(items: Iterable[_T], key: Callable[[_T], _K]) -> dict[_K, list[_T]]:
    """The items by key. Groups are in the order of their first items."""
    groups: dict[_K, list[_T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


_MOST_NOTES = 3
"""How many notes of equal problems are shown, such as one for each cluster."""


def joined(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Problems that differ in their notes alone, such as one for each cluster, as one."""
    for same in grouped(problems, key=lambda problem: replace(problem, notes=())).values():
        notes = list(dict.fromkeys(note for problem in same for note in problem.notes))
        more = (f"and {len(notes) - _MOST_NOTES} more",) if len(notes) > _MOST_NOTES and len(same) > 1 else ()
        yield replace(same[0], notes=(*notes[:_MOST_NOTES], *more) if more else tuple(notes))
