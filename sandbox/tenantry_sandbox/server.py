"""The content server: it stands in for the Git hosts, chart repositories, OCI registries and buckets of an environment's sources.

Started as `python -m tenantry_sandbox.server ROOT PORT`. It listens on loopback and is the HTTP proxy of source-controller. So it
answers for the host sandbox.test, whatever its port is; what is for other hosts goes on to them.

    /git/<owner>/<repository>.git    repositories, by smart HTTP, for fetching
    /charts/index.yaml, /charts/*.tgz    a chart repository
    /v2/charts/<chart>, /v2/oci/<owner>/<name>    the repositories of an OCI registry
    /healthz    says that it runs
    /<bucket>    any other name: buckets, as S3 serves them, by moto
"""

import json
import re
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
from dulwich.protocol import CAPABILITY_THIN_PACK
from dulwich.server import BackendRepo, FileSystemBackend, UploadPackHandler
from dulwich.web import make_wsgi_chain
from werkzeug import Request, Response
from werkzeug.security import safe_join
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server
from werkzeug.test import Client

from tenantry.charts import files_of
from tenantry_sandbox.layout import Layout
from tenantry_sandbox.process import HOST as LOOPBACK
from tenantry_sandbox.registry import MANIFEST, NAME, digest
from tenantry_sandbox.spec import HOST

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

OWN = (HOST, LOOPBACK, "localhost")
GIT = re.compile(r"/(?P<path>git/(?P<owner>[\w-][\w.-]*)/[\w-][\w.-]*\.git)/(?P<action>info/refs|git-\w+-pack)")
ARTIFACT = re.compile(rf"{NAME}(/{NAME})*/(?P<kind>manifests|blobs|tags)/[\w.:-]+")
"""Names as they are published: nothing that leads out of a directory matches."""
KINDS = {"manifests": MANIFEST, "blobs": "application/octet-stream", "tags": "application/json"}
HOP = {"connection", "content-encoding", "content-length", "host", "proxy-connection", "transfer-encoding"}
"""Headers that are about one connection, or about a body that is decoded."""
SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=sandbox/20000101/us-east-1/s3/aws4_request"}
"""moto takes any signature."""
TIMEOUT = 120


