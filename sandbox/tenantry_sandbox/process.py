"""Starts, recognises and ends the processes of a sandbox; finds free ports for them, and probes whether they answer."""

import os
import random
import signal
import socket
import ssl
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2
import psutil

from tenantry_sandbox.layout import SandboxError

CLOCK_TOLERANCE = 2.0
"""Seconds by which the start of one process may seem to differ: the kernel rounds the time of the boot."""
EXITING = 1.0
"""Seconds between the moment at which an ending process has no command line any more and its exit code."""
KILLED_AFTER = 5.0
"""Seconds the kernel may take to end a process that was killed."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process that was started, as the file has it. created: seconds after the machine's boot."""

    pid: int
    created: float
    argv: tuple[str, ...]

    def find(self) -> psutil.Process | None:
        """The running process, or None if it has ended, even when something else has its pid now."""
        try:
            process = psutil.Process(self.pid)
            with process.oneshot():
                ended = process.status() == psutil.STATUS_ZOMBIE
                another = abs(_created(process) - self.created) > CLOCK_TOLERANCE
                if ended or another or tuple(process.cmdline()) != self.argv:
                    return None
        except psutil.Error:
            return None
        return process

    def exit_code(self) -> int | None:
        """Its exit code; None: it runs, or another command started it."""
        try:
            return psutil.Process(self.pid).wait(timeout=EXITING)
        except psutil.Error:
            return None


def _created(process: psutil.Process) -> float:
    """When a process started, in seconds after the boot: who sets the clock, or wakes the machine, moves both times alike."""
    return process.create_time() - psutil.boot_time()


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
        # What Python ignores and the supervisor blocks, a child would inherit.
        setsigdef=[signal.SIGPIPE],
        setsigmask=[],
    )
    process = psutil.Process(pid)
    with suppress(psutil.Error):
        # For an instant after the start it has no command line, and would not be recognised.
        while not process.cmdline():
            time.sleep(0.001)
    return Process(pid, _created(process), argv)


def stop(processes: Iterable[Process], grace: float) -> None:
    """End the processes in parallel; those that still run after `grace` seconds are killed."""
    running = [found for process in processes if (found := process.find())]
    for process in running:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _, stubborn = psutil.wait_procs(running, grace)
    for process in stubborn:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(stubborn, KILLED_AFTER)


HOST = "127.0.0.1"
FREE = range(20000, 32000)
"""Below the ports from which the kernel takes those of connections."""
_claims: list[int] = []
"""File descriptors; the process closes them at its end."""


def allocate(names: Iterable[str], known: Mapping[str, int]) -> dict[str, int]:
    """Give every name a port: the one it had before, or a free one. Raises: SandboxError: there is none."""
    ports = dict(known)
    for name in names:
        if name not in ports:
            ports[name] = _free({*ports.values()})
    return ports


def _free(taken: set[int]) -> int:
    for port in random.sample(FREE, len(FREE)):
        if port not in taken and _claim(port) and _can_be_listened_on(port):
            return port
    message = f"no free port between {FREE.start} and {FREE.stop} on {HOST}"
    raise SandboxError(message, "stop other servers on this machine")


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


def _can_be_listened_on(port: int) -> bool:
    with socket.socket() as probe, suppress(OSError):
        # Servers set this too: without it a connection that lingers after a stop would look like a holder.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((HOST, port))
        probe.listen(1)
        return True
    return False


TIMEOUT = 5.0


def answers(port: int, path: str, context: ssl.SSLContext | None = None) -> bool:
    """Whether the server answers a request for the path with success; a context means TLS."""
    url = f"{'https' if context else 'http'}://{HOST}:{port}{path}"
    try:
        return httpx2.get(url, verify=context or False, timeout=TIMEOUT, trust_env=False).is_success
    except httpx2.HTTPError:
        return False
