"""What the pause of Python's search for cycles leaves behind."""

from __future__ import annotations

import gc
import subprocess
import sys

_PROGRAM = """
import gc, weakref
from tenantry.messages.cycles import run_one_command, uncollected

class Node:
    pass

run_one_command()
searches = []
gc.callbacks.append(lambda phase, info: searches.append(info["generation"]))
with uncollected():
    made = [[] for _ in range(100_000)]
    node = Node()
    node.itself = node
    reference = weakref.ref(node)
    del node
more = [[] for _ in range(100)]
assert not searches, searches
assert not gc.get_freeze_count()
gc.collect()
assert reference() is None
"""


def test_what_was_made_meanwhile_is_searched_late_and_not_never() -> None:
    """In a process of its own: the one that runs the tests has frozen objects."""
    assert gc.isenabled()
    subprocess.run([sys.executable, "-c", _PROGRAM], check=True)
