"""The author's line below a diagnostic: where it is cut, where the caret stands, and when it is hidden."""

from __future__ import annotations

import unicodedata
from dataclasses import asdict
from pathlib import Path

import pytest

from tenantry.cli.problems import MOST, Excerpt, excerpts
from tenantry.messages.errors import Location, Problem
from tests.table import table
from tests.terminal import plain, tenantry_in_terminal
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.texts import FRAME, rocky


def problem(text: str, line: int, column: int, code: str = "bad-value", *path: str | int) -> Problem:
    return Problem(path or ("a",), code, "message").at(Location("t.yaml", line, column).within(text))


def one(text: str, column: int = 1, line: int = 1, code: str = "bad-value", width: int = 60) -> Excerpt | None:
    (found,) = excerpts([problem(text, line, column, code)], width)
    return found


def carets(found: Excerpt | None) -> str:
    """What the carets stand under, by columns of a terminal."""
    assert found
    columns = [char for char in found.line for _ in range(2 if unicodedata.east_asian_width(char) in "WF" else 1)]
    return "".join(dict.fromkeys(columns[found.before : found.before + found.length]))


@table(
    ("text", "column", "marked"),
    [
        ("a: bcd", 4, "bcd"),
        ("a: {b: cd, e: f}", 8, "cd"),
        ("abc: d", 1, "abc"),
        ("a: 'b c, d'", 4, "'b c,d"),
        ("a: {b: 1}", 4, "{"),
        ("a: b", 5, ""),
        ("\ta: xyz", 5, "xyz"),
        ("a: 名前, b: xyz", 11, "xyz"),
        ("a: 名前", 4, "名前"),
        ("a: \u202exyz", 5, "xyz"),
    ],
)
def test_the_carets_stand_under_the_word_at_the_place(text: str, column: int, marked: str) -> None:
    assert carets(one(text, column)) == marked


def test_the_line_is_shown_as_written_without_its_comment() -> None:
    assert one("a: bcd  # because", 4) == Excerpt(1, "a: bcd ...", 3, 3)


def test_a_terminal_gets_no_control_characters() -> None:
    found = one("a: \x1b[2J\u202e x", 1)
    assert found
    assert found.line == "a: \\x1b[2J\\u202e x"


@table("column", [4, 30, 100, 200, 395])
@table("width", [20, 60, 71])
def test_a_long_line_is_cut_around_the_place(column: int, width: int) -> None:
    text = "a: [" + ", ".join(f"w{number}" for number in range(100)) + "]"
    found = one(text, column, width=width)
    assert found
    assert len(found.line) <= width
    assert found.before + found.length <= width
    assert carets(found)[:2] == text[column - 1 : column + 1][: found.length]


@table("width", [1, 2, 5])
def test_the_narrowest_terminal_is_no_reason_to_fail(width: int) -> None:
    assert one("abcdefghi: klmnop", 12, width=width)


def test_a_very_long_word_is_cut() -> None:
    found = one("a: " + "b" * 5000, 4)
    assert found
    assert (len(found.line), found.before, found.length) == (60, 3, 57)


def test_behind_a_wrong_key_its_value_is_hidden() -> None:
    assert one("  pwn: hunter2", 3, code="unknown-key") == Excerpt(1, "  pwn: ...", 2, 3)


# --- hidden lines -----------------------------------------------------------------------------------------------


@table(
    "text",
    [
        "a: {password: hunter2}",
        "a: {credentials: hunter2}",
        "a: {clientSecret: hunter2}",
        "a: 12345678",
        "a: https://me@example.com",
        "a: https://example.com/?key=1",
        "a: https://chat.example.com/hooks/abc",
        "a: ghp_a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8",
        "a: s7Jq2mXv9LtB4cKd8RwZ1pYn6Hf3",
        "",
    ],
)
def test_a_line_that_may_hold_a_secret_is_hidden(text: str) -> None:
    assert one(text) is None


