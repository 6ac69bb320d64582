"""The schema for editors takes the same files as the one that is derived from the model, and offers less noise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs

from tenantry.fleet.editor_schema import NOTHING, editor_schema, for_editors
from tenantry.fleet.json_schema import json_schema
from tenantry.messages.errors import InvalidFleet
from tenantry.source.include import read_all
from tenantry.source.parse import parse
from tests.hostile.mistakes import mistakes
from tests.table import table

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = editor_schema()


def schemas(schema: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Every part of a schema that is a mapping, with its path."""
    if isinstance(schema, dict):
        yield at, schema
        for key, part in schema.items():
            yield from schemas(part, (*at, key))
    elif isinstance(schema, list):
        for index, part in enumerate(schema):
            yield from schemas(part, (*at, str(index)))


def nulled(data: Any) -> Iterator[Any]:
    """Copies of the data with `null` in place of one part."""
    if isinstance(data, dict | list):
        for key in list(data if isinstance(data, dict) else range(len(data))):
            kept = data[key]
            data[key] = None
            yield data
            data[key] = kept
            yield from (data for _ in nulled(kept))


def test_it_takes_what_the_model_takes() -> None:
    ours, editors = (jsonschema_rs.Draft202012Validator(schema) for schema in (json_schema(), SCHEMA))
    answers = []
    for mistake in mistakes():
        try:
            data = parse(mistake.text.encode(), "f").data
        except InvalidFleet:
            continue
        answers.append((mistake.name, ours.is_valid(data), editors.is_valid(data)))
    for file in sorted(ROOT.glob("tests/golden/*/tenants.yaml")):
        found = ((ours.is_valid(data), editors.is_valid(data)) for data in nulled(read_all(file).data))
        answers += [(file.parent.name, *each) for each in found]
    assert [] == [name for name, one, other in answers if one != other]
    assert {one for _, one, _ in answers} == {True, False}


def test_no_null_is_offered() -> None:
    offering = [
        at
        for at, schema in schemas(SCHEMA)
        if "not" not in at and (schema.get("type") == "null" or None in schema.get("enum", ()))
    ]
    assert offering == []
    assert SCHEMA["$defs"]["Nothing"] == NOTHING


def test_every_alternative_without_a_type_has_a_name() -> None:
    unnamed = [
        at
        for at, schema in schemas(SCHEMA)
        for key in ("anyOf", "oneOf")
        for option in schema.get(key, ())
        if "not" not in at and option and not option.keys() & {"title", "$ref", "type", "enum", "const"}
    ]
    assert unnamed == []


def test_texts_are_whole_sentences_and_keep_their_marks_for_markdown_alone() -> None:
    texts = [schema for _, schema in schemas(SCHEMA) if isinstance(schema.get("description"), str)]
    assert len(texts) > 250
    assert [] == [each["description"] for each in texts if "`" in each["description"] or "](" in each["description"]]
    broken = (each.get("markdownDescription", each["description"]) for each in texts)
    assert [] == [text for text in broken if "\n" in text.replace("\n\n", "")]


@table(
    ("schema", "expected"),
    [
        (
            {"type": "boolean", "default": False, "description": "Whether it\nis `so`."},
            {
                "type": "boolean",
                "default": False,
                "description": "Whether it is so.\n\nDefault: false.",
                "markdownDescription": "Whether it is `so`.\n\nDefault: `false`.",
            },
        ),
        ({"enum": ["a", None]}, {"oneOf": [{"enum": ["a"]}, {"$ref": "#/$defs/Nothing"}]}),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            {"oneOf": [{"type": "string"}, {"$ref": "#/$defs/Nothing"}]},
        ),
        ({"anyOf": [{}, {"type": "null"}]}, {"anyOf": [{}, {"$ref": "#/$defs/Nothing"}]}),
        ({"oneOf": [{"required": ["git"]}]}, {"oneOf": [{"title": "with git", "required": ["git"]}]}),
    ],
)
def test_a_part_for_editors(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    made = for_editors({"$defs": {}, "items": schema})
    assert expected == made["items"]
