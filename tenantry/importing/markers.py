"""What image automation writes: the values in the files of a source that a marker follows, such as

    image: registry.example.com/web:1.2.3 # {"$imagepolicy": "flux-system:web"}

An object with such a value has to go on being applied from its file, or it would keep the image of today. Source: fluxcd.io,
"Configure image update for custom resources".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

_MOST_FILES = 50_000
_MOST_BYTES = 2**20
_MARKER = b'"$imagepolicy"'
_LINE = re.compile(
    r"""
    ^[ \t]*(?:-[ \t]+)*(?:["']?(?P<key>[\w.-]+)["']?:[ \t]+)?  # the dashes of lists, and a key
    ["']?(?P<value>[^"'\#\s]+)["']?[ \t]*
    \#[ \t]*\{[ \t]*"\$imagepolicy"[ \t]*:
    """,
    re.MULTILINE | re.VERBOSE,
)


class Marked(NamedTuple):
    """key: that of the value; "" if a list holds it."""

    key: str
    value: str


@cache
def marked_in(root: Path) -> Mapping[Marked, str]:
    """The values that a marker follows, each with a file below a directory that has it."""
    found: dict[Marked, str] = {}
    for file in sorted(islice(root.rglob("*.y*ml"), _MOST_FILES)):
        try:
            large = file.is_symlink() or file.stat().st_size > _MOST_BYTES
            text = b"" if large else file.read_bytes()
        except OSError:  # what applies it says so with its place
            continue
        for line in _LINE.finditer(text.decode(errors="replace")) if _MARKER in text else ():
            found.setdefault(Marked(line["key"] or "", line["value"]), str(file.relative_to(root)))
    return found


def texts_in(data: Any, key: str = "") -> Iterator[Marked]:
    """The texts in plain data, each with its key."""
    if isinstance(data, dict):
        for name, each in data.items():
            yield from texts_in(each, str(name))
    elif isinstance(data, list):
        for each in data:
            yield from texts_in(each)
    elif isinstance(data, str | int | float):
        yield Marked(key, str(data))
