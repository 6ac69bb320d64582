"""What is written reads back as the same data, whatever the values are."""

from __future__ import annotations

from typing import Any

import yaml

from tenantry.importing.drafting import text_of
from tenantry.source.parse import parse

ODD = [
    *("yes", "on", "No", "y", "null", "~", "", " ", "1", "1e3", "0x10", "0o7", "017", "1_000", "12:30", "2024-01-01"),
    *("a: b", "a #b", "#", "- a", "? a", "*a", "&a", "!a", "{env}", "%", "@a", "`a", "'", '"', "\\", "a\\n", "<<", "="),
    *("a\nb", "a\n", "a\n\n", "\na", " a\nb", "a \nb", "a\n b\n", "\t", "a\tb\n", "\x7f", "\x85", "\u2028", "\ufeff"),
    *(
        "\U0001f600",
        "true",
        "False",
        ".inf",
        ".5",
        "5.",
        "+1",
        "5m",
        "4Gi",
        "1.x",
        "1.2.3",
        "1e5",
        "0b1",
        "-",
        "--- ",
        "...",
        "a,b",
        "[a]",
        "https://a.b/c",
        "a:",
    ),
]


def read(text: str) -> Any:
    return parse(text.encode(), "draft").data


def test_odd_texts_read_back_in_every_position() -> None:
    for each in ODD:
        one = {"tenants": {"a": {"flow": {"x": each}, "list": [each], "plain": each, "deep": {"l": [{"x": each}]}}}}
        assert read(text_of(one)) == one
        assert yaml.safe_load(text_of(one)) == one  # readers of YAML 1.1 agree


def test_where_an_override_holds_stands_on_one_line() -> None:
    whens = [{"environments": ["dev"]}, {"clusters": {"names": ["edge"]}}]
    data = {"tenants": {"a": {"overrides": [{"when": when, "quota": {"pods": "4"}} for when in whens]}}}
    assert text_of(data).splitlines()[-4:] == [
        "      - when: {environments: [dev]}",
        '        quota: {pods: "4"}',
        "      - when: {clusters: {names: [edge]}}",
        '        quota: {pods: "4"}',
    ]


def test_a_comment_at_the_top_names_the_sources_and_acts_on_no_terminal() -> None:
    assert text_of({"apiVersion": "tenantry/v1"}, ["a\nb"]) == (
        "# yaml-language-server: $schema=tenants.schema.json\n# a\\nb\napiVersion: tenantry/v1\n"
    )


def test_a_text_of_several_lines_stays_readable() -> None:
    text = text_of({"apiVersion": "tenantry/v1", "patch": "kind: ConfigMap\n\nname: web\n"})
    assert text.split("\n")[1:] == ["apiVersion: tenantry/v1", "patch: |", "  kind: ConfigMap", "", "  name: web", ""]
