"""Choices that follow from a name alone, and so stay the same from run to run: a number, and one of several shards."""

from __future__ import annotations

import hashlib


def key_of(name: str) -> int:
    """64 bits of the name's hash, the same in every version of the program."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")


def shard_of(name: str, count: int) -> int:
    """The shard of a tenant, or of whatever has a name: 1 to count.

    When the count grows, names move to new shards only, and no more of them than needed.
    Source: J. Lamping, E. Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm", 2014.
    """
    key = key_of(name)
    bucket, step = -1, 0
    while step < count:
        bucket = step
        key = (key * 2862933555777941757 + 1) & 0xFFFF_FFFF_FFFF_FFFF
        step = int((bucket + 1) * ((1 << 31) / ((key >> 33) + 1)))
    return bucket + 1
