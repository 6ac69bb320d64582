"""What a pinned version or tag can be raised to. The texts come from a source, so they can be anything."""

from __future__ import annotations

from tenantry.versions.newer import Level, Newer, in_range, newer, newest_of, parts
from tests.table import table

CHARTS = ("0.4.1", "0.4.2", "0.5.0", "1.4.2", "1.4.3", "1.5.0", "v1.6.0", "1.7.0-rc.1", "2.0.0", "3.0.0-beta.1")


@table(
    ("pinned", "range", "level", "best", "beyond"),
    [
        ("1.4.2", "", None, "v1.6.0", "2.0.0"),
        ("1.4.2", "", "patch", "1.4.3", "2.0.0"),
        ("1.4.2", "", "major", "2.0.0", ""),
        ("0.4.1", "", None, "0.4.2", "2.0.0"),
        ("0.4.1", "", "minor", "0.5.0", "2.0.0"),
        ("1.4.2", "1.4.x", None, "1.4.3", "2.0.0"),
        ("1.4.2", ">=1.4 <3", None, "2.0.0", ""),
        ("1.4.2", ">=1.4 <3", "minor", "v1.6.0", "2.0.0"),
        ("1.4.2", "1.4.2", None, "", "2.0.0"),
        ("1.4.2", ">=1.7.0-0 <2", None, "1.7.0-rc.1", "2.0.0"),
        ("1.4.2", "newest", None, "", "2.0.0"),
        ("1.7.0-beta.2", "", None, "1.7.0-rc.1", "3.0.0-beta.1"),
        ("2.0.0", "", "major", "", ""),
        ("9.0.0", "", "major", "", ""),
    ],
)
def test_a_chart_is_raised_within_its_range(
    pinned: str, range: str, level: Level | None, best: str, beyond: str
) -> None:
    found = newer(pinned, CHARTS, range=range, level=level, is_tag=False)
    assert (newest_of(found.within, is_tag=False), found.beyond) == (best, beyond)


def test_a_tag_keeps_what_is_before_its_version() -> None:
    tags = ("v1.0.0", "v1.2.0", "1.9.0", "web/v1.0.0", "web/v1.1.0", "web@1.3.0", "app1.2.3.4", "v1.3", "latest")
    for pinned, best in (("v1.0.0", "v1.2.0"), ("web/v1.0.0", "web/v1.1.0"), ("web@1.0.0", "web@1.3.0")):
        assert newer(pinned, tags, range="", level=None, is_tag=True).within == {best}


HOSTILE = (
    "1.5.0\x1b[2J", "1.5.0\n", "1.5.0 --force", "{env}", "1.5.0-{env}", "${X}", "1.5.0'", '1.5.0"', "1.5.0: x", "1.5.0 #",
    "\N{CYRILLIC SMALL LETTER ES}1.5.0", "1." + "9" * 5000 + ".0", "1.5.0-" + "9" * 120, "1.5.0-" + "a" * 500, "../1.5.0\0",
    "9" * 40 + ".0.0", "1.5.0\u202e", "1.\N{ARABIC-INDIC DIGIT FIVE}.0", "", "\ud800",
)  # fmt: skip


def test_what_no_version_can_be_is_not_taken() -> None:
    for is_tag in (False, True):
        assert newer("1.4.2", HOSTILE, range="", level="major", is_tag=is_tag) == Newer(frozenset(), "")
    assert in_range("*", HOSTILE) == frozenset()


def test_one_form_of_a_version_stays() -> None:
    assert newest_of(("v1.2.0", "1.2.0"), is_tag=False, like="1.0.0") == "1.2.0"
    assert newest_of(("v1.2.0", "1.2.0"), is_tag=False, like="v1.0.0") == "v1.2.0"


@table("text", ["1.x", "1.2", "latest", "*", "^1.2.3", "stable", "1.2.3.4", "=1.2.3"])
def test_ranges_and_moving_tags_are_not_pinned(text: str) -> None:
    assert parts(text, is_tag=False) is None
