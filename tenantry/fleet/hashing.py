"""A number that follows from a name alone, for choices that stay the same from run to run."""

from __future__ import annotations

import hashlib


def key_of(name: str) -> int:
    """64 bits of the name's hash, the same in every version of the program."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
