"""Whether a granted address pattern allows an address.

Both are compared in parts, as the programs that connect take them apart. What is no address by `tenantry.addresses` is
allowed by no pattern, and an address with a query by `*` alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from tenantry.addresses import Address, BadAddress, read
from tenantry.messages.placeholders import TOKEN

ANY = "*"
_BELOW = "/*"


def is_allowed(address: str, patterns: Iterable[str]) -> bool:
    """Whether any of the patterns allows the address. Patterns have no placeholders left."""
    parts = _parts(address)
    return parts is not None and any(pattern == ANY or _allows(pattern, parts) for pattern in patterns)


def is_covered(pattern: str, patterns: Iterable[str]) -> bool:
    """Whether other patterns allow everything that a pattern allows, whatever placeholders become; false where that is not sure."""
    patterns = tuple(patterns)
    if pattern in patterns or ANY in patterns:
        return True
    parts = _parts(_with_words(pattern).removesuffix(_BELOW))
    known = [_with_words(each) for each in patterns]
    if parts and pattern.endswith(_BELOW):
        return any(_allows(each, parts._replace(path=f"{parts.path}/")) for each in known if each.endswith(_BELOW))
    return parts is not None and any(_allows(each, parts) for each in known)


def _with_words(pattern: str) -> str:
    """The pattern with a word for each placeholder that tells it from others."""
    return TOKEN.sub(lambda match: match[0] if match[1] is None else f"x{match[1].encode().hex()}x", pattern)


def _allows(pattern: str, address: Address) -> bool:
    granted = _parts(pattern.removesuffix(_BELOW))
    if granted is None or granted.query or address.query:
        return False
    if (granted.scheme, granted.host, granted.port) != (address.scheme, address.host, address.port):
        return False
    return address.path.startswith(f"{granted.path}/") if pattern.endswith(_BELOW) else address.path == granted.path


def _parts(address: str) -> Address | None:
    try:
        return read(address)
    except BadAddress:
        return None
