"""A Python that has already imported the command line and the Pulumi program: each script it is given runs in a fork of it.

A start of `tenantry` takes half a second, one of the program with Pulumi's SDK a second, and tests start them hundreds of times. A
fork takes milliseconds, and has arguments, environment, directory, streams and an exit code of its own like any process.
"""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import platform
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from functools import cache
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


_PYTHON = """\
#!/bin/sh
case "$*" in
*/pulumi-language-python-exec\\ *) exec {home}/resident "$@" ;;
--version) exec echo Python {version} ;;
-m\\ pip\\ list\\ *) [ -f {home}/packages ] || {{ {python} "$@" > {home}/packages.$$ && mv {home}/packages.$$ {home}/packages; }}
  exec cat {home}/packages ;;
esac
exec {python} "$@"
"""
"""The Python of a virtual environment. Before each run Pulumi asks for its version and all packages, which takes half a second."""


@contextmanager
def resident() -> Iterator[Path]:
    """Start one. Yields: a directory with the programs `tenantry`, and `resident`, which runs the script that it is given; and with
    `venv`, a virtual environment for Pulumi's projects.
    """
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        real = Path(sys.executable).parent
        client, tenantry = home / "resident", home / "tenantry"
        client.write_text(_CLIENT.format(python=sys.executable, address=str(home / "socket")))
        tenantry.write_text(f'#!/bin/sh\nexec {shlex.quote(str(client))} {shlex.quote(str(real / "tenantry"))} "$@"\n')
        binaries = home / "venv" / "bin"
        binaries.mkdir(parents=True)
        for file in real.iterdir():
            if not file.name.startswith("python"):
                (binaries / file.name).symlink_to(file)
        for name in ("lib", "pyvenv.cfg"):
            (home / "venv" / name).symlink_to(real.parent / name)
        python = binaries / "python"
        python.write_text(
            _PYTHON.format(
                home=shlex.quote(directory), python=shlex.quote(sys.executable), version=platform.python_version()
            )
        )
        for program in (client, tenantry, python):
            program.chmod(0o755)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as server:
            server.bind(str(home / "socket"))
            server.listen(16)
            command = [sys.executable, "-m", "tests.resident", str(server.fileno())]
            # It ends with its standard input, so also when this process is killed.
            process = subprocess.Popen(command, cwd=REPOSITORY, pass_fds=[server.fileno()], stdin=subprocess.PIPE)
        try:
            yield home
        finally:
            process.communicate()


@cache
def programs() -> Path:
    """The directory of one that lives as long as this process."""
    opened = ExitStack()
    atexit.register(opened.close)
    return opened.enter_context(resident())


def _serve(server: socket.socket) -> NoReturn:
    _warm_up()
    while server in select.select([server, sys.stdin], [], [])[0]:
        connection, _ = server.accept()
        with connection:
            if os.fork() == 0:
                server.close()
                _answer(connection)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    sys.exit()


def _warm_up() -> None:
    """Do once what each command would do at its start: imports, Flux's schemas and rules, and a client of an API server."""
    import importlib
    import urllib.request  # for the scripts of .ci

    import grpc.experimental  # for Pulumi's SDK
    import httpx2
    import pulumi

    from tenantry.cli.app import run

    assert urllib
    assert grpc
    httpx2.Client(base_url="https://localhost").close()
    # Five messages for each resource are a call of the engine each, which drops them.
    pulumi.log.debug = lambda *_, **__: None
    # Whatever a command or the program imports only where it needs it.
    for package in (REPOSITORY / "tenantry", REPOSITORY / "components", REPOSITORY / "sandbox" / "tenantry_sandbox"):
        for file in package.rglob("*.py"):
            if file.stem not in ("__init__", "__main__") and (file.parent / "__init__.py").exists():
                importlib.import_module(".".join(file.relative_to(package.parent).with_suffix("").parts))
    os.chdir(REPOSITORY / "examples" / "minimal")
    with redirect_stdout(io.StringIO()):
        assert run(["diff", "./tenants.yaml", "--output", "html"]) == 0
    gc.freeze()


def _answer(connection: socket.socket) -> NoReturn:
    call, streams, *_ = socket.recv_fds(connection, _LARGEST, 3)
    threading.Thread(target=_end_with, args=[connection], daemon=True).start()
    code = 1
    try:
        code = _run(*json.loads(call), streams)
    except Exception:
        traceback.print_exc()
    finally:
        connection.send(str(code).encode())
        os._exit(0)


def _end_with(connection: socket.socket) -> None:
    """End this process when the one that stands for it was killed."""
    connection.recv(1)
    os.kill(os.getpid(), signal.SIGKILL)


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
    tempfile.tempdir = None
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
