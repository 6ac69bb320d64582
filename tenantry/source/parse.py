"""Parses a file: text to plain data, with the place of every value. `compose` makes nodes of the text, and data of the nodes.

No file has characters in its text that a reviewer cannot see: marks without a width, directions of text, line breaks that editors
do not show. A team's file has none as an escape in quotes either, which the main file may need for a program.
"""

from __future__ import annotations

import codecs
import os
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import NamedTuple

from tenantry.messages.data import texts_and_keys
from tenantry.messages.errors import NO_FILE, InvalidFleet, Location, Refused
from tenantry.source.compose import Constructor, compose
from tenantry.source.parsed_file import ParsedFile, end_of, invalid, location

MAX_BYTES = 32 * 1024 * 1024


class Form(NamedTuple):
    """The keys that a kind of file should have, and what to write into a file that has none of them.

    is_teams: whether a team writes it, and the platform team reviews what it sees.
    """

    keys: str
    fix: str
    is_teams: bool = False


MAIN = Form("keys such as 'environments:' and 'tenants:'", "start with 'apiVersion: tenantry/v1' and 'environments:'")


Reader = Callable[[FilePath], bytes]


def bytes_of(file: FilePath) -> bytes:
    """The bytes of a file; one more than a file may have, if there are more. Raises: Refused: it cannot or may not be read."""
    if problem := problem_of(file):
        raise Refused(f"{file} {problem}", "put the file itself there", code=NO_FILE)
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise Refused(f"{file}: no such file", "name the fleet's file with --file", code=NO_FILE) from None
    except OSError as error:
        raise Refused(f"{file}: {error.strerror}", "name a readable file with --file", code=NO_FILE) from None


def read(file: FilePath, form: Form = MAIN, reader: Reader = bytes_of) -> ParsedFile:
    """Read and parse a file. reader: what gives its bytes.

    Raises: Refused: the file does not exist or cannot be read. InvalidFleet: it is not a YAML mapping in UTF-8.
    """
    return parse(reader(file), str(file), form)


def parse(raw: bytes, file: str, form: Form = MAIN) -> ParsedFile:
    """Parse the bytes of a file; `file` is used in messages only. Raises: InvalidFleet."""
    if len(raw) > MAX_BYTES:
        raise invalid(Location(file, 1, 1), "too-large", f"the file exceeds {MAX_BYTES} bytes")
    text = decoded(raw, file)
    try:
        return _parsed(text, file, form)
    except InvalidFleet as error:
        raise error.quoting(text) from None


def _parsed(text: str, file: str, form: Form) -> ParsedFile:
    if (index := _hidden(text)) is not None:
        raise invalid(end_of(text[:index], file), *_words(text[index]))
    root = compose(text, file)
    if root is None:
        raise invalid(Location(file, 1, 1), "empty-file", "the file is empty", form.fix)
    constructor = Constructor(file)
    data = constructor.construct(root)
    if constructor.problems:
        raise InvalidFleet(constructor.problems)
    if not isinstance(data, dict):
        raise invalid(location(file, root), "not-a-mapping", f"the file must be a mapping of {form.keys}", form.fix)
    parsed = ParsedFile(file, root, data, text)
    if form.is_teams:
        check_values(parsed)
    return parsed


def decoded(raw: bytes, file: str) -> str:
    """The text of a file, without a mark of its order of bytes. Raises: InvalidFleet: it is not UTF-8."""
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        place = end_of(raw[: error.start].decode(), file)
        message = f"byte 0x{raw[error.start]:02x} is not UTF-8"
        raise invalid(place, "not-utf-8", message, "save the file as UTF-8") from None


_SUSPECT = re.compile(r"\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|[^\x00-\x7f]")
_CATEGORIES = ("Cc", "Cf", "Zl", "Zp")
_BLANK = re.compile(r"[\u034f\u115f\u1160\u17b4\u17b5\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
"""Letters and marks that are drawn as nothing."""
_OF_EMOJI = "\ufe0f\u200d"
"""What follows a symbol to draw it in colour, or joins it to the next one."""


def check_values(file: ParsedFile) -> None:
    """Raises: InvalidFleet: a value or key has such a character, written as an escape."""
    for path, text, _ in texts_and_keys(file.data):
        if (index := _hidden(text)) is not None:
            raise invalid(file.locate(path), *_words(text[index]))


def _hidden(text: str) -> int | None:
    """Where the first such character is."""
    for match in _SUSPECT.finditer(text):
        character = match[0]
        before = text[max(0, match.start() - 2) : match.start()].rstrip(_OF_EMOJI)[-1:]
        if character in _OF_EMOJI and before and unicodedata.category(before) in ("So", "Sk"):
            continue
        if character.isascii() or unicodedata.category(character) in _CATEGORIES or _BLANK.match(character):
            return match.start()
    return None


def _words(character: str) -> tuple[str, str, str]:
    message = f"character U+{ord(character):04X} cannot be seen, and who reviews the file would read something else"
    return "hidden-character", message, "remove it, and look at the line again"


# --- where a file really is: a symlink may not lead out of its repository --------------------------------------------

GIT = ".git"
"""Where Git keeps what is its own, such as the token with which a build server fetched the repository."""


def problem_of(file: FilePath) -> str | None:
    """Why a file may not be read, as the words behind its name; None: it may be, or it is in no repository."""
    written, real = FilePath(os.path.normpath(file.absolute())), file.resolve()
    # The directory of the repository around it, by its path as it is written.
    around = (parent for parent in written.parents if os.path.lexists(parent / GIT) and parent.name.lower() != GIT)
    top = next(around, None)
    if top is None:
        return None
    if any(part.lower() == GIT for part in written.relative_to(top).parts):
        return "is one of Git's own files"
    if real == written:
        return None
    whole = top.resolve()
    if not real.is_relative_to(whole):
        return "is a symlink, or behind one, that leads out of its repository"
    if any(part.lower() == GIT for part in real.relative_to(whole).parts):
        return "is a symlink to one of Git's own files"
    return None if real.is_file() or not real.exists() else "is a symlink to something that is no file"
