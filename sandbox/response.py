"""What every host of the content server answers with."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple


class Response(NamedTuple):
    """An HTTP response, whole: what a sandbox serves fits into memory."""

    status: int
    headers: Mapping[str, str]
    body: bytes


NOT_FOUND = Response(HTTPStatus.NOT_FOUND, {}, b"")
