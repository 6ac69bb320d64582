"""Parses a file: text to plain data, with the place of every value.

`compose` makes nodes of the text, `construct` makes data of the nodes.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import NamedTuple

from tenantry.messages.errors import NO_FILE, InvalidFleet, Lines, Location, Refused
from tenantry.source.compose import Constructor, compose
from tenantry.source.globbing import problem_of
from tenantry.source.parsed_file import ParsedFile, end_of, invalid, location
from tenantry.source.visible import check_text, check_values

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
    lines = Lines(text)
    try:
        return _parsed(text, lines, file, form)
    except InvalidFleet as error:
        raise error.quoting(lines) from None


def _parsed(text: str, lines: Lines, file: str, form: Form) -> ParsedFile:
    check_text(text, file)
    root = compose(text, file)
    if root is None:
        raise invalid(Location(file, 1, 1), "empty-file", "the file is empty", form.fix)
    constructor = Constructor(file)
    data = constructor.construct(root)
    if constructor.problems:
        raise InvalidFleet(constructor.problems)
    if not isinstance(data, dict):
        raise invalid(location(file, root), "not-a-mapping", f"the file must be a mapping of {form.keys}", form.fix)
    parsed = ParsedFile(file, root, data, lines)
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