@table(
    ("text", "line"),
    [
        ("password:\n  hunter2", 2),
        ("password:\n- a\n- b\n  hunter2\n", 2),
        ("-----BEGIN PRIVATE KEY-----\nx\nx\nx\nx==", 5),
    ],
)
def test_a_line_below_what_may_begin_a_secret_is_hidden(text: str, line: int) -> None:
    assert one(text, 1, line) is None


def test_where_only_indentation_tells_what_a_line_belongs_to_it_is_hidden_below_such_a_key() -> None:
    text = "password:\n  a: 1\n  b: 1\n  c: hunter2\n"
    syntax = Problem((), "syntax", "message").at(Location("t.yaml", 4, 3).within(text))
    assert list(excerpts([syntax], 60)) == [None]


def test_lines_beside_a_known_secret_are_hidden() -> None:
    text = "a: 1\nb: 2\nc: 3\nd: 4\n"
    found = list(
        excerpts([problem(text, number, 1, "secret-in-file" if number == 2 else "x") for number in range(1, 5)], 60)
    )
    assert [each and each.line for each in found] == [None, None, None, "d: 4"]


def test_the_path_of_a_problem_hides_its_line() -> None:
    assert list(excerpts([problem("a: b", 1, 1, "x", "tenants", "rocky", "credentials", "git")], 60)) == [None]


def test_behind_a_wrong_key_on_the_same_line_nothing_is_shown_for_others() -> None:
    text = "{a: 1, pin: hunter2, b: 2}"
    found = list(excerpts([problem(text, 1, 2), problem(text, 1, 8, "unknown-key"), problem(text, 1, 22)], 60))
    assert [each and each.line for each in found] == ["{a: 1, ...", "{a: 1, pin: ...", None]


def test_a_place_as_data_holds_no_lines() -> None:
    place = Location("t.yaml", 1, 1).within("a: hunter2")
    assert asdict(place) == {"file": "t.yaml", "line": 1, "column": 1}
    assert "hunter2" not in repr(place)


def test_only_the_first_problems_show_their_line() -> None:
    found = list(excerpts([problem("a: b", 1, 1, f"code-{number}") for number in range(MOST + 5)], 60))
    assert [index for index, each in enumerate(found) if each is None] == list(range(MOST, MOST + 5))


# --- on the screen ----------------------------------------------------------------------------------------------


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm-256color")


LONG = rocky(
    "web: {kustomize: {source: manifests, path: ./deploy, interval: 5m, timeout: 1m, prune: maybe, wait: true}}"
)


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize("columns", [80, 120])
def test_a_terminal_shows_the_line_in_its_width(columns: int) -> None:
    Path("tenants.yaml").write_text(LONG)
    code, screen = tenantry_in_terminal("validate", columns=columns)
    line, mark = plain(screen).splitlines()[1:3]
    assert code == 2
    assert len(line) <= columns
    assert line[mark.index("^") : mark.rindex("^") + 1] == "maybe"
    assert "\x1b[31m\x1b[1m^^^^^\x1b[0m" in screen


@pytest.mark.usefixtures("_here")
def test_no_color_takes_the_colours_away(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("tenants.yaml").write_text(LONG)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in tenantry_in_terminal("validate", columns=80)[1]


@pytest.mark.usefixtures("_here")
def test_a_problem_of_an_included_file_shows_the_line_of_that_file(capsys: Capture) -> None:
    Path("tenants.yaml").write_text(FRAME + "include: [rocky.yaml]\ntenants: {rocky: {}}\n")
    Path("rocky.yaml").write_text("tenants:\n  rocky: {clusters: {all: 7}}\n")
    err = tenantry(capsys, "validate")[2]
    assert "     2 |   rocky: {clusters: {all: 7}}\n       |                           ^\n" in err


@pytest.mark.usefixtures("_here")
def test_json_holds_no_lines(capsys: Capture) -> None:
    Path("tenants.yaml").write_text(LONG)
    assert "./deploy" not in tenantry(capsys, "validate", "--output", "json")[1]
