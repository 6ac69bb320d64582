"""What the hosts of the content server share: the response that each returns, and who may fetch from them."""

import base64
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

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


class Response(NamedTuple):
    """A complete HTTP response: everything a sandbox serves fits into memory."""

    status: int
    headers: Mapping[str, str]
    body: bytes


NOT_FOUND = Response(HTTPStatus.NOT_FOUND, {}, b"")
