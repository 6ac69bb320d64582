"""Takes sandboxes down while the tests go on, and also when the tests were killed.

The processes of a sandbox do not end with the test run that started them. So each test process has a caretaker: a process that
learns of every sandbox from its standard input. When that ends, the tests have ended, in whatever way, and the caretaker takes down
what is left. It has a session of its own: ^C does not reach it.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil

from tenantry_sandbox.layout import SandboxError
from tenantry_sandbox.up import down

REPOSITORY = Path(__file__).resolve().parents[2]
POLL = 0.1
ATTEMPTS = 60
"""Seconds for which a command of a killed test may still work on a sandbox."""


class Caretaker:
    """The caretaker as the tests see it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__], cwd=REPOSITORY, stdin=subprocess.PIPE, text=True, start_new_session=True
        )
        self._expected: set[Path] = set()
        self._leaving: set[Path] = set()

    def expect(self, root: Path) -> None:
        """There may be a sandbox in a directory from now on. An earlier one there is gone when this returns."""
        while root in self._leaving and root.exists():
            time.sleep(POLL)
        self._leaving.discard(root)
        self._expected.add(root)
        self._tell("expect", root)

    def has(self, root: Path) -> bool:
        """Whether a sandbox is in a directory, and is to stay."""
        return root.exists() and root not in self._leaving

    def take_down(self, root: Path) -> None:
        """End a sandbox and remove its directory, without waiting for it."""
        self._expected.discard(root)
        self._leaving.add(root)
        self._tell("down", root)

    def take_all_down(self) -> None:
        """End all sandboxes of this process, without waiting for them."""
        for root in tuple(self._expected):
            self.take_down(root)

    def close(self) -> None:
        """Wait until everything is down."""
        self._process.communicate()

    def _tell(self, word: str, root: Path) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word} {root}\n")
        self._process.stdin.flush()


@cache
def caretaker() -> Caretaker:
    """The one of this test process."""
    return Caretaker()


def take_all_down() -> None:
    """End all sandboxes of this process, if there is any."""
    if caretaker.cache_info().currsize:
        caretaker().take_all_down()


def close() -> None:
    """Wait for the caretaker to take everything down, if there is one."""
    if caretaker.cache_info().currsize:
        caretaker().close()


def serve(lines: Iterable[str]) -> None:
    expected: dict[str, None] = {}
    with ThreadPoolExecutor() as pool:
        for line in lines:
            word, root = line.removesuffix("\n").split(" ", 1)
            expected[root] = None
            if word == "down":
                del expected[root]
                pool.submit(_take_down, Path(root))
        for root in expected:
            pool.submit(_take_down, Path(root))


def _take_down(root: Path) -> None:
    for _ in range(ATTEMPTS):
        try:
            down(root, lambda _: None)
            return _end_programs(root)
        except SandboxError as refused:
            reason = refused
            time.sleep(1)
    print(f"{root} was not taken down: {reason.message}", file=sys.stderr)


def _end_programs(root: Path) -> None:
    """Kill what a Pulumi run has left that was killed: its language host and plugins run from the sandbox's directory."""
    for process in psutil.process_iter(["cmdline"]):
        if any(argument.startswith(f"{root}/") for argument in process.info["cmdline"] or ()):
            with suppress(psutil.Error):
                process.kill()


if __name__ == "__main__":
    serve(sys.stdin)
