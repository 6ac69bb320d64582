"""Decides who may fetch from the Git host and the registry: everybody, unless an owner's folder has a file `.login`.

The file holds `username:password` on one line, and is served to nobody.
"""

import base64
from collections.abc import Mapping
from pathlib import Path

from tenantry.sandbox.layout import write_private

FILE = ".login"
CHALLENGE = {"WWW-Authenticate": 'Basic realm="sandbox"'}
"""Asks a client to log in."""


def files(source: Path) -> dict[str, bytes]:
    """The content of the `.login` files in a directory, by the path of the owner's folder."""
    return {path.relative_to(source).as_posix(): path.read_bytes() for path in sorted(source.glob(f"*/{FILE}"))}


def publish(source: Path, target: Path) -> None:
    """Publish the `.login` files of `source` to `target`, and remove those that `source` does not have."""
    wanted = files(source)
    for name in files(target).keys() - wanted.keys():
        (target / name).unlink()
    for name, data in wanted.items():
        write_private(target / name, data)


def admitted(owner: Path, headers: Mapping[str, str]) -> bool:
    """Whether a request may fetch from an owner's published folder."""
    file = owner / FILE
    if not file.is_file():
        return True
    wanted = base64.b64encode(file.read_bytes().strip()).decode()
    return headers.get("Authorization") == f"Basic {wanted}"
