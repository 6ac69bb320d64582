"""Pauses Python's search for cycles of references, which has nothing to find while a fleet is read, planned or compared.

Called by: what makes millions of objects and no cycle. A test holds it to that.
Never: pauses the search in a command that goes on for long.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_runs_one_command = False
_kept: list[object] = []


def run_one_command() -> None:
    """Say that this process ends with its command, and that nothing else has frozen objects.

    What is made below `uncollected` then counts as old afterwards. Otherwise Python searches all of it as soon as the body
    ends, which took a sixth of the time of `tenantry explain`.
    """
    global _runs_one_command
    _runs_one_command = True


def keep(*made: object) -> None:
    """Keep what a command needs until it ends, if the process ends with it. Freeing a large plan takes time for nothing."""
    if _runs_one_command:
        _kept.extend(made)


@contextmanager
def uncollected() -> Iterator[None]:
    """Search for no cycles in the body. Searching took a fifth of the time of a plan of 70,000 objects."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if _runs_one_command:
                # Both move lists of objects without reading them. Nothing stays frozen, so a later search still frees cycles.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
