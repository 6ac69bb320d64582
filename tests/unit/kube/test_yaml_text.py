"""Documents are written in the bytes of PyYAML, whatever the data; see `tenantry.kube.yaml_text`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tenantry.kube import yaml_text
from tenantry.kube.yaml_text import documents

NASTY = [
    *(
        "",
        " ",
        "-",
        "---",
        "--- a",
        "...",
        ".",
        "~",
        "=",
        "<<",
        "?",
        "? a",
        "- a",
        "-a",
        "#",
        "a #b",
        "a# b",
        "a:b#c",
        "a: b",
    ),
    *(
        "a:",
        ":a",
        ": a",
        "a :b",
        "!x",
        "&a",
        "*a",
        "@a",
        "`a",
        "%a",
        "{a",
        "}",
        "[a]",
        "a, b",
        ",",
        ">",
        "|",
        ">=1.0",
        '"',
        "'a'",
    ),
    *(
        "it's",
        "\\",
        "a\\",
        " a",
        "a ",
        "a  b",
        "a\tb",
        "\ta",
        "\n",
        "a\n",
        "\na",
        "a\nb",
        "a\n\nb",
        "a\n b",
        "a \nb",
        "\r",
    ),
    *(
        "1",
        "-1",
        "+1",
        "01",
        "0o7",
        "-0o7",
        "0x1F",
        "0b1",
        "1_000",
        "1e3",
        ".5",
        "5.",
        "+.5e-3",
        ".inf",
        "-.INF",
        ".nan",
        "12:30",
    ),
    *(
        "null",
        "Null",
        "nUll",
        "y",
        "N",
        "yes",
        "No",
        "on",
        "OFF",
        "true",
        "tRue",
        "2001-01-01",
        "2001-12-14t21:59:43.10-05:00",
    ),
    *(
        "\x00",
        "\x07",
        "\x1b",
        "\x7f",
        "\x85",
        "\xa0",
        "é",
        "\u2028",
        "\ufeff",
        "\ud800",
        "😀",
        "./a",
        "../a",
        "/a",
        "http://a:80/#b",
    ),
    *("${x}", "{{x}}", "$(x)", "k" * 99, "k" * 128, "k" * 129, "é" * 64, "é" * 65, "a " * 60, "a\n" * 40, "x" * 60_000),
]
"""Texts that have to be quoted or escaped, that take several lines, or that only look as if they did."""

TEXTS = st.sampled_from(NASTY) | st.text(max_size=12) | st.text("ab:#-?!&*|>'\"%@`{}[], \n\t~.=<01eExyn", max_size=10)
LEAVES = TEXTS | TEXTS | st.none() | st.booleans() | st.integers() | st.floats() | st.binary(max_size=3) | st.dates()
KEYS = TEXTS | TEXTS | st.none() | st.integers(0, 1) | st.booleans()
DATA = st.recursive(
    LEAVES,
    lambda below: st.lists(below, max_size=4) | st.lists(below, max_size=2).map(tuple) | st.dictionaries(KEYS, below),
    max_leaves=12,
)


def by_pyyaml(data: Iterable[Any]) -> str:
    text: str = yaml.dump_all(data, Dumper=yaml_text._Dumper, sort_keys=False, explicit_start=True, width=1_000_000)
    return text


def outcome(written: Any, data: list[Any]) -> Any:
    """The text, or the type of the error: a surrogate has no text."""
    try:
        return written(data)
    except Exception as error:
        return type(error)


@settings(max_examples=150, deadline=None)
@given(st.lists(DATA | st.dictionaries(KEYS, DATA), max_size=3))
def test_whatever_the_data_the_text_is_that_of_pyyaml(data: list[Any]) -> None:
    assert outcome(documents, data) == outcome(by_pyyaml, data)


@pytest.mark.parametrize("form", ["%s", "a%s", "%sa", "a%sb", "a %s", "%s a", "1%s", "-%s", ".%s"])
def test_every_character_is_written_as_pyyaml_does(form: str) -> None:
    for code in (*range(0x180), 0x2028, 0xD7FF, 0xFEFF, 0xFFFE, 0x1F600):
        text = form % chr(code)
        data = [{text: text}, {"k": [text]}]
        assert documents(data) == by_pyyaml(data), hex(code)


def test_a_text_is_written_as_pyyaml_does_wherever_it_stands() -> None:
    whole: list[Any] = [None, 1, {}]
    for key, value in product(("k", None), whole):
        for text in NASTY:
            k, v = key or text, text if value is None else value
            data = [{k: v, "z": v}, {k: [v, {k: v, "z": [v]}]}, {"a": {"b": {k: {k: v}}}}, {k: [[v, [v, {k: [v]}]]]}]
            assert outcome(documents, data) == outcome(by_pyyaml, data), text


def test_the_usual_texts_of_a_fleet_are_written_without_pyyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "_by_pyyaml", lambda _: pytest.fail("PyYAML was asked"))
    rest = {"mixed": [5, True, None, {}, []], "lists": [["a"], {"b": "c d", "e": "f"}]}
    data = {"apiVersion": "v1", "spec": {"path": "./web", "url": "https://git.example.com/a", **rest}}
    assert (
        documents([data])
        == """\
---
apiVersion: v1
spec:
  path: ./web
  url: https://git.example.com/a
  mixed:
  - 5
  - true
  - null
  - {}
  - []
  lists:
  - - a
  - b: c d
    e: f
"""
    )
