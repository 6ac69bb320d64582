"""A plain number is what comes out, or the warning says what does."""

from __future__ import annotations

import pytest

from tenantry.kube.yaml_text import outcome
from tests.table import table


@table(
    ("text", "value", "key", "expected"),
    [
        ("3", 3, "tag", ""),
        ("1.5", 1.5, "tag", ""),
        ("1.10", 1.1, "tag", "1.1"),
        ("1.10", 1.1, "anything", "1.1"),
        ("1.0", 1.0, "tag", "1"),
        ("1.0", 1.0, "ratio", ""),
        ("0.50", 0.5, "ratio", ""),
        ("0.50", 0.5, "version", "0.5"),
        ("1e3", 1e3, "ratio", "1000"),
        ("1e-7", 1e-7, "ratio", "1e-07"),
        ("1234e56", 1234e56, "ratio", "1.234e+59"),
        ("-12e9", -12e9, "ratio", "-1.2e+10"),
        ("999999", 999_999, "tag", ""),
        ("6801028", 6_801_028, "tag", "6.801028e+06"),
        ("1000000", 1_000_000, "imageTag", "1e+06"),
        ("6801028", 6_801_028, "BUILD_ID", "6.801028e+06"),
        ("6801028", 6_801_028, "build-number", "6.801028e+06"),
        ("6801028", 6_801_028, "memory", ""),
        ("6801028", 6_801_028, "valid", ""),
        ("6801028", 6_801_028, "storage", ""),
        ("0x1f", 31, "sha", "31"),
        ("0o644", 420, "mode", ""),
        ("true", True, "tag", ""),
        ("text", "text", "tag", ""),
    ],
)
def test_what_becomes_of_a_number_in_the_values_of_a_chart(text: str, value: object, key: str, expected: str) -> None:
    assert outcome(text, value, key, of_chart=True) == expected


@pytest.mark.parametrize(("text", "expected"), [("6801028", ""), ("1.10", "1.1"), ("0x1f", "31")])
def test_whole_numbers_of_manifests_keep_their_digits(text: str, expected: str) -> None:
    value = float(text) if "." in text else int(text, 0)
    assert outcome(text, value, "version", of_chart=False) == expected
