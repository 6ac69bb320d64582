"""Problems as text."""

from __future__ import annotations

import pytest

from tenantry.messages.errors import InvalidFleet, InvalidPart, Location, Path, Problem, Refused
from tenantry.messages.text import closest, counted, declared, format_diagnostic, format_invalid, format_path
from tests.table import table


def problem(line: int = 1, column: int = 1, code: str = "code", message: str = "message") -> Problem:
    return Problem((), code, message).at(Location("t.yaml", line, column))


def test_a_problem_shows_its_place_path_facts_and_fix() -> None:
    diagnostic = Problem(("a", "b", 1), "unknown-x", "no x", ("one", "two"), "do it").at(Location("t.yaml", 42, 9))
    expected = "t.yaml:42:9: error[unknown-x]: no x\n  at a.b[1]\n  one\n  two\n  fix: do it"
    assert expected == format_diagnostic(diagnostic)


def test_a_problem_without_path_facts_and_fix_is_one_line() -> None:
    assert format_diagnostic(problem()) == "t.yaml:1:1: error[code]: message"


def test_what_stands_in_the_file_can_not_break_the_line_or_colour_the_terminal() -> None:
    diagnostic = Problem(("k\u2028",), "code", "a\nb\x1b[31m", ("n\r",), "f\x00 é").at(Location("t.yaml", 1, 1))
    expected = "t.yaml:1:1: error[code]: a\\nb\\x1b[31m\n  at k\\u2028\n  n\\r\n  fix: f\\x00 é"
    assert expected == format_diagnostic(diagnostic)


def test_all_problems_are_shown_once_sorted_by_place_and_counted() -> None:
    invalid = InvalidFleet(
        [problem(10), problem(9, 2), problem(9, 1, "b"), problem(9, 1, "a", "z"), problem(9, 1, "a", "y"), problem(10)]
    )
    expected = (
        "t.yaml:9:1: error[a]: y\n"
        "t.yaml:9:1: error[a]: z\n"
        "t.yaml:9:1: error[b]: message\n"
        "t.yaml:9:2: error[code]: message\n"
        "t.yaml:10:1: error[code]: message\n"
        "Found 5 errors"
    )
    assert expected == format_invalid(invalid)


def test_one_problem_is_one_error() -> None:
    assert format_invalid(InvalidFleet([problem()])) == "t.yaml:1:1: error[code]: message\nFound 1 error"


@table(
    ("path", "text"),
    [
        ((), ""),
        (("a",), "a"),
        (("a", "b", 1, "c"), "a.b[1].c"),
        (("quota", "requests.cpu"), 'quota["requests.cpu"]'),
        (("requests.cpu",), '["requests.cpu"]'),
        (("a", ""), 'a[""]'),
    ],
)
def test_a_path_is_written_as_in_most_languages(path: Path, text: str) -> None:
    assert text == format_path(path)


@table(("name", "expected"), [("edge1", "edge-1"), ("EDGE-1", None), ("xyz", None), ("", None)])
def test_the_closest_name_is_one_that_could_be_meant(name: str, expected: str | None) -> None:
    assert expected == closest(name, ["edge-1", "hub"])


def test_what_is_declared_is_listed_sorted() -> None:
    assert declared("declared", "edge1", {"hub", "edge-1"}) == "declared: edge-1, hub (closest: edge-1)"


def test_nothing_declared_is_said() -> None:
    assert declared("declared", "x", []) == "declared: none"


def test_a_long_list_is_cut_but_the_closest_name_is_looked_for_in_all_of_it() -> None:
    names = [f"n{index:02}" for index in range(20)]
    expected = "declared: n00, n01, n02, n03, n04, n05, n06, n07, n08, n09, n10, n11 and 8 more (closest: n19)"
    assert expected == declared("declared", "xn19", names)


def test_a_refusal_shows_its_fix_below_the_message() -> None:
    assert (str(Refused("no")), str(Refused("no", "do"))) == ("no", "no\n  fix: do")


def test_errors_say_how_many_problems_they_hold() -> None:
    assert (str(InvalidFleet([problem()])), str(InvalidPart([Problem((), "a", "b")]))) == ("1 problems", "1 findings")


def test_one_is_not_many() -> None:
    assert [counted(each, "tenant") for each in (0, 1, 2)] == ["0 tenants", "1 tenant", "2 tenants"]


def test_a_problem_is_printed_only_with_its_place_which_redacts_its_texts() -> None:
    token = "ghp_" + "0123456789abcdefghijklmnopqrstuvwxyz"
    problem = Problem(("a",), "code", f"the token {token}", fix="do it")
    with pytest.raises(AssertionError, match="no place"):
        InvalidFleet([problem])
    (located,) = InvalidFleet([problem.at(Location("t.yaml", 1, 1))]).diagnostics
    assert token not in located.message


def test_what_is_said_twice_of_one_place_is_told_once() -> None:
    place = Location("t.yaml", 1, 1)
    of_key = Problem(("a",), "code", "message", at_key=True).at(place)
    assert InvalidFleet([of_key, Problem(("a",), "code", "message").at(place)]).diagnostics == (of_key,)
