"""Who may fetch from the Git host and the registry: everybody, unless an owner's folder holds a file `.login`.

The file holds `username:password` on one line, and is served to nobody.
"""

import base64
from collections.abc import Mapping
from pathlib import Path

from sandbox.layout import write_private

FILE = ".login"
CHALLENGE = {"WWW-Authenticate": 'Basic realm="sandbox"'}
"""Asks a client to log in."""


def files(source: Path) -> dict[str, bytes]:
    """The logins that the owners' folders of a directory hold, by their path in it."""
    return {path.relative_to(source).as_posix(): path.read_bytes() for path in sorted(source.glob(f"*/{FILE}"))}


def publish(source: Path, target: Path) -> None:
    """Make the owners below `target` ask for the logins that those below `source` hold, and for no others."""
    wanted = files(source)
    for name in files(target).keys() - wanted.keys():
        (target / name).unlink()
    for name, data in wanted.items():
        write_private(target / name, data)


def admitted(owner: Path, headers: Mapping[str, str]) -> bool:
    """Whether a request may fetch what lies in an owner's published folder."""
    file = owner / FILE
    if not file.is_file():
        return True
    wanted = base64.b64encode(file.read_bytes().strip()).decode()
    return headers.get("Authorization") == f"Basic {wanted}"
