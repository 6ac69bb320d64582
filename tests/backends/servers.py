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
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tenantry.sandbox.ports import allocate

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
"""Where Debian installs the server's programs, which it keeps off PATH."""


@contextmanager
def postgresql() -> Iterator[str]:
    """Its address for Pulumi. The server ends with the test, also if the test is interrupted."""
    root = Path(tempfile.mkdtemp(prefix="tenantry-postgresql-"))
    user = _user()
    shutil.chown(root, *user)
    subprocess.run(
        [str(PROGRAMS[-1] / "initdb"), "-D", str(root / "data"), "-U", "pulumi", "-A", "trust", "-N"],
        check=True,
        capture_output=True,
        user=user[0],
        group=user[1],
        cwd=root,
    )
    port = allocate(["postgresql"], {}, ())["postgresql"]
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
    server = subprocess.Popen(
        command,
        user=user[0],
        group=user[1],
        cwd=root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait(port, server)
        yield f"postgres://pulumi@127.0.0.1:{port}/postgres?sslmode=disable"
    finally:
        server.send_signal(signal.SIGQUIT)
        server.wait(30)
        shutil.rmtree(root, ignore_errors=True)


@contextmanager
def store() -> Iterator[str]:
    """The address of an empty bucket for Pulumi. It is in the memory of this process, so an interrupted test leaves nothing."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        _, port = server.get_host_and_port()
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
        yield f"s3://state?region=us-east-1&endpoint=http://127.0.0.1:{port}&s3ForcePathStyle=true"
    finally:
        server.stop()


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
