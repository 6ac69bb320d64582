"""Explains syntax errors in the author's words, at the place to correct.

libyaml reports the place where it gives up, which is often lines below the mistake. The functions here look at the lines around
that place, and use libyaml's own message if they find nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import yaml

_CLOSING = {"{": "}", "[": "]"}
_CONFLICT = re.compile(r"(<{7}|\|{7}|={7}|>{7})(\s|$)")
_BLANK = re.compile(r"\s+")
_MAX_LINES = 10_000
"""How many lines above a mistake are searched."""


class Mistake(NamedTuple):
    """A mistake: its line and column, which count from 0, the message and the fix."""

    line: int
    column: int
    message: str
    fix: str = ""


def explained(error: yaml.MarkedYAMLError, lines: Sequence[str]) -> Mistake | None:
    """The mistake behind libyaml's error; None: the text ends too early, so the best place to report is its end."""
    mark = error.problem_mark or error.context_mark
    conflict = next((number for number, line in enumerate(lines) if line.startswith("<<<<<<< ")), None)
    marks = {line[:7] for line in lines[conflict or 0 :] if _CONFLICT.match(line)}
    if conflict is not None and {"<<<<<<<", "=======", ">>>>>>>"} <= marks:
        fix = "keep the lines you want, and remove '<<<<<<<', '=======' and '>>>>>>>'"
        return Mistake(conflict, 0, "unresolved merge conflict (<<<<<<<)", fix)
    problem, opened = error.problem or "", error.context_mark
    if opened and opened.line < len(lines) and (mistake := _unclosed(problem, opened, mark, lines)):
        return mistake
    if mark is None or mark.line >= len(lines):
        return None
    mistake = (
        _indentation(problem, mark, lines) or _key(problem, error, lines) or _plain(problem, mark, lines[mark.line])
    )
    if mistake:
        return mistake
    what = ": ".join(part for part in (error.context, error.problem) if part)
    return Mistake(mark.line, mark.column, f"not valid YAML: {what}")


def _unclosed(problem: str, opened: yaml.Mark, mark: yaml.Mark | None, lines: Sequence[str]) -> Mistake | None:
    """A bracket or a quote that nothing closes, at the place where it is opened. Args: mark: where libyaml gives up."""
    opening = lines[opened.line][opened.column : opened.column + 1]
    if opening in ('"', "'") and problem == "found unexpected end of stream":
        return Mistake(opened.line, opened.column, f"this {opening} is never closed", f"add the closing {opening}")
    if opening not in _CLOSING or not problem.startswith("did not find expected ',' or"):
        return None
    rest = "\n".join(lines[mark.line :])[mark.column :] if mark else ""
    is_below = rest and mark and mark.line > opened.line and _indent(lines[mark.line]) <= _indent(lines[opened.line])
    if rest.strip() and not is_below:
        return None  # something within the brackets is wrong
    closing = _CLOSING[opening]
    return Mistake(opened.line, opened.column, f"this '{opening}' is never closed", f"add the closing '{closing}'")


def _indentation(problem: str, mark: yaml.Mark, lines: Sequence[str]) -> Mistake | None:
    """A line whose indentation is neither its siblings' nor its parent's."""
    line = lines[mark.line]
    own = _indent(line)
    if "\t" in line[: own + 1] and not line[:own].strip():
        return Mistake(mark.line, line.index("\t"), "indented with a tab", "indent with spaces, not with tabs")
    for number in (mark.line, mark.line - 1):
        if number >= 0 and (blank := _BLANK.match(lines[number])) and not blank[0].isascii():
            column = next(index for index, char in enumerate(blank[0]) if not char.isascii())
            return Mistake(number, column, "indented with a space that YAML does not know", "indent with plain spaces")
    known = ("did not find expected key", "did not find expected '-' indicator", "mapping values are not allowed")
    if not problem.startswith(known) or (mark.column > own and ": " in f"{line[own : mark.column]}"):
        return None
    sibling = _sibling(mark.line, lines)
    if sibling is None or (theirs := _indent(lines[sibling])) == own:
        return None
    message = f"indented by {own} space{'' if own == 1 else 's'}; its siblings (line {sibling + 1}) by {theirs}"
    return Mistake(mark.line, own, message, "indent the entries of a mapping or list alike")


