"""Finds free loopback ports, and says which process uses one that is needed.

Free ports are taken from below the range that the kernel hands to outgoing connections. A port out of that range can be
gone by the time its server starts: the API servers alone open a hundred connections to etcd meanwhile.
Several sandboxes may start at the same time: a process claims the ports that it chooses until it ends.
"""

import errno
import random
import socket
import sys
from collections.abc import Collection, Iterable
from itertools import chain

import psutil

from tenantry.sandbox.errors import SandboxError

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
