"""A Python that has already imported the command line: each script it is given runs in a fork of it.

A start of `tenantry` takes half a second, and the pipelines start it very often. A fork takes milliseconds, and has
arguments, environment, directory, streams and an exit code of its own like any process.
"""

from __future__ import annotations

import gc
import io
import json
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import NoReturn

REPOSITORY = Path(__file__).resolve().parents[1]
_CLIENT = """\
#!{python} -IS
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.connect({address!r})
call = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)])
socket.send_fds(server, [call.encode()], [0, 1, 2])
sys.exit(int(server.recv(9)))
"""
_LARGEST = 100_000


@contextmanager
def resident() -> Iterator[Path]:
    """Start one. Yields: a directory with two programs: `tenantry`, and `resident`, which runs the script that it is given."""
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        client = home / "resident"
        client.write_text(_CLIENT.format(python=sys.executable, address=str(home / "socket")))
        tenantry = home / "tenantry"
        real = Path(sys.executable).with_name("tenantry")
        tenantry.write_text(f'#!/bin/sh\nexec {shlex.quote(str(client))} {shlex.quote(str(real))} "$@"\n')
        for program in (client, tenantry):
            program.chmod(0o755)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
            server.bind(str(home / "socket"))
            server.listen(16)
            command = [sys.executable, "-m", "tests.resident", str(server.fileno())]
            process = subprocess.Popen(command, cwd=REPOSITORY, pass_fds=[server.fileno()])
        try:
            yield home
        finally:
            process.terminate()
            process.wait()


def _serve(server: socket.socket) -> NoReturn:
    _warm_up()
    while True:
        connection, _ = server.accept()
        with connection:
            if os.fork() == 0:
                server.close()
                _answer(connection)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _warm_up() -> None:
    """Do once what each command would do at its start: imports, and Flux's schemas."""
    import urllib.request  # for the scripts of .ci

    from tenantry.cli.app import run

    assert urllib
    os.chdir(REPOSITORY / "examples" / "minimal")
    with redirect_stdout(io.StringIO()):
        assert run(["diff", "./tenants.yaml", "--output", "html"]) == 0
    gc.freeze()


def _answer(connection: socket.socket) -> NoReturn:
    call, streams, *_ = socket.recv_fds(connection, _LARGEST, 3)
    code = 1
    try:
        code = _run(*json.loads(call), streams)
    except Exception:
        traceback.print_exc()
    finally:
        connection.send(str(code).encode())
        os._exit(0)


def _run(arguments: list[str], directory: str, environment: dict[str, str], streams: list[int]) -> int:
    """Run a script as a process of its own would. Returns: its exit code."""
    import runpy

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # Those made at the start suit other files.
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode, closefd=False) for number, mode in enumerate("rww"))
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv, sys.path[0] = arguments, str(Path(arguments[0]).parent)
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
