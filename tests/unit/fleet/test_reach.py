"""Which addresses a grant allows; what could mean another place to any program is not allowed."""

from __future__ import annotations

from tenantry.flux.addresses import bucket_address
from tenantry.grants.grants import is_allowed, is_covered
from tests.table import table

GRANTED = (
    "https://git.example.com/rocky/*",
    "ssh://git@git.example.com/rocky/m",
    "oci://ghcr.io/rocky/*",
    "s3://minio:9000/b",
)


@table(
    "address",
    [
        "https://git.example.com/rocky/m",
        "https://git.example.com:443/rocky/m.git/",
        "https://GIT.example.com/rocky/deep/er",
        "https://git.example.com/rocky/my%20project/_git/m",
        "ssh://git@git.example.com:22/rocky/m",
        "ssh://someone@git.example.com/rocky/m",
        "oci://ghcr.io/rocky/web",
        bucket_address("minio:9000", "b"),
        bucket_address("http://minio:9000/", "b"),
    ],
)
def test_granted_addresses(address: str) -> None:
    assert is_allowed(address, GRANTED)


@table(
    "address",
    [
        "https://git.example.com/rocky",
        "https://git.example.com/rocky-2/m",
        "https://git.example.com/ROCKY/m",
        "https://git.example.com/rocky/../movy/m",
        "https://git.example.com/rocky/./m",
        "https://git.example.com/rocky/%2e%2e/movy",
        "https://git.example.com/rocky/..\\movy",
        "https://git.example.com/rocky//m",
        "https://git.example.com//rocky/m",
        "https://git.example.com/rocky/m?to=x",
        "https://git.example.com/rocky/m#x",
        "https://git.example.com/rocky/m x",
        "https://git.example.com/rocky/m\n",
        "https://git.example.com:8443/rocky/m",
        "https://git.example.com:x/rocky/m",
        "https://git.example.com@evil.example.com/rocky/m",
        "https://user:word@git.example.com/rocky/m",
        "https://evil.example.com\\@git.example.com/rocky/m",
        "https://git.example.com.evil.example.com/rocky/m",
        "https://g\u0131t.example.com/rocky/m",
        "http://git.example.com/rocky/m",
        "git.example.com/rocky/m",
        "//git.example.com/rocky/m",
        "",
        bucket_address("minio:9000", "b2"),
        bucket_address("minio:9000/b", "../b"),
    ],
)
def test_other_addresses(address: str) -> None:
    assert not is_allowed(address, GRANTED)
    assert not is_allowed(address, ())


def test_any_address_is_allowed_by_a_star_if_it_is_one() -> None:
    assert is_allowed("https://evil.example.com/x?y=z", ["*"])
    assert not is_allowed("https://git.example.com/rocky/..;/movy", ["*"])


@table(
    ("pattern", "others", "expected"),
    [
        ("https://a.example.com/x/*", ["https://a.example.com/*"], True),
        ("https://a.example.com/{tenant}/x/*", ["https://a.example.com/{tenant}/*"], True),
        ("https://a.example.com/{tenant}/*", ["https://a.example.com/{env}/*"], False),
        ("https://a.example.com/x/*", ["https://a.example.com/x/y"], False),
        ("https://a.example.com/x/*", ["https://a.example.com/x"], False),
        ("https://a.example.com/x/*", ["https://a.example.com/x/*"], True),
        ("https://a.example.com/{up}/x", ["https://a.example.com/*"], True),
        ("{base}/x", ["https://a.example.com/*"], False),
        ("*", ["https://a.example.com/*"], False),
        ("{base}/x", ["*"], True),
    ],
)
def test_what_a_pattern_allows_may_be_allowed_by_others(pattern: str, others: list[str], expected: bool) -> None:  # noqa: FBT001
    assert is_covered(pattern, others) is expected
