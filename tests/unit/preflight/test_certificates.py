from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tenantry.preflight.certificates import Validity, validity
from tests.table import table
from tests.unit.issued import certificate, private_key

BEGIN, END = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), datetime(2027, 1, 2, 3, 4, 5, tzinfo=UTC)
# RFC 5280: dates through 2049 have two digits for the year, later ones four.
LATE = datetime(2050, 1, 1, tzinfo=UTC)


@table("names", [1, 10, 5000], ids=["one-byte", "two-bytes", "three-bytes"])
@table("end", [END, LATE])
def test_the_dates_are_those_that_were_issued(names: int, end: datetime) -> None:
    assert Validity(BEGIN, end) == validity(certificate(BEGIN, end, names=names))


def test_of_a_chain_the_first_counts() -> None:
    chain = certificate(BEGIN, END) + certificate(BEGIN, LATE)
    assert Validity(BEGIN, END) == validity(b"subject=someone\n" + chain)


@table("pem", [b"", b"certificate", private_key(), certificate(BEGIN, END)[:-30]])
def test_what_is_no_certificate_is_refused(pem: bytes) -> None:
    with pytest.raises(ValueError, match="no certificate in PEM"):
        validity(pem)
