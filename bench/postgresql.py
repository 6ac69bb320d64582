"""A PostgreSQL server of a measurement's own. If that runs as root, another user runs the server, which refuses root."""

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

from tenantry_sandbox.process import allocate

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
"""Where Debian installs the server's programs, which it keeps off PATH."""


@contextmanager
def postgresql() -> Iterator[str]:
    """A server's address for Pulumi. It ends with the measurement, also if that is interrupted."""
    root = Path(tempfile.mkdtemp(prefix="tenantry-postgresql-"))
    user, port = _user(), allocate(["postgresql"], {})["postgresql"]
    data, listens = str(root / "data"), ("-p", str(port), "-k", str(root), "-c", "listen_addresses=127.0.0.1", "-F")
    running: list[subprocess.Popen[bytes]] = []
    try:
        shutil.chown(root, *user)
        initialized = _process(["initdb", "-D", data, "-U", "pulumi", "-A", "trust", "-N"], root, user)
        running.append(initialized)
        assert initialized.wait() == 0, "initdb fails"
        running.append(_process(["postgres", "-D", data, *listens], root, user))
        _wait(port, running[-1])
        yield f"postgres://pulumi@127.0.0.1:{port}/postgres?sslmode=disable"
    finally:
        for process in running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGQUIT)
                process.wait(30)
        shutil.rmtree(root, ignore_errors=True)


def _process(command: list[str], root: Path, user: tuple[int, int]) -> subprocess.Popen[bytes]:
    """A program of a user, in a session of its own."""
    return subprocess.Popen(
        [str(PROGRAMS[-1] / command[0]), *command[1:]],
        user=user[0],
        group=user[1],
        cwd=root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


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
