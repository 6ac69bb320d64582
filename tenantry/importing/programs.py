"""Runs kustomize: with bounded time, memory and output, without a network, and without the secrets of the environment.

It gets an environment of its own, no input, and a process group that is killed as a whole.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

SECONDS = 60
OUTPUT = 32 * 2**20
"""The most bytes that a program may write to its output or to a file."""
_MEMORY = 4 * 2**20
"""Kilobytes of data a process may hold. Go begins to save memory far below."""
_ADDRESSES = 4 * _MEMORY
"""The same for all that it maps, also what it shares and what it only reserves, of which Go takes much."""
_LIMITED = (
    f"ulimit -d {_MEMORY} 2>/dev/null; ulimit -v {_ADDRESSES} 2>/dev/null; ulimit -c 0;"
    ' ulimit -f "$1" || exit 126; shift; exec "$@"'
)
"""A shell sets the limits, because Python cannot set them safely for a child while it has several threads."""
_MESSAGE = 2_000

_OFFLINE = {"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
"""A proxy that does not exist: what is built needs no network."""


class NotBuilt(Exception):
    """What a source contains cannot be read or built: the path does not exist, or a program refuses it."""


def run(
    command: Sequence[str],
    directory: Path,
    variables: Mapping[str, str],
    *,
    seconds: float = SECONDS,
    most: int = OUTPUT,
) -> bytes:
    """What a program prints. Raises: NotBuilt: it failed, with its own message."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = _wait(_start(command, directory, variables, most, (out.fileno(), err.fileno())), seconds)
        if code == 0:
            out.seek(0)
            return out.read()
        err.seek(0)
        said = err.read(4 * _MESSAGE).decode(errors="replace").strip()
    name = Path(command[0]).name
    if code is None:
        raise NotBuilt(f"{name} took longer than {seconds:.0f} s")
    if code in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ) or "file too large" in said:
        raise NotBuilt(f"{name} wrote more than {most // 2**20} MiB")
    raise NotBuilt(_shortened(said) or f"{name} ended with exit code {code}")


def _start(
    command: Sequence[str], directory: Path, variables: Mapping[str, str], most: int, streams: tuple[int, int]
) -> subprocess.Popen[bytes]:
    inherited = {"PATH": os.environ.get("PATH", os.defpath)}
    environment = {**inherited, "LC_ALL": "C", "GOMEMLIMIT": "1GiB", **_OFFLINE, **variables}
    return subprocess.Popen(
        ["/bin/sh", "-c", _LIMITED, "sh", str(most // 512), *command],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=streams[0],
        stderr=streams[1],
        start_new_session=True,
    )


def _wait(child: subprocess.Popen[bytes], seconds: float) -> int | None:
    """The exit code; None: the time is over. Nothing of the program is left in any case."""
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


_NOISE = re.compile(r"[IWEF]\d{4} \d\d:\d\d:\d\d|# Warning: |WARNING: ")
"""What begins a line of a Go program's log, or of a warning, and not of the cause."""


def _shortened(said: str) -> str:
    """The end of a message, where the cause stands, without the prefix of Go programs and what they log."""
    lines = [line for line in said.splitlines() if not _NOISE.match(line)]
    return ("\n".join(lines).strip() or said).removeprefix("Error: ").removeprefix("error: ")[:_MESSAGE]