class Content:
    """The WSGI application."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._buckets = Buckets(layout.buckets)
        self._git = make_wsgi_chain(Repositories(str(layout.root)), handlers={b"git-upload-pack": UploadPack})

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        return self._answer(Request(environ))(environ, start_response)

    def _answer(self, request: Request) -> "WSGIApplication":
        if request.host.partition(":")[0] not in OWN:
            return forwarded(request)
        first, _, rest = request.path.lstrip("/").partition("/")
        match first:
            case "healthz":
                return Response("ok\n")
            case "charts":
                return self._file(self._layout.charts, rest, "application/octet-stream")
            case "v2":
                return self._artifact(request, rest)
            case "git":
                return self._repository(request)
        return self._buckets.answer(request)

    def _repository(self, request: Request) -> "WSGIApplication":
        route = GIT.fullmatch(request.path)
        if route is None or not (self._layout.root / route["path"] / "HEAD").is_file():
            return Response(status=HTTPStatus.NOT_FOUND)  # Flux quotes what such an answer says
        if "git-receive-pack" in (route["action"], request.args.get("service")):
            return Response("only fetching is served here\n", HTTPStatus.FORBIDDEN)
        if not self._is_admitted(request, "git", route["owner"]):
            return _refused("UNAUTHORIZED", HTTPStatus.UNAUTHORIZED)
        return self._git

    def _artifact(self, request: Request, path: str) -> Response:
        if not path:
            # Clients ask here first whether to log in, before they say to which repository.
            known = bool(request.authorization) or not any(self._layout.logins.glob("oci/*"))
            return Response("{}") if known else _refused("UNAUTHORIZED", HTTPStatus.UNAUTHORIZED)
        route = ARTIFACT.fullmatch(path)
        if route is None:
            return _refused("NAME_UNKNOWN")
        if path.startswith("oci/") and not self._is_admitted(request, "oci", path.split("/")[1]):
            return _refused("UNAUTHORIZED", HTTPStatus.UNAUTHORIZED)
        answer = self._file(self._layout.registry, path, KINDS[route["kind"]], route["kind"].rstrip("s").upper())
        if answer.status_code == HTTPStatus.OK:
            answer.headers["Docker-Content-Digest"] = digest(answer.get_data())
        return answer

    def _is_admitted(self, request: Request, kind: str, owner: str) -> bool:
        login, given = self._layout.logins / kind / owner, request.authorization
        return not login.is_file() or (
            given is not None and f"{given.username}:{given.password}" == login.read_text().strip()
        )

    @staticmethod
    def _file(directory: Path, name: str, media_type: str, what: str = "FILE") -> Response:
        path = safe_join(str(directory), name)
        if path is None or not Path(path).is_file():
            return _refused(f"{what}_UNKNOWN")
        return Response(Path(path).read_bytes(), mimetype=media_type)


class Repositories(FileSystemBackend):
    """Opens repositories at the paths of URLs."""

    def open_repository(self, path: str | bytes) -> BackendRepo:
        return super().open_repository((path.decode() if isinstance(path, bytes) else path).lstrip("/"))


class UploadPack(UploadPackHandler):
    """Serves clients that cannot take thin packs, such as go-git: none is made of repositories whose objects are in no pack."""

    @classmethod
    def required_capabilities(cls) -> tuple[bytes, ...]:
        return tuple(name for name in super().required_capabilities() if name != CAPABILITY_THIN_PACK)


class Buckets:
    """moto's S3, holding what a directory holds. Imported with the first request, because that takes more than a second."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._stored: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def answer(self, request: Request) -> "WSGIApplication":
        if request.method not in ("GET", "HEAD"):
            return Response("only reading is served here\n", HTTPStatus.FORBIDDEN)
        files = files_of(self._directory)
        if request.path.split("/")[1] not in {name.partition("/")[0] for name in files}:
            return _refused("BUCKET_UNKNOWN")
        if "Authorization" not in request.headers:
            return Response("sign the request\n", HTTPStatus.FORBIDDEN)
        with self._lock:
            self._store(files)
        # moto would take another host's first part for the name of a bucket.
        request.environ["HTTP_HOST"] = LOOPBACK
        return self._moto

    def _store(self, files: dict[str, bytes]) -> None:
        client = Client(self._moto)
        for name in {*self._stored, *files}:
            if (data := files.get(name)) == self._stored.get(name):
                continue
            common: dict[str, Any] = {"base_url": f"http://{LOOPBACK}", "headers": SIGNED}
            client.put(f"/{name.partition('/')[0]}", **common)
            client.delete(f"/{name}", **common) if data is None else client.put(f"/{name}", **common, data=data)
        self._stored = files

    @cached_property
    def _moto(self) -> Callable[..., Any]:
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

        return DomainDispatcherApplication(create_backend_app)


def forwarded(request: Request) -> Response:
    """What another host answers: everything that is plain HTTP comes here."""
    headers = [(name, value) for name, value in request.headers if name.lower() not in HOP]
    try:
        answer = httpx2.request(
            request.method, request.url, headers=headers, content=request.get_data(), timeout=TIMEOUT
        )
    except httpx2.HTTPError as failure:
        return Response(f"{request.host} does not answer: {failure}\n", HTTPStatus.BAD_GATEWAY)
    kept = [(name, value) for name, value in answer.headers.multi_items() if name.lower() not in HOP]
    return Response(answer.content, answer.status_code, kept)


def _refused(code: str, status: HTTPStatus = HTTPStatus.NOT_FOUND) -> Response:
    """An answer as a registry gives it; to others its status says enough."""
    body = json.dumps({"errors": [{"code": code}]})
    login = {"WWW-Authenticate": 'Basic realm="sandbox"'} if status == HTTPStatus.UNAUTHORIZED else None
    return Response(body, status, login, mimetype="application/json")


class Handler(WSGIRequestHandler):
    # A client that stops talking must not hold its thread for ever.
    timeout = TIMEOUT
    # Headers and body are two writes, and the second would wait for the first one's acknowledgement.
    disable_nagle_algorithm = True


def listen(layout: Layout, port: int) -> BaseWSGIServer:
    """The server, bound to a loopback port."""
    return make_server(LOOPBACK, port, Content(layout), threaded=True, request_handler=Handler)


def main(arguments: Sequence[str]) -> None:
    root, port = arguments
    listen(Layout(Path(root)), int(port)).serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
