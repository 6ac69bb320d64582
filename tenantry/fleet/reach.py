"""Whether a granted address pattern allows an address.

Both are compared in parts, as the programs that connect take them apart. An address that could mean another place to one of
them, such as one with `..` in its path, is allowed by no pattern but `*`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import SplitResult, urlsplit

_PORTS = {"http": 80, "https": 443, "ssh": 22, "oci": 443, "s3": 443}
_AMBIGUOUS = re.compile(r"[\\%?#\s\x00-\x1f]|//|(^|/)\.{1,2}(/|$)")
_HOST = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?|\[[0-9a-f:.]+\]")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_DOCKER = "docker.io"


def is_allowed(address: str, patterns: Iterable[str]) -> bool:
    """Whether any of the patterns allows the address."""
    patterns = tuple(patterns)
    if "*" in patterns:
        return True
    parts = _parts(address)
    return parts is not None and any(_allows(pattern, parts) for pattern in patterns)


def image_address(image: str) -> str:
    """The address of an image repository. Source: github.com/distribution/reference, "normalize"."""
    host, slash, rest = image.partition("/")
    if slash and ("." in host or ":" in host or host == "localhost"):
        return f"oci://{host}/{rest}"
    return f"oci://{_DOCKER}/{image if slash else f'library/{image}'}"


def bucket_address(endpoint: str, bucket: str) -> str:
    """The address of a bucket at an endpoint, which may be a host or a URL."""
    return f"s3://{_SCHEME.sub('', endpoint).rstrip('/')}/{bucket}"


def _allows(pattern: str, address: tuple[str, str, int, str]) -> bool:
    below = pattern.endswith("/*")
    granted = _parts(pattern.removesuffix("/*"))
    if granted is None or granted[:3] != address[:3]:
        return False
    path = granted[3]
    return address[3].startswith(f"{path}/") if below else address[3] == path


@lru_cache(maxsize=256)
def _parts(address: str) -> tuple[str, str, int, str] | None:
    """Scheme, host, port and path without a slash at its end; None if the address is ambiguous."""
    try:
        found = urlsplit(address)
        port = found.port
    except ValueError:
        return None
    host = (found.hostname or "").lower()
    if not _is_plain(address, found, host):
        return None
    scheme = found.scheme.lower()
    return scheme, host, port or _PORTS.get(scheme, 0), found.path.rstrip("/")


def _is_plain(address: str, found: SplitResult, host: str) -> bool:
    scheme = _SCHEME.match(address)
    rest = address[scheme.end() :] if scheme else ""
    return bool(scheme) and bool(_HOST.fullmatch(host)) and not _AMBIGUOUS.search(rest) and found.password is None
