"""Commands in a pseudo-terminal of a given width, to see what a person sees."""

from __future__ import annotations

import os
import pty
import re
import signal
import sys
import termios
import traceback
import warnings
from collections.abc import Callable, Sequence

from tenantry.cli.app import run

_STYLE = re.compile(r"\x1b\[[0-9;]*m")


Keys = Sequence[tuple[str, str]]
"""What to type, each after a text has appeared that was not there before."""
INTERRUPT = "\x03"
"""Ctrl-C."""
_MOST_SECONDS = 120
"""After this time the system ends a command that waits for what does not come."""


def tenantry_in_terminal(*arguments: str, columns: int, keys: Keys = ()) -> tuple[int, str]:
    """Exit code and screen of a command, stdout and stderr together."""
    return in_terminal(lambda: run(list(arguments)), columns, keys)


def in_terminal(action: Callable[[], int], columns: int, keys: Keys = ()) -> tuple[int, str]:
    """Run something in a fork of this process: quicker than an interpreter of its own, and what a test patched stays patched."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # pytest-xdist's threads; the fork uses none of them
        process, terminal = pty.fork()
    if process == 0:
        _child(action, columns)
    with os.fdopen(terminal, "rb", buffering=0) as opened:
        screen = _screen(opened.fileno(), keys).decode()
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), screen.replace("\r\n", "\n")


def _screen(terminal: int, keys: Keys) -> bytes:
    """All that the terminal showed until its process ended."""
    shown, seen, waiting = b"", 0, list(keys)
    while part := _read(terminal):
        shown += part
        while waiting and waiting[0][0].encode() in shown[seen:]:
            seen = len(shown)
            os.write(terminal, waiting.pop(0)[1].encode())
    return shown


def plain(screen: str) -> str:
    """A screen without colours."""
    return _STYLE.sub("", screen)


def _child(action: Callable[[], int], columns: int) -> None:
    code = 70
    try:
        # A process in the background of a script ignores Ctrl-C, and so would its children.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.alarm(_MOST_SECONDS)
        termios.tcsetwinsize(0, (40, columns))
        sys.stdin = open(0, closefd=False)  # noqa: SIM115  as below
        sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115  # descriptors
        code = action()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux tells that the other end is closed
        return b""
