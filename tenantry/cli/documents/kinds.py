"""All kinds of documents, and their JSON Schemas."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from tenantry.cli.documents import causes, checks, diff, edits, explanation, importing, lists, states
from tenantry.cli.documents.common import Document, Failed, Invalid, Part
from tenantry.fleet.json_schema import declared_by, subclasses, texts_below_fields

FAILURES: tuple[type[Document], ...] = (Invalid, Failed)
"""What the document of any command can be instead, if the command fails."""

KINDS: dict[str, tuple[type[Document], ...]] = {
    "Validation": (checks.Validation,),
    "Diff": (diff.Diff, diff.InvalidBase),
    "Preflight": (checks.Preflight, checks.CheckedCluster),
    "Explanation": (
        explanation.ExplainedApp,
        explanation.ExplainedTenant,
        explanation.ExplainedPlatform,
        explanation.ExplainedGrants,
        explanation.NoGrants,
    ),
    "Parity": (checks.Parity,),
    "Status": (states.Status,),
    "List": (lists.List,),
    "Why": (causes.Why,),
    "Objects": (lists.Objects,),
    "Import": (importing.Import,),
    "Sandbox": (lists.Sandbox,),
    "Edit": (edits.Edit,),
    "Error": (),
}


def schema_of(kind: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a kind of document."""
    models = (*KINDS[kind], *FAILURES)
    by_model, definitions = models_json_schema([(model, MODE) for model in models], schema_generator=_Generator)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": kind,
        "required": ["apiVersion", "kind"],
        "properties": {"kind": {"const": kind}},
        "anyOf": [by_model[each, MODE] for each in models],
        **definitions,
    }


def schema_of_model(model: type[Document]) -> dict[str, Any]:
    """The JSON Schema of one form of a document."""
    return model.model_json_schema(mode=MODE, schema_generator=_Generator)


MODE: Final = "serialization"
"""The schemas describe what is printed, not what models can be made of."""


class _Generator(GenerateJsonSchema):
    """With the texts below the fields, and without defaults: a key is left out or printed, whatever its value."""

    def model_schema(self, schema: Any) -> dict[str, Any]:
        made = super().model_schema(schema)
        for name, field in schema["cls"].model_fields.items():
            if text := _texts().get((declared_by(schema["cls"], name).__name__, name)):
                made["properties"][field.serialization_alias]["description"] = text
        return made

    def field_is_required(self, field: Any, total: bool) -> bool:  # noqa: ARG002, FBT001  # pydantic's signature
        return field.get("serialization_exclude_if") is None

    def default_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])


@cache
def _texts() -> dict[tuple[str, str], str]:
    return texts_below_fields(subclasses(Part))
