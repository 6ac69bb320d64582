"""Types of single values."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from tenantry.model import durations, scalars
from tests.table import table


def checked(kind: Any, value: object) -> object:
    return TypeAdapter(kind).validate_python(value, strict=True)


def refusal(kind: Any, value: object) -> tuple[str, str]:
    with pytest.raises(ValidationError) as caught:
        checked(kind, value)
    (error,) = caught.value.errors()
    return error["type"], error["msg"]


@table("value", ["30s", "5m", "1h30m", "1.5h", "250ms", "0s", "8760h"])
def test_durations_are_go_s(value: str) -> None:
    assert value == checked(durations.Duration, value)


@table("value", ["", "5", "5 m", "-5m", "5d", "1h 30m", ".5h", "5M", "m", "5m\n"])
def test_what_go_does_not_read_as_a_duration_is_refused(value: str) -> None:
    shown = value.replace("\n", "\\n")
    assert refusal(durations.Duration, value) == (
        "bad-duration",
        f"'{shown}' is not a valid duration",
    )


@table("value", ["9999999h", "8784h", "999999999999999999999999999999s"])
def test_durations_beyond_go_s_64_bits_are_refused_because_they_would_stop_a_controller(value: str) -> None:
    assert refusal(durations.Duration, value) == ("bad-duration", f"duration '{value}' is too long: a year is the most")


A_DURATION = "write it as '30s', '5m' or '1h30m'"
A_QUANTITY = "write it as '4', '500m' or '8Gi'"


def fix(kind: Any, value: object) -> str:
    with pytest.raises(ValidationError) as caught:
        checked(kind, value)
    return str(caught.value.errors()[0]["ctx"]["fix"])


@table(
    ("value", "expected"),
    [
        (5, "add a unit, such as '5s' or '5m'"),
        ("5", "add a unit, such as '5s' or '5m'"),
        (1.5, A_DURATION),
        ("2d", A_DURATION),
        ("*/5 * * * *", A_DURATION),
        ("", A_DURATION),
    ],
)
def test_a_duration_without_a_unit_of_go_s_gets_the_fix_that_was_meant(value: object, expected: str) -> None:
    assert fix(durations.Duration, value) == expected


@table(
    ("value", "expected"),
    [
        ("16GB", "write '16G' or '16Gi'"),
        ("512kb", "write '512k' or '512Ki'"),
        ("1.5 TiB", "write '1.5T' or '1.5Ti'"),
        ("4 dogs", A_QUANTITY),
    ],
)
def test_bytes_as_people_write_them_get_the_quantities_that_were_meant(value: str, expected: str) -> None:
    assert fix(scalars.Quantity, value) == expected


@table(
    ("value", "text"),
    [
        ("4", "4"),
        (4, "4"),
        (0.5, "0.5"),
        ("500m", "500m"),
        ("8Gi", "8Gi"),
        ("1e3", "1e3"),
        ("1.5E", "1.5E"),
        (0, "0"),
        ("+1", "+1"),
    ],
)
def test_quantities_may_be_written_as_numbers(value: object, text: str) -> None:
    assert text == checked(scalars.Quantity, value)


@table("value", ["", "-1", -1, "8 Gi", "8gb", "Gi", "1e", "8GiB", "1.5.1"])
def test_what_is_no_quantity_or_is_negative_is_refused(value: object) -> None:
    assert refusal(scalars.Quantity, value) == (
        "bad-quantity",
        f"'{value}' is not a valid quantity",
    )


@table("kind", [scalars.Quantity, scalars.SubstituteValue, scalars.Name])
@table("value", [True, None, [], {}])
def test_what_is_neither_text_nor_number_is_not_converted(kind: Any, value: object) -> None:
    assert refusal(kind, value) == ("string_type", "Input should be a valid string")


def test_whole_numbers_are_substituted_but_decimal_ones_would_lose_their_zeros() -> None:
    assert checked(scalars.SubstituteValue, 8080) == "8080"
    assert refusal(scalars.SubstituteValue, 1.10) == ("string_type", "Input should be a valid string")


@table("value", ["8080", 8080, 1.5, True])
def test_a_variable_keeps_its_type(value: object) -> None:
    kept = checked(scalars.VariableValue, value)
    assert (kept, type(kept)) == (value, type(value))


@table(
    ("value", "why"),
    [
        (None, "expected a text, a number, true or false, found nothing"),
        ([], "expected a text, a number, true or false, found a list"),
        ({}, "expected a text, a number, true or false, found a mapping"),
        (float("inf"), "Kubernetes does not keep this number as it is"),
        (float("nan"), "Kubernetes does not keep this number as it is"),
        (2**53 + 1, "Kubernetes does not keep this number as it is"),
    ],
)
def test_a_variable_is_a_scalar_that_kubernetes_keeps(value: object, why: str) -> None:
    assert refusal(scalars.VariableValue, value) == ("wrong-type", why)


@table("value", ["", ".", "./", "./a/b", "a..b/..c", "./{env}"])
def test_paths_stay_in_the_source(value: str) -> None:
    assert value == checked(scalars.SourcePath, value)


@table(
    ("value", "why"),
    [
        ("/", "is absolute: paths start at the root of the source"),
        ("/etc", "is absolute: paths start at the root of the source"),
        ("..", "leaves the source"),
        ("a/../../b", "leaves the source"),
        ("./..", "leaves the source"),
    ],
)
def test_paths_that_leave_the_source_are_refused(value: str, why: str) -> None:
    assert refusal(scalars.SourcePath, value) == ("bad-path", f"path '{value}' {why}")


@table(
    ("value", "why"),
    [
        ("./web/kustomization.yaml", "is a file, and Flux takes a directory"),
        ("web/Kustomization", "is a file, and Flux takes a directory"),
        ("deploy.yml/", "is a file, and Flux takes a directory"),
        ("./web/*", "has a '*', and Flux takes one directory"),
        ("../web", "leaves the source"),
    ],
)
def test_a_path_to_build_is_that_of_a_directory(value: str, why: str) -> None:
    assert refusal(scalars.DirectoryPath, value) == ("bad-path", f"path '{value}' {why}")
    assert checked(scalars.DirectoryPath, "./web.yaml.d/v1.2/kustomization")


@table("value", ["git", "GIT_URL2", "a"])
def test_variables_are_words(value: str) -> None:
    assert value == checked(scalars.VariableName, value)


@table("value", ["", "_a", "1a", "a-b", "a.b", "é"])
def test_what_is_no_word_is_no_variable(value: str) -> None:
    assert refusal(scalars.VariableName, value) == (
        "bad-variable",
        f"variable '{value}' must be letters, digits and '_', starting with a letter",
    )


def test_a_long_or_unprintable_value_is_quoted_on_one_line_and_not_endlessly() -> None:
    assert scalars.shorten("a\nb\x1b[31m") == "a\\nb\\x1b[31m"
    assert scalars.shorten("x" * 100) == "x" * 80 + "..."


def test_braces_in_a_value_are_quoted_as_they_are() -> None:
    assert refusal(scalars.Name, "{text}")[1].startswith("name '{text}' must be")
