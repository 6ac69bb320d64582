"""Pauses Python's search for cycles of references, which has nothing to find while a fleet is read, planned or compared.

Called by: what makes millions of objects and no cycle. A test holds it to that.
Never: pauses the search in a command that goes on for long.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Search for no cycles in the body. Searching took a fifth of the time of a plan of 70,000 objects."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
