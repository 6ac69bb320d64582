"""YAML text to plain data, and back to places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tenantry.messages.errors import InvalidFleet, Location, Refused
from tenantry.messages.text import format_invalid
from tenantry.source import compose
from tenantry.source import parse as parsing
from tenantry.source.parse import parse, read
from tests.table import table


def data(text: str) -> dict[str, Any]:
    return parse(text.encode(), "t.yaml").data


def refusal(text: str | bytes) -> str:
    with pytest.raises(InvalidFleet) as caught:
        parse(text.encode() if isinstance(text, str) else text, "t.yaml")
    return format_invalid(caught.value)


@table(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-12", -12),
        ("+12", 12),
        ("0", 0),
        ("0o17", 15),
        ("0xfF", 255),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("9007199254740992", 2**53),
        ("-9007199254740992", -(2**53)),
        ("0x20000000000000", 2**53),
        ("1e300", 1e300),
        ("!!str 12", "12"),
        ("!!int 12", 12),
        ("'12'", "12"),
        ("[1, a]", [1, "a"]),
        ("{b: {c: d}}", {"b": {"c": "d"}}),
        ("|\n  one\n  two\n", "one\ntwo\n"),
    ],
)
def test_scalars_have_the_types_of_yaml_1_2(text: str, value: object) -> None:
    read_value = data(f"a: {text}")["a"]
    assert (value, type(value)) == (read_value, type(read_value))


@table(
    "text",
    ["y", "N", "yes!", "none", "12:30", "1_000", "2001-01-01", "0b1", "08:00", "1.2.3", "=", "0o8", "NULL0"],
)
def test_what_yaml_1_1_would_guess_about_stays_text(text: str) -> None:
    assert {"a": text} == data(f"a: {text}")


def test_keys_are_text_as_written() -> None:
    assert {"1": "a", "1.50": "b", "no": "c", "007": "d", "On": "e"} == data("1: a\n1.50: b\nno: c\n007: d\nOn: e")


@table(
    ("text", "value"),
    [
        ("'yes'", "yes"),
        ('"No"', "No"),
        ("|-\n  on\n", "on"),
        (">-\n  OFF\n", "OFF"),
        ("['yes', {on: \"off\"}]", ["yes", {"on": "off"}]),
    ],
)
def test_words_for_truth_values_are_text_where_they_are_quoted_or_in_a_block(text: str, value: object) -> None:
    assert {"a": value} == data(f"a: {text}")


def test_nothing_is_a_value_of_a_mapping() -> None:
    assert {"a": None, "b": {"c": None, "d": None}, "e": [{}]} == data("a:\nb: {c: ~, d: null}\ne: [{}]")


def test_an_alias_stands_for_a_copy_of_its_anchor() -> None:
    assert {"a": {"b": 1}, "c": {"b": 1}} == data("a: &x {b: 1}\nc: *x")


@table("text", ["a: 1\nb: {c: é}\n", "a: 1\r\nb: {c: é}\r\n", "---\na: 1\nb: {c: é}\n...\n"])
def test_every_kind_of_line_end_is_read(text: str) -> None:
    assert {"a": 1, "b": {"c": "é"}} == data(text)


def test_a_byte_order_mark_is_skipped_and_not_counted() -> None:
    parsed = parse(b"\xef\xbb\xbfab: 1\n", "t.yaml")
    assert ({"ab": 1}, Location("t.yaml", 1, 5)) == (parsed.data, parsed.locate(("ab",)))


# --- places -----------------------------------------------------------------------------------------------------

PLACES = "a:\n  é: [x, {y: 1}]\nb: &anchor {z: 2}\nc: *anchor\n"


@table(
    ("path", "key", "line", "column"),
    [
        ((), False, 1, 1),
        (("a",), True, 1, 1),
        (("a",), False, 2, 3),
        (("a", "é"), True, 2, 3),
        (("a", "é"), False, 2, 6),
        (("a", "é", 0), False, 2, 7),
        (("a", "é", 1, "y"), True, 2, 11),
        (("a", "é", 1, "y"), False, 2, 14),
        (("c", "z"), False, 3, 16),
    ],
)
def test_a_path_leads_to_its_line_and_column(path: tuple[str | int, ...], line: int, column: int, *, key: bool) -> None:
    assert Location("t.yaml", line, column) == parse(PLACES.encode(), "t.yaml").locate(path, key=key)


@table("path", [("a", "nope"), ("a", "nope", "deeper"), ("a", 0)])
def test_a_path_that_ends_early_leads_to_the_deepest_part_that_exists(path: tuple[str | int, ...]) -> None:
    assert Location("t.yaml", 2, 3) == parse(PLACES.encode(), "t.yaml").locate(path)


def test_a_list_index_beyond_the_end_leads_to_the_list() -> None:
    assert Location("t.yaml", 2, 6) == parse(PLACES.encode(), "t.yaml").locate(("a", "é", 7))


def test_a_second_place_is_named_by_its_key() -> None:
    assert parse(PLACES.encode(), "t.yaml").line_of(("a", "é")) == "t.yaml:2:3"


# --- refusals ---------------------------------------------------------------------------------------------------

SYNTAX = "t.yaml:{}: error[syntax]: not valid YAML: {}\nFound 1 error"


@table(
    ("text", "place", "what"),
    [
        ("%YAML 2.0\n---\na: 1", "1:1", "found incompatible YAML document"),
        ('a: "\\ud800"', "1:7", "while parsing a quoted scalar: found invalid Unicode character escape code"),
        ("é: é\nb: é\ufffe", "2:5", "character #xfffe is not allowed"),
        ("a: 1\r\nb: é\uffff\r\n", "2:5", "character #xffff is not allowed"),
    ],
)
def test_what_is_no_yaml_is_refused_at_its_place(text: str, place: str, what: str) -> None:
    assert SYNTAX.format(place, what) == refusal(text)


@table("text", ["", "\n\n", "# nothing but a comment\n", "\ufeff"])
def test_an_empty_file_is_refused(text: str) -> None:
    expected = (
        "t.yaml:1:1: error[empty-file]: the file is empty\n"
        "  fix: start with 'apiVersion: tenantry/v1' and 'environments:'\n"
        "Found 1 error"
    )
    assert expected == refusal(text)


@table("text", ["- a", "just text", "12", "null", "~"])
def test_a_file_that_is_no_mapping_is_refused(text: str) -> None:
    expected = (
        "t.yaml:1:1: error[not-a-mapping]: the file must be a mapping of keys such as 'environments:' and 'tenants:'\n"
        "  fix: start with 'apiVersion: tenantry/v1' and 'environments:'\n"
        "Found 1 error"
    )
    assert expected == refusal(text)


@table(
    ("raw", "place", "byte"),
    [
        (b"a: 1\n\xff", "2:1", "ff"),
        ("a: é\nbé: ".encode() + b"\x80", "2:5", "80"),
        (b"\xef\xbb\xbfab: \xff", "1:5", "ff"),
        ("a: 1".encode("utf-16"), "1:1", "ff"),
        (b"a: \xed\xa0\x80", "1:4", "ed"),
    ],
)
def test_bytes_that_are_not_utf_8_are_refused_at_their_place(raw: bytes, place: str, byte: str) -> None:
    expected = (
        f"t.yaml:{place}: error[not-utf-8]: byte 0x{byte} is not UTF-8\n  fix: save the file as UTF-8\nFound 1 error"
    )
    assert expected == refusal(raw)


def test_duplicate_keys_are_refused_however_they_are_written_and_all_are_named() -> None:
    expected = (
        "t.yaml:2:1: error[duplicate-key]: key 'a' is set twice in the same mapping\n"
        "  at a\n"
        "  first: t.yaml:1:1\n"
        "  fix: remove one of them\n"
        "t.yaml:3:11: error[duplicate-key]: key '1' is set twice in the same mapping\n"
        "  at b.1\n"
        "  first: t.yaml:3:5\n"
        "  fix: remove one of them\n"
        "Found 2 errors"
    )
    assert expected == refusal("a: 1\n'a': 2\nb: {1: x, '1': y}\n")


@table(
    ("key", "shown"),
    [("true", "'true'"), ("~", "'~'"), ("? [a]\n", "a list or mapping"), ("? {a: b}\n", "a list or mapping")],
)
def test_keys_that_are_no_text_are_refused(key: str, shown: str) -> None:
    assert f"error[bad-key]: {shown} cannot be a key\n  fix: use a string; put it in quotes\nFound 1 error" in refusal(
        f"{key}: 1"
    )


def test_a_merge_key_is_refused_because_yaml_1_2_has_none() -> None:
    expected = (
        "t.yaml:2:5: error[merge-key]: the merge key '<<' is not part of YAML 1.2\n"
        "  at b\n"
        "  fix: write the keys out where '<<' is\n"
        "Found 1 error"
    )
    assert expected == refusal("a: &a {x: 1}\nb: {<<: *a, y: 2}\n")


def test_a_quoted_merge_key_is_an_ordinary_key() -> None:
    assert {"<<": 1} == data("'<<': 1")


@table(
    ("value", "tag"),
    [
        ("!secret x", "!secret"),
        ("!!binary aGk=", "!!binary"),
        ("!!timestamp 2001-01-01", "!!timestamp"),
        ("!foo {b: 1}", "!foo"),
        ("!!set {b}", "!!set"),
        ("!!omap [b: 1]", "!!omap"),
        ("!!python/object/apply:os.system [ls]", "!!python/object/apply:os.system"),
    ],
)
def test_tags_beyond_json_are_refused_on_scalars_and_on_collections(value: str, tag: str) -> None:
    expected = (
        f"t.yaml:1:4: error[unknown-tag]: the tag {tag} is not supported\n  at a\n  fix: remove it\nFound 1 error"
    )
    assert expected == refusal(f"a: {value}")


@table(
    ("value", "kind"),
    [("!!bool yes", "bool"), ("!!int x", "int"), ("!!int 1_0", "int"), ("!!float x", "float"), ("!!null x", "null")],
)
def test_a_tag_does_not_make_other_text_fit(value: str, kind: str) -> None:
    assert f"t.yaml:1:4: error[syntax]: not a valid {kind}\n  at a\nFound 1 error" == refusal(f"a: {value}")


@table(
    "value",
    [
        ".nan",
        ".inf",
        "-.INF",
        "1e999",
        "9007199254740993",
        "-9007199254740993",
        "0x20000000000001",
        "18446744073709551615",
        "9" * 5000,
        "0x" + "f" * 5000,
    ],
)
def test_numbers_that_do_not_reach_kubernetes_as_they_are_because_a_float_carries_them_are_refused(value: str) -> None:
    expected = (
        "t.yaml:1:4: error[bad-number]: Kubernetes cannot store this number exactly\n"
        "  at a\n"
        "  fix: put it in quotes\n"
        "Found 1 error"
    )
    assert expected == refusal(f"a: {value}")


@table("value", ["yes", "Yes", "YES", "no", "nO", "on", "On", "oN", "off", "OFF"])
@table(("text", "column", "path"), [("a: {}", 4, "a"), ("a: {{b: [x, {}]}}", 12, "a.b[1]")])
def test_bare_words_for_truth_values_are_refused_because_readers_differ_about_them(
    value: str, text: str, column: int, path: str
) -> None:
    expected = (
        f"t.yaml:1:{column}: error[ambiguous]: '{value}' is a string in YAML 1.2, but true or false for other readers\n"
        f"  at {path}\n"
        "  fix: write true or false, or put it in quotes\n"
        "Found 1 error"
    )
    assert expected == refusal(text.format(value))


@table(
    ("text", "place", "path"),
    [
        ("a: [null]", "1:5", "a[0]"),
        ("a: [1, ~]", "1:8", "a[1]"),
        ("a:\n- 1\n-\n", "3:2", "a[1]"),
        ("a: [[Null]]", "1:6", "a[0][0]"),
        ("a: [{b: {c: null}}]", "1:13", "a[0].b.c"),
        ("a: [{b: }]", "1:9", "a[0].b"),
        ("a: &x {b: null}\nc: [*x]", "1:11", "c[0].b"),
        ("a: [!!null null]", "1:5", "a[0]"),
    ],
)
def test_nothing_anywhere_below_a_list_is_refused_because_no_override_could_mean_removing_by_it(
    text: str, place: str, path: str
) -> None:
    expected = (
        f"t.yaml:{place}: error[null-in-list]: 'null' cannot stand in a list\n"
        f"  at {path}\n"
        "  fix: leave it out\n"
        "Found 1 error"
    )
    assert expected == refusal(text)


def test_all_values_that_would_become_others_are_named_in_one_run() -> None:
    assert [line.split("]")[0] for line in refusal("a: [null, no, 9007199254740993, 007]").splitlines()[::3]] == [
        "t.yaml:1:5: error[null-in-list",
        "t.yaml:1:11: error[ambiguous",
        "t.yaml:1:15: error[bad-number",
        "t.yaml:1:33: error[bad-number",
        "Found 4 errors",
    ]


@table("value", ["0644", "-017", "00", "+08"])
def test_numbers_with_leading_zeros_are_refused_because_helm_reads_them_as_octal(value: str) -> None:
    expected = (
        f"t.yaml:1:4: error[bad-number]: '{value}' is decimal in YAML 1.2, but octal where Helm and kubectl read it\n"
        "  at a\n"
        "  fix: remove the leading zeros, write '0o' for octal, or put it in quotes\n"
        "Found 1 error"
    )
    assert expected == refusal(f"a: {value}")


@table(
    "text",
    ["a: " + "[" * 100_000, "a: " + "[" * 65 + "]" * 65, "- " * 2000 + "a", "a: " + "{a: " * 500 + "1" + "}" * 500],
)
def test_deep_nesting_is_refused_before_it_can_end_the_process(text: str) -> None:
    assert "error[too-deep]: values are nested deeper than 64 levels\nFound 1 error" in refusal(text)


def test_sixty_four_levels_are_read() -> None:
    value = data("a: " + "[" * 63 + "]" * 63)["a"]
    for _ in range(62):
        (value,) = value
    assert value == []


def test_nesting_by_aliases_is_refused_like_any_other() -> None:
    text = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 80))
    assert refusal(text).startswith("t.yaml:1:5: error[too-deep]: values are nested deeper than 64 levels")


@table(("text", "place"), [("- ? a", "1:6"), ("- a: 1\n  ? b", "2:6"), ("- ? a\n", "2:1")])
def test_the_value_that_a_last_key_lacks_is_missed_within_the_file(text: str, place: str) -> None:
    assert refusal(text).startswith(f"t.yaml:{place}: error[null-in-list]: ")


def test_an_alias_that_holds_itself_is_refused() -> None:
    assert refusal("a: &x {b: [*x]}") == "t.yaml:1:4: error[recursive-alias]: an alias holds itself\nFound 1 error"


def test_aliases_that_unfold_beyond_measure_are_refused_before_they_do() -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 40))
    assert refusal(bomb) == "t.yaml:17:6: error[too-large]: aliases unfold to more than 250000 values\nFound 1 error"


def test_a_file_of_too_many_values_is_refused_before_they_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compose, "MAX_NODES", 10)
    expected = "t.yaml:1:23: error[too-large]: there are more than 10 keys and values\nFound 1 error"
    assert expected == refusal("a: [1, 2, 3, 4, 5, 6, 7, 8]")


@pytest.mark.parametrize(
    ("text", "most", "told"),
    [
        ("a: &x [1, 2]\nb: *x", 13, None),
        ("a: &x [1, 2]\nb: *x", 9, "3:1: error[too-large]"),
        ("a: *nobody\nb: {c", 1000, "2:4: error[syntax]: this '{' is never closed"),
        ("a: *nobody\nb: [c]", 1000, "1:4: error[syntax]: '*' refers to an anchor"),
    ],
)
def test_the_bounds_and_the_first_problem_are_those_of_the_events(
    text: str, most: int, told: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nodes are composed at once, and the events are looked at only where something may be wrong."""
    monkeypatch.setattr(compose, "MAX_NODES", most)
    if told is None:
        assert data(text)["b"] == [1, 2]
    else:
        assert refusal(text).startswith(f"t.yaml:{told}")


def test_a_file_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(parsing, "MAX_BYTES", 10)
    file = tmp_path / "t.yaml"
    file.write_text("a: 12345678")
    with pytest.raises(InvalidFleet) as caught:
        read(file)
    assert f"{file}:1:1: error[too-large]: the file exceeds 10 bytes\nFound 1 error" == format_invalid(caught.value)


def test_a_device_without_end_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "MAX_BYTES", 1000)
    with pytest.raises(InvalidFleet, match="1 problems"):
        read(Path("/dev/zero"))


def test_a_missing_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        read(tmp_path / "tenants.yaml")
    assert str(caught.value) == f"{tmp_path}/tenants.yaml: no such file\n  fix: name the fleet's file with --file"


@pytest.mark.parametrize(
    ("name", "why"), [(".", "Is a directory"), ("file/below", "Not a directory"), ("n" * 300, "File name too long")]
)
def test_what_can_not_be_read_as_a_file_is_refused(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Refused) as caught:
        read(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: {why}\n  fix: name a readable file with --file"
