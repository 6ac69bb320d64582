"""Starts, recognises and ends the processes of a sandbox: free ports, probes, and which process uses a port that is needed."""

import errno
import http.client
import os
import random
import signal
import socket
import ssl
import sys
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from itertools import chain
from pathlib import Path

import psutil

from tenantry.sandbox.layout import SandboxError

CLOCK_TOLERANCE = 2.0
"""Seconds by which the start time of one process may seem to differ: the kernel derives it from a boot time that is adjusted."""
POLL = 0.02
SETTLING = 0.001
KILLED_AFTER = 5.0
"""Seconds the kernel may take to end a process that was killed."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process that was started, as the file has it."""

    pid: int
    created: float
    argv: tuple[str, ...]

    def find(self) -> psutil.Process | None:
        """The running process, or None if it has ended, even when something else has its pid now."""
        try:
            process = psutil.Process(self.pid)
            with process.oneshot():
                ended = process.status() == psutil.STATUS_ZOMBIE
                another = abs(process.create_time() - self.created) > CLOCK_TOLERANCE
                if ended or another or tuple(process.cmdline()) != self.argv:
                    return None
        except psutil.Error:
            return None
        return process

    def exit_code(self) -> int | None:
        """Its exit code; None: it runs, or another command started it."""
        try:
            return psutil.Process(self.pid).wait(timeout=0)
        except psutil.Error:
            return None


def start(argv: tuple[str, ...], environment: Mapping[str, str], log: Path) -> Process:
    """Start a process in its own session, so that neither ^C nor the end of this command reaches it."""
    log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    pid = os.posix_spawn(
        argv[0],
        argv,
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
        # Python ignores this one, and a child would inherit that.
        setsigdef=[signal.SIGPIPE],
    )
    return Process(pid, _settled(pid).create_time(), argv)


def _settled(pid: int) -> psutil.Process:
    """The process once it has its command line: for an instant after the start it has none, and would not be recognised."""
    process = psutil.Process(pid)
    with suppress(psutil.Error):
        while not process.cmdline():
            time.sleep(SETTLING)
    return process


def stop(processes: Iterable[Process], grace: float) -> None:
    """End the processes in parallel; those that still run after `grace` seconds are killed."""
    stubborn = _signal([process for process in processes if process.find()], signal.SIGTERM, grace)
    _signal(stubborn, signal.SIGKILL, KILLED_AFTER)


def _signal(processes: list[Process], number: signal.Signals, seconds: float) -> list[Process]:
    """Send the signal and wait; returns the processes that still run."""
    for process in processes:
        if found := process.find():
            with suppress(psutil.NoSuchProcess):
                found.send_signal(number)
    deadline = time.monotonic() + seconds
    running = processes
    while (running := [process for process in running if process.find()]) and time.monotonic() < deadline:
        time.sleep(POLL)
    for process in processes:
        # Asking for the exit code is what makes an ended child disappear.
        process.exit_code()
    return running


HOST = "127.0.0.1"
FREE = range(20000, 32000)
_claims: list[int] = []
"""File descriptors; the process closes them at its end."""
FIX = "stop its holder (a sandbox by `tenantry sandbox down`), or use another port in the environment's variables"


def allocate(names: Iterable[str], known: dict[str, int], avoid: Collection[int]) -> dict[str, int]:
    """Give every name a port: the one it had before, or a free one."""
    ports = dict(known)
    taken = {*known.values(), *avoid}
    for name in names:
        if name not in ports:
            ports[name] = _free(taken)
            taken.add(ports[name])
    return ports


def require(ports: Iterable[int], purpose: str) -> None:
    """Check that every port can be listened on.

    Args:    purpose: why exactly this port is needed, as a relative clause, e.g. "which the sources of 'dev' name".
    Raises:  SandboxError: names the first port that cannot, and its holder where the system tells.
    """
    for port in ports:
        obstacle = _obstacle(port)
        if obstacle == errno.EACCES:
            message = f"port {port}, {purpose}, may not be listened on by this user"
            raise SandboxError(message, "use a port of 1024 or above in the environment's variables")
        if obstacle is not None:
            message = f"port {port} on {HOST}, {purpose}, is already in use{_holder(port)}"
            raise SandboxError(message, FIX)


def _free(taken: Collection[int]) -> int:
    first = random.randrange(len(FREE))
    for port in chain(FREE[first:], FREE[:first]):
        if port not in taken and _claim(port) and _obstacle(port) is None:
            return port
    raise SandboxError(
        f"no free port between {FREE.start} and {FREE.stop} on {HOST}", "stop other servers on this machine"
    )


def _claim(port: int) -> bool:
    """Keep other processes from choosing the port before its server listens; False: another one has chosen it.

    An abstract address of a Unix socket is free again when its process ends, and leaves no file. Only Linux has them.
    """
    if sys.platform != "linux":
        return True
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0tenantry-port-{port}")
    except OSError:
        claim.close()
        return False
    _claims.append(claim.detach())
    return True


def _obstacle(port: int) -> int | None:
    """Why the port cannot be listened on, as an errno; None if it can."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Servers set this too: without it a connection that lingers after a stop would look like a holder.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            probe.listen(1)
        except OSError as refusal:
            return refusal.errno
    return None


def _holder(port: int) -> str:
    """Who listens on the port, ready to be put behind the statement that it is in use; empty if the system does not tell."""
    try:
        connections = psutil.net_connections(kind="tcp")
        for connection in connections:
            listens = connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port
            if listens and connection.pid:
                return f" by {_describe(psutil.Process(connection.pid))}"
    except psutil.Error:
        return ""
    return ""


def _describe(process: psutil.Process) -> str:
    arguments = process.cmdline()
    if "tenantry.sandbox.server" in arguments:
        root = arguments[arguments.index("tenantry.sandbox.server") + 1]
        return f"the sandbox in {root} (pid {process.pid})"
    return f"{process.name()} (pid {process.pid})"


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
