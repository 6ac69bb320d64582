"""Servers of a test's own that keep state: PostgreSQL, and a store with the protocol of S3.

If the tests run as root, another user runs PostgreSQL, which refuses root.
"""

from __future__ import annotations

import http.client
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from tenantry_sandbox.process import allocate

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
"""Where Debian installs the server's programs, which it keeps off PATH."""


class Server(NamedTuple):
    """address: for Pulumi. restart: ends the server and starts it with the data that it had; gives its port."""

    address: str
    restart: Callable[[], int]


@contextmanager
def postgresql() -> Iterator[Server]:
    """Ends with the test, also if the test is interrupted. A restart ends it at once, so it recovers from its log."""
    root = Path(tempfile.mkdtemp(prefix="tenantry-postgresql-"))
    user = _user()
    port = allocate(["postgresql"], {})["postgresql"]
    command = [
        str(PROGRAMS[-1] / "postgres"),
        "-D",
        str(root / "data"),
        "-p",
        str(port),
        "-k",
        str(root),
        "-c",
        "listen_addresses=127.0.0.1",
        "-F",
    ]
    running: list[subprocess.Popen[bytes]] = []

    def start() -> int:
        server = _process(command, root, user, subprocess.DEVNULL)
        running.append(server)
        _wait(port, server)
        return port

    def end() -> None:
        for server in running:
            server.send_signal(signal.SIGQUIT)
            server.wait(30)
        running.clear()

    def restart() -> int:
        end()
        return start()

    try:
        shutil.chown(root, *user)
        _initialize(root, user)
        start()
        yield Server(f"postgres://pulumi@127.0.0.1:{port}/postgres?sslmode=disable", restart)
    finally:
        end()
        shutil.rmtree(root, ignore_errors=True)


@contextmanager
def store() -> Iterator[Server]:
    """An empty bucket. It is in the memory of this process: a restart keeps it, and an interrupted test leaves nothing."""
    from moto.server import ThreadedMotoServer

    def start() -> int:
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        running.append(server)
        return int(server.get_host_and_port()[1])

    def restart() -> int:
        running.pop().stop()
        return start()

    running: list[ThreadedMotoServer] = []
    try:
        port = start()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        with closing(connection):
            for method, path in (
                ("POST", "/moto-api/reset"),
                ("PUT", "/state"),
            ):  # the tests of a process share what is kept
                connection.request(method, path)
                answer = connection.getresponse()
                assert answer.status == http.HTTPStatus.OK, answer.read()
                answer.read()
        yield Server(f"s3://state?region=us-east-1&endpoint=http://127.0.0.1:{port}&s3ForcePathStyle=true", restart)
    finally:
        for each in running:
            each.stop()


def _process(command: list[str], root: Path, user: tuple[int, int], output: int) -> subprocess.Popen[bytes]:
    """A program of a user, in a session of its own. output: where what it prints goes, errors too."""
    return subprocess.Popen(
        command,
        user=user[0],
        group=user[1],
        cwd=root,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _initialize(root: Path, user: tuple[int, int]) -> None:
    """Make the data directory. If that is interrupted, initdb's own processes end too, and write no more."""
    command = [str(PROGRAMS[-1] / "initdb"), "-D", str(root / "data"), "-U", "pulumi", "-A", "trust", "-N"]
    with _process(command, root, user, subprocess.PIPE) as process:
        try:
            said, _ = process.communicate()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    assert process.returncode == 0, said


def _user() -> tuple[int, int]:
    if os.geteuid():
        return os.geteuid(), os.getegid()
    found = pwd.getpwnam("postgres")
    return found.pw_uid, found.pw_gid


def _wait(port: int, server: subprocess.Popen[bytes]) -> None:
    ready = [str(PROGRAMS[-1] / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
    for _ in range(300):
        if subprocess.run(ready, check=False).returncode == 0:
            return
        assert server.poll() is None, "PostgreSQL ended"
        time.sleep(0.1)
    raise AssertionError("PostgreSQL does not answer")
