"""Git repositories made from plain folders, served over Git's smart HTTP protocol for reading only."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from tenantry.charts import OBJECTS
from tenantry.sandbox import logins
from tenantry.sandbox.layout import SandboxError
from tenantry.sandbox.logins import NOT_FOUND, Response
from tenantry.sandbox.spec import OwnRepository

BRANCH = "refs/heads/main"
FLEET = "tenantry/fleet"
"""The repository that stands for the fleet's own: it has the chart for baselines in `charts/objects`."""
WORKERS = 4
ISOLATED = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
"""Keeps the user's own settings (hooks, signing, ignore files) out of what is published."""
SIGNATURE = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (("NAME", "sandbox"), ("EMAIL", "sandbox@example.com"), ("DATE", "2000-01-01T00:00:00Z"))
}


@dataclass(frozen=True, slots=True)
class Repository:
    """A bare repository that the content server serves."""

    path: Path

    def publish(self, folder: Path, *below: str, path: str = ".") -> None:
        """Make the branch hold what the folder holds, below these directories; commits nothing if it does already.

        Args:    path: publish only this part of the folder, at the same place.
        """
        self._create()
        with _Index(self.path) as index:
            # Git looks for a relative path from within the folder.
            index.git("--work-tree", str(folder.resolve()), "add", "--all", "--", path, cwd=folder)
            for name in reversed(below):
                tree = index.git("write-tree")
                index.git("read-tree", index.git("mktree", text=f"040000 tree {tree}\t{name}\n"))
            index.commit("Publish the folder")

    def commit(self, changes: Mapping[str, str | None], message: str) -> str:
        """Commit on top of the branch, as a tenant's push would; returns the commit's id.

        Args:    changes: new content by path inside the repository; None deletes the file.
        """
        with _Index(self.path) as index:
            index.git("read-tree", BRANCH)
            for path, content in changes.items():
                index.stage(path, content)
            return index.commit(message)

    def _create(self) -> None:
        if not (self.path / "HEAD").is_file():
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            _git("init", "--quiet", "--bare", "--template=", "--initial-branch=main", str(self.path))


def publish(source: Path, target: Path, own: OwnRepository | None = None) -> tuple[str, ...]:
    """Publish all folders of `source` below `target`, each for those who may fetch it, and withdraw repositories whose
    folder is gone; returns the names.

    The chart for baselines is in a repository of its own, as a fleet's repository has it.

    Args:    own: one more repository, unless a folder has its name.
    """
    names = folders(source)
    logins.publish(source, target)
    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(lambda name: repository(target, name).publish(source / name), names))
    if FLEET not in names and not (own and own.name == FLEET):
        repository(target, FLEET).publish(OBJECTS, "charts", "objects")
    if own and own.name not in names:
        repository(target, own.name).publish(own.root, path=own.path)
        names = (*names, own.name)
    served = {str(path.relative_to(target).with_suffix("")) for path in target.glob("*/*.git")}
    for name in served.difference((*names, FLEET)):
        shutil.rmtree(repository(target, name).path)
    return names


def repository(target: Path, name: str) -> Repository:
    """The repository `<owner>/<repository>` below a directory of published ones."""
    return Repository(target / f"{name}.git")


def folders(source: Path) -> tuple[str, ...]:
    """The names `<owner>/<repository>` of all folders that become repositories; hidden ones do not."""
    found = (path.relative_to(source) for path in source.glob("*/*") if path.is_dir())
    return tuple(sorted(str(path) for path in found if not any(part.startswith(".") for part in path.parts)))


class _Index:
    """A throw-away index over a bare repository."""

    def __init__(self, repository: Path) -> None:
        self._repository = repository
        self._scratch = tempfile.TemporaryDirectory(prefix="index-", dir=repository)

    def __enter__(self) -> "_Index":
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.cleanup()

    def git(self, *arguments: str, cwd: Path | None = None, text: str | None = None) -> str:
        environment = {"GIT_INDEX_FILE": str(Path(self._scratch.name) / "index")}
        return _git("--git-dir", str(self._repository), *arguments, cwd=cwd, text=text, **environment)

    def stage(self, path: str, content: str | None) -> None:
        if content is None:
            self.git("rm", "--quiet", "--cached", "--", path)
        else:
            blob = self.git("hash-object", "-w", "--stdin", text=content)
            self.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")

    def commit(self, message: str) -> str:
        """Commit the index unless the branch holds the same already; returns the id of the branch's commit."""
        tree, parent = self.git("write-tree"), self._tip()
        if parent and self.git("rev-parse", f"{parent}^{{tree}}") == tree:
            return parent
        ancestry = ("-p", parent) if parent else ()
        commit = self.git("commit-tree", tree, *ancestry, "-m", message)
        self.git("update-ref", BRANCH, commit)
        return commit

    def _tip(self) -> str:
        return self.git("for-each-ref", "--format=%(objectname)", BRANCH)


def _git(*arguments: str, cwd: Path | None = None, text: str | None = None, **environment: str) -> str:
    variables = {"PATH": os.environ.get("PATH", os.defpath), **ISOLATED, **SIGNATURE, **environment}
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=cwd,
            env=variables,
            input=text,
            text=True,
            capture_output=True,
            check=True,
            timeout=60,
        )
    except FileNotFoundError as missing:
        raise SandboxError("git is not on PATH", "install git: the sandbox makes its repositories with it") from missing
    except subprocess.CalledProcessError as failed:
        raise SandboxError(
            f"git {arguments[-1]}: {failed.stderr.strip()}", "correct the folder that is published"
        ) from failed
    return done.stdout.strip()


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