def _sibling(number: int, lines: Sequence[str]) -> int | None:
    """The line that the line of this number was probably meant to stand below, at the same indentation."""
    own = _indent(lines[number])
    sibling = None
    for above in range(number - 1, max(-1, number - _MAX_LINES), -1):
        text = lines[above].strip()
        if not text or text.startswith("#"):
            continue
        indent = _indent(lines[above])
        if indent < own:
            # A parent ends in a colon; what holds a value is a sibling that is indented less.
            return sibling if sibling is not None or text.split(" #")[0].rstrip().endswith(":") else above
        sibling = above
    return sibling


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _key(problem: str, error: yaml.MarkedYAMLError, lines: Sequence[str]) -> Mistake | None:
    """A line of a mapping that lacks the colon, or the space behind it."""
    fix = "write 'KEY: VALUE', with a space after the colon"
    if error.problem_mark and (comment := _comment(lines, error)):
        return comment
    if problem == "could not find expected ':'" and error.context_mark and error.context_mark.line < len(lines):
        return Mistake(error.context_mark.line, error.context_mark.column, "a key without ': '", fix)
    mark = error.problem_mark
    if mark is None or not problem.startswith("mapping values are not allowed"):
        return None
    above = lines[mark.line - 1].strip()
    if not mark.line or not above or ": " in above or above.endswith(":") or above.startswith(("#", "- ")):
        return None
    return Mistake(mark.line - 1, _indent(lines[mark.line - 1]), "a key without ': '", fix)


def _comment(lines: Sequence[str], error: yaml.MarkedYAMLError) -> Mistake | None:
    """A comment in the form of another language."""
    marks = (mark.line for mark in (error.context_mark, error.problem_mark) if mark)
    for number in (at for line in marks for at in (line, line - 1) if 0 <= at < len(lines)):
        if lines[number].lstrip().startswith(("//", "/*", "<!--")):
            return Mistake(number, _indent(lines[number]), "this is no comment in YAML", "begin a comment with '# '")
    return None


def _plain(problem: str, mark: yaml.Mark, line: str) -> Mistake | None:
    """Characters that a value without quotes cannot hold, or cannot begin with."""
    before, at = line[: mark.column], line[mark.column : mark.column + 1]
    quoted = "put the whole value in quotes"
    if before.endswith("}") and at.strip(",]}: ") and problem.startswith("did not find expected"):
        message = "text follows the closing '}'"
        return Mistake(mark.line, mark.column, message, f'{quoted}, such as "{{env}}/web"')
    if at in _CLOSING and before.strip() and before[-1] not in " {[,:":
        return Mistake(mark.line, mark.column, f"'{at}' in a value without quotes", f'{quoted}, such as "./{{env}}"')
    if problem == "did not find expected '-' indicator":
        fix = "begin it with '- ', or indent it as its own siblings"
        return Mistake(mark.line, mark.column, "this is not an entry of the list above", fix)
    if at == "," and before.strip() and problem in ("did not find expected key", "did not find expected node content"):
        message = "a ',' follows the value" if problem.endswith("key") else "nothing stands before this ','"
        return Mistake(mark.line, mark.column, message, "remove the ','")
    if problem.startswith("did not find expected ',' or"):
        return Mistake(mark.line, mark.column, "a ',' or a closing bracket is missing before this")
    if problem.startswith("mapping values are not allowed") and ":" in before:
        return Mistake(mark.line, mark.column, "a second ': ' in one value", f"{quoted}, or start a new line")
    if problem == "found character that cannot start any token" and at:
        return Mistake(mark.line, mark.column, f"a value without quotes cannot begin with '{at}'", quoted)
    if problem == "but found another document":
        return Mistake(mark.line, mark.column, "a second document ('---') begins here", "keep one document in a file")
    if problem == "found undefined alias":
        return Mistake(mark.line, mark.column, "'*' refers to an anchor that is not declared above", quoted)
    return None
