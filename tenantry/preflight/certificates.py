"""Reads the validity of a certificate from its DER encoding. It verifies nothing.

Python's ssl module reads the dates of CA certificates only, and a cryptography library would be a large dependency for two dates.

Source: RFC 5280, section 4.1 (the fields and their order), ITU-T X.690 (their encoding).
"""

from __future__ import annotations

import base64
import re
from datetime import UTC, datetime
from typing import NamedTuple

_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----")

_SEQUENCE, _EXPLICIT_VERSION = 0x30, 0xA0
_TIMES = {0x17: "%y%m%d%H%M%SZ", 0x18: "%Y%m%d%H%M%SZ"}
"""UTCTime and GeneralizedTime, as RFC 5280 restricts them."""


class Validity(NamedTuple):
    begin: datetime
    end: datetime


class _Element(NamedTuple):
    """A DER element: its tag, and where its content begins and ends. The next element begins at `end`."""

    tag: int
    begin: int
    end: int


def validity(pem: bytes) -> Validity:
    """The validity of the first certificate in a PEM text. In a chain, the first certificate is the one whose key is used.

    Raises: ValueError: the text contains no valid certificate.
    """
    block = _PEM.search(pem)
    if block is None:
        raise ValueError("no certificate in PEM")
    der = base64.b64decode(block.group(1))
    certificate = _expect(der, 0, _SEQUENCE)
    signed = _expect(der, certificate.begin, _SEQUENCE)
    field = _element(der, signed.begin)
    if field.tag == _EXPLICIT_VERSION:
        field = _element(der, field.end)
    for _ in ("signature algorithm", "issuer", "validity"):
        field = _expect(der, field.end, _SEQUENCE)
    begin = _element(der, field.begin)
    return Validity(_time(der, begin), _time(der, _element(der, begin.end)))


def _element(der: bytes, at: int) -> _Element:
    if at + 2 > len(der):
        raise ValueError("the encoding ends early")
    length, begin = der[at + 1], at + 2
    if length >= 0x80:  # long form: the number of bytes that hold the length
        size = length & 0x7F
        length, begin = int.from_bytes(der[begin : begin + size]), begin + size
    if begin + length > len(der):
        raise ValueError("the encoding ends early")
    return _Element(der[at], begin, begin + length)


def _expect(der: bytes, at: int, tag: int) -> _Element:
    element = _element(der, at)
    if element.tag != tag:
        raise ValueError("not the fields of a certificate")
    return element


def _time(der: bytes, element: _Element) -> datetime:
    if element.tag not in _TIMES:
        raise ValueError("not a time")
    return datetime.strptime(der[element.begin : element.end].decode(), _TIMES[element.tag]).replace(tzinfo=UTC)
