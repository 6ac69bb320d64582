"""Serves published repositories over Git's smart HTTP protocol, for reading only.

`git http-backend` speaks the protocol; this module is the gateway in front of it and allows only the requests of a fetch.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from tenantry.sandbox import logins
from tenantry.sandbox.repositories import ISOLATED
from tenantry.sandbox.response import NOT_FOUND, Response

SERVICE = "git-upload-pack"
ROUTE = re.compile(
    r"/git/(?P<repository>(?P<owner>[\w-][\w.-]*)/[\w-][\w.-]*\.git)/(?P<action>info/refs|git-upload-pack)"
)
"""Two plain folder names, as they are published: nothing that climbs out of the directory matches."""
UNAUTHORIZED = Response(HTTPStatus.UNAUTHORIZED, logins.CHALLENGE, b"log in\n")
FORBIDDEN = Response(HTTPStatus.FORBIDDEN, {}, b"only fetching is served here\n")


def serve(directory: Path, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
    """Answer one request for something under /git/."""
    url = urlsplit(target)
    route = ROUTE.fullmatch(url.path)
    if route is None or not (directory / route["repository"] / "HEAD").is_file():
        return NOT_FOUND
    if not logins.admitted(directory / route["owner"], headers):
        return UNAUTHORIZED
    if route["action"] == "info/refs" and url.query != f"service={SERVICE}":
        return FORBIDDEN
    variables = {
        **ISOLATED,
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_PROJECT_ROOT": str(directory),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_PROTOCOL": headers.get("Git-Protocol", ""),
        "PATH_INFO": f"/{route['repository']}/{route['action']}",
        "QUERY_STRING": url.query,
        "REQUEST_METHOD": method,
        "CONTENT_TYPE": headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_CONTENT_ENCODING": headers.get("Content-Encoding", ""),
        "REMOTE_ADDR": "127.0.0.1",
    }
    done = subprocess.run(
        ["git", "http-backend"], env=variables, input=body, stdout=subprocess.PIPE, timeout=120, check=False
    )
    return _response(done.stdout)


def _response(output: bytes) -> Response:
    """Read a CGI program's output: headers, one of which may be the status, and the body."""
    head, _, body = output.partition(b"\r\n\r\n")
    lines = (line.partition(":") for line in head.decode("latin-1").splitlines())
    headers = {name.strip(): value.strip() for name, _, value in lines}
    default = HTTPStatus.OK if headers else HTTPStatus.INTERNAL_SERVER_ERROR
    status = int(headers.pop("Status", str(default.value)).split()[0])
    return Response(status, headers, body)
