"""What an address is made of: the one parser of URLs in tenants.yaml.

Programs disagree about unusual URLs: one drops `;x` from a path and then resolves `..`, another takes a fullwidth dot for a dot. So
every part has a set of characters, and an address with any other is none. What is left is read alike by all of them.

Called by: `flux.addresses`, which knows the forms of each kind of object; `fleet.reach`, which compares addresses with grants.
Never: shares code with `tests/properties/reading.py`, which reads them a second time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import NamedTuple

_PORTS = {
    **{"http": 80, "https": 443, "oci": 443, "s3": 443, "ssh": 22},
    **{"nats": 4222, "sb": 5671, "tls": 4222, "ws": 80, "wss": 443},
}
"""The ports that programs use where an address names none."""
_MOST = 2048
"""The most characters that Flux takes."""

_SCHEME = re.compile(r"([a-z][a-z0-9]*)://")
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_USER_OF_SSH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_HOST_AND_PORT = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::(.*))?")
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
# No `.` or space at the beginning, except for one dot as in `.github`: `..`, `..%20` and `...` are parents for some servers.
_SEGMENT = re.compile(r"\.?[A-Za-z0-9_~+@:=-]([A-Za-z0-9._~+@:=-]|%20)*")
_NOT_IN_PATH = re.compile(r"[^A-Za-z0-9._~+@:=/%-]|%(?!20)")
_NOT_IN_QUERY = re.compile(r"[^A-Za-z0-9._~!$'()*,:@/+=&%-]|%(?![0-9A-Fa-f]{2})")


class BadAddress(ValueError):
    """The address is none. The text says why, as what follows "the address", and never quotes the address."""


class Address(NamedTuple):
    """An address in parts. host: in small letters. port: 0 if none is known. path: without a slash at its end."""

    scheme: str
    user: str
    host: str
    port: int
    path: str
    query: str


def read(text: str) -> Address:
    """The address in parts. Raises: BadAddress: programs could read it in different ways, or not at all."""
    address = _read(text)
    if isinstance(address, str):
        raise BadAddress(address)
    return address


def is_address(text: str) -> bool:
    """Whether all programs read the address alike."""
    return not isinstance(_read(text), str)


def is_path(text: str) -> bool:
    """Whether a text can stand in the path of an address, between two slashes, and leads nowhere else."""
    return all(map(_SEGMENT.fullmatch, text.split("/")))


@lru_cache(maxsize=1024)
def _read(text: str) -> Address | str:
    """The address, or what is wrong with it."""
    scheme = _SCHEME.match(text)
    if scheme is None:
        return "does not begin with a scheme in small letters, such as 'https://'"
    if len(text) > _MOST:
        return f"is longer than {_MOST} characters"
    authority, slash, rest = text[scheme.end() :].partition("/")
    user, at, host_and_port = authority.rpartition("@")
    path, question, query = rest.partition("?")
    problem = (
        (_user_problem(scheme[1], user) if at else "")
        or _port_problem(host_and_port)
        or (_path_problem(path) if slash else "")
        or _unexpected(query, _NOT_IN_QUERY, "query")
    )
    if problem:
        return problem
    parts = _HOST_AND_PORT.fullmatch(host_and_port)
    assert parts
    port = int(parts[2]) if parts[2] else _PORTS.get(scheme[1], 0)
    path = f"/{path.removesuffix('/')}" if path else ""
    return Address(scheme[1], user, parts[1].lower(), port, path, question + query)


def _user_problem(scheme: str, user: str) -> str:
    if ":" in user:
        return "contains a password"
    # A dot would let `https://git.example.com@evil.example.com/` look like the host that it is not.
    form = _USER_OF_SSH if scheme == "ssh" else _USER
    return "" if form.fullmatch(user) else "has a user with other characters than letters, digits, '_' and '-'"


def _port_problem(host_and_port: str) -> str:
    """What is wrong with host or port; "" for nothing."""
    parts = _HOST_AND_PORT.fullmatch(host_and_port)
    if parts is None:
        return "has no valid host"
    if parts[2] is not None and not (_PORT.fullmatch(parts[2]) and int(parts[2]) < 2**16):
        return "has a port that is not a number from 1 to 65535"
    return _host_problem(parts[1])


def _host_problem(host: str) -> str:
    if host.startswith("["):
        return (
            ""
            if _is_ipv6(host[1:-1])
            else "has an IPv6 address that is not in its shortest form, such as '[2001:db8::1]'"
        )
    if not host.isascii():
        return "has a host with other characters than ASCII; a name in another script is written as 'xn--...'"
    labels = host.lower().split(".")
    if not all(map(_LABEL.fullmatch, labels)) or len(host) > 253:
        return "has no valid host: names consist of letters, digits and '-', with single dots between them"
    if _NUMBER.fullmatch(labels[-1]):
        try:
            IPv4Address(host)
        except AddressValueError:
            return "has a number for a host that is no IPv4 address of four numbers"
    return ""


def _path_problem(path: str) -> str:
    if not path or is_path(path.removesuffix("/")):
        return ""
    if "//" in f"/{path}":
        return _unexpected(path, _NOT_IN_PATH, "path") or "has two slashes in a row in its path"
    return _unexpected(path, _NOT_IN_PATH, "path") or "has dots or a space for a directory in its path"


def _unexpected(text: str, unknown: re.Pattern[str], part: str) -> str:
    """The first character that a part of an address cannot have. Only punctuation is shown: anything else could be a secret."""
    match = unknown.search(text)
    if match is None:
        return ""
    if match[0] == "%":
        return f"has an encoded character in its {part} that programs decode differently"
    if match[0].isascii() and match[0].isprintable():
        return f"contains '{match[0]}' in its {part}"
    return f"contains the character U+{ord(match[0]):04X} in its {part}"


def _is_ipv6(text: str) -> bool:
    """Whether a text is an IPv6 address in its only form; an IPv4 address within one would be a second form of that."""
    try:
        address = IPv6Address(text)
    except AddressValueError:
        return False
    return address.ipv4_mapped is None and address.scope_id is None and str(address) == text.lower()
