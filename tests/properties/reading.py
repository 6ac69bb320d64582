"""A second reading of addresses, which shares nothing with `tenantry.addresses`: whether one is below an address that is granted,
and which addresses an object of Flux has. An address that programs could read in two ways is below none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv6Address
from typing import Any, NamedTuple
from urllib.parse import urlsplit

_WORD = r"[A-Za-z0-9_~+@:=-]"
_ADDRESS = re.compile(
    r"(?P<scheme>[a-z][a-z0-9]*)://(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9._-]*)@)?(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])"
    rf"(?::(?P<port>[1-9][0-9]{{0,4}}))?(?P<path>(?:/\.?{_WORD}(?:{_WORD}|\.|%20)*)*)/?"
    r"(?P<query>\?(?:[A-Za-z0-9._~!$'()*,:@/+=&-]|%[0-9A-Fa-f]{2})*)?",
    re.ASCII,
)
_NAME = re.compile(r"(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.(?!$)|$))+", re.ASCII)
_NUMERIC = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)", re.ASCII)
_QUAD = re.compile(r"(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!$)|$)){4}", re.ASCII)
_PORTS = {
    **{"http": "80", "https": "443", "oci": "443", "s3": "443", "ssh": "22"},
    **{"nats": "4222", "sb": "5671", "tls": "4222", "ws": "80", "wss": "443"},
}


class _Address(NamedTuple):
    scheme: str
    host: str
    port: str
    path: tuple[str, ...]
    query: str


def is_below(address: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern allows an address: it is the same, the pattern ends with `/*` above it, or is `*`."""
    found = _understood(address)
    return found is not None and any(pattern == "*" or _covers(pattern, found) for pattern in patterns)


def _of_bucket(endpoint: str, bucket: str) -> str:
    """The address of a bucket."""
    host = endpoint.partition("://")[2] or endpoint
    return f"s3://{host.removesuffix('/')}/{bucket}"


def _of_event_hub(namespace: str, hub: str) -> str:
    """The address of an event hub. A namespace can be written as a whole host."""
    host = namespace if ".servicebus." in namespace else f"{namespace}.servicebus.windows.net"
    return f"sb://{host}/{hub}" if hub else f"sb://{host}"


def _covers(pattern: str, address: _Address) -> bool:
    granted = _understood(pattern.removesuffix("/*"))
    if granted is None or granted.query or address.query or granted[:3] != address[:3]:
        return False
    if pattern.endswith("/*"):
        return len(address.path) > len(granted.path) and address.path[: len(granted.path)] == granted.path
    return address.path == granted.path


def _understood(text: str) -> _Address | None:
    found = _ADDRESS.fullmatch(text)
    if found is None or len(text) > 2048 or "?" in text.split("/")[2]:
        return None
    scheme, host = found["scheme"], found["host"].lower()
    if found["user"] and "." in found["user"] and scheme != "ssh":
        return None
    if not _is_host(host) or int(found["port"] or 1) > 65535:
        return None
    path = tuple(found["path"].split("/")[1:])
    return _Address(scheme, host, found["port"] or _PORTS.get(scheme, ""), path, found["query"] or "")


def _is_host(host: str) -> bool:
    if host.startswith("["):
        try:
            address = IPv6Address(host[1:-1])
        except ValueError:
            return False
        return address.compressed == host[1:-1] and address.ipv4_mapped is None
    if _NUMERIC.fullmatch(host):
        return _QUAD.fullmatch(host) is not None
    return _NAME.fullmatch(host) is not None


def addresses(kind: str, spec: Mapping[str, Any]) -> Iterator[str]:
    """Each address that a controller connects to."""
    match kind:
        case "Bucket":
            there = "storage.googleapis.com" if spec.get("provider") == "gcp" else str(spec.get("endpoint"))
            yield _of_bucket(there, str(spec.get("bucketName")))
            if sts := (spec.get("sts") or {}).get("endpoint"):
                yield str(sts)
        case "Receiver":
            yield from (str(issuer.get("issuerURL")) for issuer in spec.get("oidcProviders") or ())
        case "Provider":
            yield from _of_provider(spec)


def _of_provider(spec: Mapping[str, Any]) -> Iterator[str]:
    """The same of an alert's provider: a list for NATS, and names in place of an address for services of clouds."""
    address, channel = str(spec.get("address") or ""), str(spec.get("channel") or "")
    match spec.get("type"):
        case "azureeventhub" if channel:
            yield _of_event_hub(channel, address)
        case "googlepubsub" if address:
            yield f"pubsub://{address}/{channel}"
        case "bitbucket" if address:
            yield f"https://bitbucket.org/{urlsplit(address).path.lstrip('/')}"
        case "nats" if address:
            yield from address.split(",")
        case _ if address:
            yield address
    if spec.get("proxy"):
        yield str(spec["proxy"])
