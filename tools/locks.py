"""One builder at a time per module. The system takes a lock back when its holder ends, however it ends."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def held(path: Path, waiting: Callable[[str], AbstractContextManager[None]]) -> Iterator[None]:
    """Hold the lock. While another holds it, `waiting` is entered with words for who that is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        if not _taken(file):
            with waiting(_holder(file)):
                fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(f"process {os.getpid()}, since {time.strftime('%H:%M:%S')}")
        file.flush()
        yield


def _taken(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(file: TextIO) -> str:
    file.seek(0)
    # The holder writes its name a moment after it took the lock.
    return file.read() or "another process"
