"""Asks a server on loopback whether it answers, never through the proxy of the user's shell."""

import http.client
import ssl
from http import HTTPStatus

from tenantry.sandbox.ports import HOST

TIMEOUT = 5.0


def answers(port: int, path: str, context: ssl.SSLContext | None = None) -> bool:
    """Whether the server answers a request for the path with success; a context means TLS."""
    connection = _connection(port, context)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _connection(port: int, context: ssl.SSLContext | None) -> http.client.HTTPConnection:
    if context is None:
        return http.client.HTTPConnection(HOST, port, timeout=TIMEOUT)
    return http.client.HTTPSConnection(HOST, port, timeout=TIMEOUT, context=context)
