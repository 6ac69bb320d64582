"""Holds documents of `--output json` against what tenantry/cli/documents says about them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from tenantry.cli.documents.kinds import FAILURES, KINDS, schema_of_model
from tenantry.messages.text import format_path


def misfits(document: Any) -> list[str]:
    """What the document has that is not described, and what it lacks. Every key has to be in the model of its kind."""
    models = FAILURES if document.keys() & {"error", "valid"} else ()
    models += KINDS.get(document["kind"], ())
    found = [
        [f"{format_path(tuple(each.instance_path))}: {each.message}" for each in _closed(one).iter_errors(document)]
        for one in models
    ]
    return min(found, key=len)


def check(text: str) -> None:
    """Fail the test if the document is not as described. No command can catch this."""
    document = json.loads(text)
    if isinstance(document, dict) and str(document.get("apiVersion", "")).startswith("tenantry/"):
        found = misfits(document)
        if found:
            pytest.fail(f"describe the document in tenantry/cli/documents, then run `make reference`: {found[:5]}")


@cache
def _closed(model: Any) -> Draft202012Validator:
    """The published schema allows further keys, because later versions add some. Here each has to be described."""
    return Draft202012Validator(_without_others(schema_of_model(model)))


def _without_others(schema: Any) -> Any:
    match schema:
        case {"properties": dict()}:
            closed = {key: _without_others(each) for key, each in schema.items()}
            return {**closed, "additionalProperties": False}
        case dict():
            return {key: _without_others(each) for key, each in schema.items()}
        case list():
            return [_without_others(each) for each in schema]
    return schema
