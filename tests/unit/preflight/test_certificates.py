from __future__ import annotations

import base64
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import strategies as st

from tenantry.preflight.certificates import Validity, validity
from tests.drawn import given
from tests.unit.issued import certificate, private_key

BEGIN, END = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), datetime(2027, 1, 2, 3, 4, 5, tzinfo=UTC)
# RFC 5280: dates through 2049 have two digits for the year, later ones four.
LATE = datetime(2050, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("names", [1, 10, 5000], ids=["one-byte", "two-bytes", "three-bytes"])
@pytest.mark.parametrize("end", [END, LATE])
def test_the_dates_are_those_that_were_issued(names: int, end: datetime) -> None:
    assert Validity(BEGIN, end) == validity(certificate(BEGIN, end, names=names))


def test_of_a_chain_the_first_counts() -> None:
    chain = certificate(BEGIN, END) + certificate(BEGIN, LATE)
    assert Validity(BEGIN, END) == validity(b"subject=someone\n" + chain)


@pytest.mark.parametrize("pem", [b"", b"certificate", private_key(), certificate(BEGIN, END)[:-30]])
def test_what_is_no_certificate_is_refused(pem: bytes) -> None:
    with pytest.raises(ValueError, match="no certificate in PEM"):
        validity(pem)


@given(st.binary(max_size=64))
def test_whatever_stands_in_place_of_a_certificate_is_a_value_error_at_most(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        validity(_pem(content))


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_damaged_certificate_is_a_value_error_at_most(place: int, byte: int) -> None:
    der = bytearray(base64.b64decode(b"".join(CERTIFICATE.splitlines()[1:-1])))
    der[place % len(der)] = byte
    with suppress(ValueError):
        assert isinstance(validity(_pem(bytes(der))), Validity)


CERTIFICATE = certificate(BEGIN, END)


def _pem(der: bytes) -> bytes:
    return b"-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(der) + b"-----END CERTIFICATE-----\n"
