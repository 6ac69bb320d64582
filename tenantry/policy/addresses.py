"""Whether an address is below one that the main file grants. An address that programs could read in two ways is below none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_ADDRESS = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?:[A-Za-z0-9._-]+@)?(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])"
    r"(?::(?P<port>[0-9]{1,5}))?(?P<path>(?:/[^\s\\%?#/]+)*)/?",
    re.IGNORECASE,
)
_PORTS = {"http": "80", "https": "443", "oci": "443", "s3": "443", "ssh": "22"}
_REGISTRY = re.compile(r"[^/]*[.:][^/]*|localhost")


class _Address(NamedTuple):
    scheme: str
    host: str
    port: str
    path: tuple[str, ...]


def is_below(address: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern allows an address: it is the same, the pattern ends with `/*` above it, or is `*`."""
    patterns = tuple(patterns)
    found = _read(address)
    return "*" in patterns or (found is not None and any(_covers(each, found) for each in patterns))


def of_image(image: str) -> str:
    """The address of an image repository, whose host may be left out."""
    host, slash, _ = image.partition("/")
    if slash and _REGISTRY.fullmatch(host):
        return f"oci://{image}"
    return f"oci://docker.io/{image}" if slash else f"oci://docker.io/library/{image}"


def of_bucket(endpoint: str, bucket: str) -> str:
    """The address of a bucket."""
    return f"s3://{endpoint.partition('://')[2] or endpoint}/{bucket}"


def _covers(pattern: str, address: _Address) -> bool:
    granted = _read(pattern.removesuffix("/*"))
    if granted is None or granted[:3] != address[:3]:
        return False
    if pattern.endswith("/*"):
        return len(address.path) > len(granted.path) and address.path[: len(granted.path)] == granted.path
    return address.path == granted.path


def _read(text: str) -> _Address | None:
    found = _ADDRESS.fullmatch(text)
    if found is None:
        return None
    path = tuple(found["path"].split("/")[1:])
    if "." in path or ".." in path:
        return None
    scheme = found["scheme"].lower()
    return _Address(scheme, found["host"].lower(), found["port"] or _PORTS.get(scheme, ""), path)
