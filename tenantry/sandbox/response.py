"""The response that every host of the content server returns."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple


class Response(NamedTuple):
    """A complete HTTP response: everything a sandbox serves fits into memory."""

    status: int
    headers: Mapping[str, str]
    body: bytes


NOT_FOUND = Response(HTTPStatus.NOT_FOUND, {}, b"")
