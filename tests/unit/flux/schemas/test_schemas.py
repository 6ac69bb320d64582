"""The data files as they lie in the repository, and how they are read."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from docgen.schemas.keywords import MAP_KEYS, RULES
from tenantry.flux.schemas import kinds, schema_of
from tests.table import table

KEYWORDS = {
    "additionalProperties",
    "default",
    "enum",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "properties",
    "required",
    "type",
    MAP_KEYS,
    RULES,
}


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    inner = [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]
    for part in inner:
        if isinstance(part, dict):
            yield from nodes(part)


def test_there_is_a_schema_of_every_kind() -> None:
    expected = (
        "Alert",
        "Bucket",
        "GitRepository",
        "HelmChart",
        "HelmRelease",
        "HelmRepository",
        "Kustomization",
        "OCIRepository",
        "Provider",
        "Receiver",
    )
    assert expected == kinds()


def test_a_schema_says_which_objects_it_is_about() -> None:
    schema = schema_of("HelmRelease")

    assert (schema.api_version, schema.kind, schema.plural) == (
        "helm.toolkit.fluxcd.io/v2",
        "HelmRelease",
        "helmreleases",
    )


def test_a_schema_is_read_once() -> None:
    assert schema_of("Alert") is schema_of("Alert")


def test_there_is_no_schema_of_other_kinds() -> None:
    with pytest.raises(KeyError, match="Deployment"):
        schema_of("Deployment")


@table("kind", kinds())
def test_a_schema_holds_constraints_and_nothing_else(kind: str) -> None:
    used = {keyword for node in nodes(schema_of(kind).spec) for keyword in node}

    assert used - KEYWORDS == set()


@table("kind", kinds())
def test_no_string_of_a_schema_is_prose(kind: str) -> None:
    """Strings are types, values to choose from, defaults, names of keys, patterns and rules: all but rules lack spaces."""
    words = [
        word
        for node in nodes(schema_of(kind).spec)
        for keyword in node.keys() - {RULES, "properties", "items"}
        for word in (node[keyword] if isinstance(node[keyword], list) else [node[keyword]])
        if isinstance(word, str)
    ]

    assert [word for word in words if " " in word] == []


def test_checking_costs_no_start_up_time_until_something_is_checked() -> None:
    program = (
        "import sys, tenantry.flux.conformance\n"
        "print([name for name in ('cel_expr_python', 'jsonschema_rs') if name in sys.modules])\n"
        "print(tenantry.flux.schemas.schema_of.cache_info().currsize)\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n0\n"
