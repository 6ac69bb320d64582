"""Placeholders."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest

from tenantry.messages.errors import InvalidPart, Problem
from tenantry.messages.placeholders import escaped, fill, fill_block, fill_manifest, is_unfilled, names_in
from tests.table import table

VARIABLES = {"env": "dev", "tenant": "rocky", "domain": "example.com", "braces": "{env}"}
VARIABLES |= {"example.com/cell": "c1", "zone_": "z", "a-b.c": "abc"}


def filled(value: Any) -> Any:
    return fill(value, VARIABLES, ("at",))


def findings(value: Any) -> tuple[Problem, ...]:
    with pytest.raises(InvalidPart) as caught:
        filled(value)
    return caught.value.findings


@table(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("", ""),
        ("{tenant}.{domain}", "rocky.example.com"),
        ("{tenant}{tenant}", "rockyrocky"),
        ("{example.com/cell} {zone_} {a-b.c}", "c1 z abc"),
        # What becomes of more braces around a name.
        ("{{tenant}}", "{tenant}"),
        ("{{nobody}}", "{nobody}"),
        ("{{{tenant}}}", "{rocky}"),
        ("{{{{tenant}}}}", "{{tenant}}"),
        ("{{tenant}", "{rocky"),
        ("{tenant}}", "rocky}"),
        ("{{{tenant}}", "{{tenant}"),
        ("{{tenant},{env}}", "{rocky,dev}"),
        ('{"a": {"b": {tenant}}}', '{"a": {"b": rocky}}'),
        # What is left to Flux.
        ("${NAME}", "${NAME}"),
        ("${NAME:=x} {env}", "${NAME:=x} dev"),
        ("${NAME:={env}}", "${NAME:=dev}"),
        ("$${NAME}", "$${NAME}"),
        ("$ {env}", "$ dev"),
        ("${{env}}", "${env}"),
    ],
)
def test_a_name_in_braces_is_a_placeholder_and_in_two_pairs_of_them_text(text: str, expected: str) -> None:
    assert expected == filled(text)


TEXTS = [
    *("{", "}", "{}", "{{}}", "}{", "a { b", "} {", "{{", "}}", "{{ a }} }}"),
    *(
        "{ env }",
        "{env }",
        "{a b}",
        "{a,b}",
        "{a:b}",
        "{a/b/c}",
        "{A/b}",
        "{-a}",
        "{a-}",
        "{.a}",
        "{a.}",
        "{_a}",
        "{\u00e4}",
    ),
    *("{ {env } }", "[0-9]{3}", "[0-9]{2,5}", "{.items[*].metadata.name}", '{"a": {"b": {}}}', 'up{job="a"}'),
    *("{{ .Values.x }}", "{{.x}}", "{{- range $k, $v := .x }}{{ end -}}", "{{ env }}", "{% if env %}", "{$TEST}"),
]
"""Texts in which no brace means anything."""


@table("text", TEXTS)
def test_every_other_brace_is_text(text: str) -> None:
    assert (text, False) == (filled(text), is_unfilled(text))
    assert text == escaped(text)


@table("text", [*TEXTS, *("{" * n + "env" + "}" * m for n in range(6) for m in range(6)), "${{env}}", "${env}{env}"])
def test_an_escaped_text_becomes_the_text_itself(text: str) -> None:
    assert text == filled(escaped(text))
    assert not [*names_in(escaped(text))]


@table(
    "text",
    ["{" * 200_000, "{a" * 100_000, "{" + "a-" * 100_000, "{a/" * 70_000, "${a" * 70_000, "{" + "a." * 100_000 + "/"],
)
def test_texts_without_an_end_are_read_in_linear_time(text: str) -> None:
    started = process_time()
    assert text == filled(text)
    assert process_time() - started < 2


def test_what_a_variable_holds_is_not_read_again() -> None:
    assert "{env}" == filled("{braces}")


def test_strings_are_filled_in_at_any_depth_and_all_else_is_left_alone() -> None:
    value = {"a": ["{env}", 1, None, True, 1.5, {"b": "{tenant}"}], "{env}": "keys stay"}
    expected = {"a": ["dev", 1, None, True, 1.5, {"b": "rocky"}], "{env}": "keys stay"}
    assert expected == filled(value)


def test_the_given_value_is_not_changed() -> None:
    value = {"a": ["{env}"]}
    filled(value)
    assert value == {"a": ["{env}"]}


def test_every_unknown_placeholder_is_named_with_its_path_and_the_closest_known_one() -> None:
    declare = ", declare it under the 'variables:' of environment 'dev', or write"
    known = "known: a-b.c, braces, domain, env, example.com/cell, tenant, zone_"
    expected = (
        Problem(
            ("at", "a", 1),
            "unknown-placeholder",
            "placeholder '{domian}' is not known here",
            (f"{known} (closest: domain)",),
            f"write '{{domain}}'{declare} '{{{{domian}}}}' for text",
        ),
        Problem(
            ("at", "b"),
            "unknown-placeholder",
            "placeholder '{x/y}' is not known here",
            (known,),
            f"correct the name{declare} '{{{{x/y}}}}' for text",
        ),
    )
    assert expected == findings({"a": ["{env}", "{domian}"], "b": "{x/y}"})


def test_the_names_in_a_text_are_those_of_its_placeholders() -> None:
    assert ["a", "b"] == list(names_in("{a} {{no}} ${NO} {b}"))


TYPED: dict[str, Any] = {"seats": 250, "ratio": 0.5, "open": True, "name": "rocky"}


@table(
    ("text", "expected"),
    [
        ("{seats}", 250),
        ("{ratio}", 0.5),
        ("{open}", True),
        ("{name}", "rocky"),
        ("n-{seats}", "n-250"),
        ("{{seats}}", "{seats}"),
    ],
)
def test_a_whole_placeholder_keeps_its_type_where_a_program_reads_it(text: str, expected: object) -> None:
    found = fill_block({"values": {"a": [text]}}, TYPED, ())["values"]["a"][0]
    assert (expected, type(expected)) == (found, type(found))


@table(("text", "expected"), [("{seats}", "250"), ("{open}", "true"), ("{open}-{seats}", "true-250")])
def test_everywhere_else_it_is_text(text: str, expected: str) -> None:
    assert expected == fill(text, TYPED, ())


def test_a_decimal_number_never_becomes_text() -> None:
    for filling in (fill, fill_block):
        with pytest.raises(InvalidPart) as caught:
            filling({"values": "v{ratio}"}, TYPED, ())
        assert [(each.path, each.code) for each in caught.value.findings] == [(("values",), "decimal-as-text")]


def test_only_the_values_of_a_block_keep_types() -> None:
    block = {"version": "{seats}", "values": {"seats": "{seats}", "list": ["{open}"]}}
    assert {"version": "250", "values": {"seats": 250, "list": [True]}} == fill_block(block, TYPED, ())


def test_a_manifest_keeps_types_but_where_kubernetes_has_text() -> None:
    spec = {"kind": "Thing", "metadata": {"labels": {"a": "{seats}"}}, "spec": {"replicas": "{seats}"}}
    assert {**spec, "metadata": {"labels": {"a": "250"}}, "spec": {"replicas": 250}} == fill_manifest(spec, TYPED, ())
    config = {"kind": "ConfigMap", "data": {"a": "{seats}"}, "immutable": "{open}"}
    assert {**config, "data": {"a": "250"}, "immutable": True} == fill_manifest(config, TYPED, ())
