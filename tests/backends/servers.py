"""A PostgreSQL server of a test's own. Another user runs it if the tests run as root, which the server refuses."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tenantry.sandbox.ports import allocate

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
"""Where Debian installs the server's programs, which it keeps off PATH."""


@contextmanager
def postgresql() -> Iterator[str]:
    """The address for Pulumi. The server ends with the test, also if the test is interrupted."""
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
