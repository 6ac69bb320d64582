"""The whole message for each common mistake in YAML, at the place where it is made."""

from __future__ import annotations

import pytest

from tenantry.messages.errors import InvalidFleet
from tenantry.messages.text import format_invalid
from tenantry.source.parse import parse
from tests.table import table

COLON = "write 'KEY: VALUE', with a space after the colon"
INDENT = "indent the entries of a mapping or list alike"
QUOTES = "put the whole value in quotes"
FLEET = """\
tenants:
  rocky:
    sources:
      manifests: {{git: {{url: https://git.example.com/rocky, ref: {{branch: main}}}}}}
      charts: {charts}
    apps:
      web: {{helm: {{source: charts, chart: web}}}}
"""


def said(text: str) -> str:
    """Everything that is said about a text but the count."""
    with pytest.raises(InvalidFleet) as refused:
        parse(text.encode(), "t.yaml")
    return format_invalid(refused.value).removesuffix("\nFound 1 error")


@table(
    ("text", "place", "message", "fix"),
    [
        (FLEET.format(charts="{helm: {url: https://x}"), "5:15", "this '{' is never closed", "add the closing '}'"),
        ("a:\n  b: {c: {d: 1,\n      e: 2}\n  f: 3\n", "2:6", "this '{' is never closed", "add the closing '}'"),
        ("a: [1", "1:4", "this '[' is never closed", "add the closing ']'"),
        ("a: {b: '}', # }\nc: 1\n", "1:4", "this '{' is never closed", "add the closing '}'"),
        ("a: 'b\nc: d\n", "1:4", "this ' is never closed", "add the closing '"),
        ("a:\n      b: 1\n     c: 2\n", "3:6", "indented by 5 spaces; its siblings (line 2) by 6", INDENT),
        ("t:\n  a:\n    b: 1\n   c: 2\n", "4:4", "indented by 3 spaces; its siblings (line 3) by 4", INDENT),
        ("a: 1\n\n# what b is\n b: 2", "4:2", "indented by 1 space; its siblings (line 1) by 0", INDENT),
        ("a:\n  - b\n - c\n", "3:2", "indented by 1 space; its siblings (line 2) by 2", INDENT),
        ("a:\n\tb: 1", "2:1", "indented with a tab", "indent with spaces, not with tabs"),
        ("a:\r\n\tb: 1", "2:1", "indented with a tab", "indent with spaces, not with tabs"),
        ("a:\n  b: 1\n\tc: 1", "3:1", "indented with a tab", "indent with spaces, not with tabs"),
        ("a: 1\nb:2\nc: 3\n", "2:1", "a key without ': '", COLON),
        ("a: 1\nb\n", "2:1", "a key without ': '", COLON),
        ("a: b: c", "1:5", "a second ': ' in one value", f"{QUOTES}, or start a new line"),
        ("a: {env}/b", "1:9", "text follows the closing '}'", f'{QUOTES}, such as "{{env}}/web"'),
        ("a: {b: ./{env}}", "1:10", "'{' in a value without quotes", f'{QUOTES}, such as "./{{env}}"'),
        ("a: @b", "1:4", "a value without quotes cannot begin with '@'", QUOTES),
        ("a: *x", "1:4", "'*' refers to an anchor that is not declared above", QUOTES),
        ("a: 1\n---\nb: 2", "2:1", "a second document ('---') begins here", "keep one document in a file"),
        (
            "a:\n  - b\n  c: 1\n",
            "3:3",
            "this is not an entry of the list above",
            "begin it with '- ', or indent it as its own siblings",
        ),
        (
            "a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> other\n",
            "2:1",
            "unresolved merge conflict (<<<<<<<)",
            "keep the lines you want, and remove '<<<<<<<', '=======' and '>>>>>>>'",
        ),
    ],
)
def test_a_mistake_is_named_where_it_is_made_with_its_fix(text: str, place: str, message: str, fix: str) -> None:
    assert said(text) == f"t.yaml:{place}: error[syntax]: {message}\n  fix: {fix}"


@table("text", ["a: {b: c d: e}", 'a: {b: "c" d: e}', "a: {b: c\n  d: e}", "a: {b: [1, 2}\n"])
def test_a_bracket_that_is_closed_is_not_called_open(text: str) -> None:
    assert said(text).endswith(": error[syntax]: a ',' or a closing bracket is missing before this")


def test_a_mark_of_a_conflict_alone_is_not_called_a_conflict() -> None:
    assert said("a: 1\n<<<<<<< HEAD\nb: 1\n") == f"t.yaml:2:1: error[syntax]: a key without ': '\n  fix: {COLON}"
