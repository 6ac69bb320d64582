"""Versions are chosen by ranges as Masterminds/semver does, which Flux uses."""

from __future__ import annotations

from tenantry.versions.semver import highest, is_exact
from tests.table import table

TAGS = ("v0.9.9", "1.0.0", "v1.2.0", "1.2.3", "1.3.0-rc.1", "1.10.0", "2.0.0", "2.1.0-beta", "main", "2.0")


@table(
    ("range", "tag"),
    [
        ("*", "2.0.0"),
        ("1.x", "1.10.0"),
        ("1", "1.10.0"),
        ("^1.2", "1.10.0"),
        ("^0.9", "v0.9.9"),
        ("~1.2", "1.2.3"),
        ("~1.2.0", "1.2.3"),
        ("~1", "1.10.0"),
        ("1.2.x", "1.2.3"),
        ("=1.2.0", "v1.2.0"),
        ("1.2.0", "v1.2.0"),
        (">1.2", "2.0.0"),
        ("<1.2", "1.0.0"),
        ("<=1.2", "1.2.3"),
        (">=1.0 <1.3", "1.2.3"),
        (">=1.0, <1.3", "1.2.3"),
        (">=1.3.0-0 <1.4", "1.3.0-rc.1"),
        (">=2.0.0-0", "2.1.0-beta"),
        ("1.0 - 1.2.1", "v1.2.0"),
        ("0.x || 1.0.x", "1.0.0"),
        ("!=2.0.0 <3", "1.10.0"),
        ("3.x", None),
        ("latest", None),
        ("1.x || latest", None),
        ("", None),
    ],
)
def test_the_highest_version_in_the_range_is_chosen(range: str, tag: str | None) -> None:
    assert highest(TAGS, range) == tag


def test_only_a_version_with_three_parts_is_exact() -> None:
    assert [text for text in ("1.2.3", "=1.2.3", "v1.2.3-rc.1+x", "1.2", "^1.2.3", "1.2.x", "*") if is_exact(text)] == [
        "1.2.3",
        "=1.2.3",
        "v1.2.3-rc.1+x",
    ]
