"""Values as YAML with comments."""

from __future__ import annotations

import click
import pytest
import yaml

from tenantry.cli.explain import Line, annotated, scalar, value_lines
from tenantry.fleet.merge import Value
from tests.table import table

VALUES = [
    Value(("a", "b"), 1),
    Value(("a", "list", 0, "name"), "x"),
    Value(("a", "list", 0, "text"), "one\n\ntwo\n"),
    Value(("a", "list", 0, "open"), "one\ntwo"),
    Value(("a", "list", 1, 0), []),
    Value(("a", "list", 1, 1, "deep"), {}),
    Value(("a", "list", 2), "y"),
    Value(("c",), [1, "2", None]),
    Value(("on: off",), "line\tend"),
]


def test_values_stand_below_what_they_share_and_are_yaml() -> None:
    text = "\n".join(line.text for line in value_lines(VALUES))
    assert yaml.safe_load(text) == {
        "a": {"b": 1, "list": [{"name": "x", "text": "one\n\ntwo\n", "open": "one\ntwo"}, [[], {"deep": {}}], "y"]},
        "c": [1, "2", None],
        "on: off": "line\tend",
    }


def test_a_long_line_does_not_move_the_comments_of_others(capsys: pytest.CaptureFixture[str]) -> None:
    click.echo(annotated([Line("a: 1", "x"), Line(f"b: {'2' * 60}", "y"), Line("cc: 3", "z"), Line("", "w")]))
    assert capsys.readouterr().out == f"a: 1   # x\nb: {'2' * 60}  # y\ncc: 3  # z\n# w\n"


@table(
    ("value", "expected"),
    [(None, "null"), (True, "true"), ("true", "'true'"), ("1", "'1'"), (["a", {}], "[a, {}]"), (["a\nb"], '["a\\nb"]')],
)
def test_a_value_takes_one_line(value: object, expected: str) -> None:
    assert expected == scalar(value)
