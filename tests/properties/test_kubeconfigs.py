"""Any certificate and any kubeconfig is judged without an exception."""

from __future__ import annotations

import base64
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import strategies as st

from tenantry.preflight.certificates import Validity, validity
from tests.drawn import given
from tests.unit.issued import certificate
from tests.unit.preflight.test_certificates import BEGIN, END
from tests.unit.preflight.test_kubeconfig import SOUND, problems


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


@given(
    st.dictionaries(st.sampled_from([*SOUND, "name"]), st.recursive(st.text("marker:-[]{}"), st.lists, max_leaves=4))
)
def test_no_kubeconfig_is_so_wrong_that_it_can_not_be_told(content: dict[str, Any]) -> None:
    assert problems({**content, "marker": 1})
