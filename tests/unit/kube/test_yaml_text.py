"""Documents say the same data to every reader; see `tenantry.kube.yaml_text`."""

from __future__ import annotations

from typing import Any

import yaml

from tenantry.kube.yaml_text import documents
from tests.table import table

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
        "😀",
        "./a",
        "../a",
        "/a",
        "http://a:80/#b",
    ),
    *("${x}", "{{x}}", "$(x)", "k" * 99, "k" * 128, "k" * 129, "é" * 64, "é" * 65, "a " * 60, "a\n" * 40, "x" * 60_000),
]
"""Texts that have to be quoted or escaped, that take several lines, or that only look as if they did."""


def reads(text: str, loader: Any) -> list[Any]:
    return list(yaml.load_all(text, Loader=loader))


@table("form", ["%s", "a%s", "%sa", "a%sb", "a %s", "%s a", "1%s", "-%s", ".%s"])
def test_every_character_is_read_as_it_is(form: str) -> None:
    texts = [form % chr(code) for code in (*range(0x180), 0x2028, 0xD7FF, 0xFEFF, 0xFFFE, 0x1F600)]
    data = [{text: text, "k": [text]} for text in texts]
    assert reads(documents(data), yaml.CSafeLoader) == data


def test_the_form_of_a_document() -> None:
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
