"""The page with all documents of `--output json`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenantry.cli.documents.common import Document
from tenantry.cli.documents.kinds import FAILURES, KINDS, schema_of_model

_HEAD = """\
# The keys of JSON documents

`make reference` writes this page from the models in `tenantry/cli/documents`. [output.md](output.md) describes what all
documents share.

Each document begins with `apiVersion: tenantry/v1` and its `kind`. A part has the same keys wherever it occurs.
"""


def page() -> str:
    """The whole text. Raises: AssertionError: a document has no text."""
    blocks = [_HEAD]
    for kind, models in KINDS.items():
        if models:
            blocks += [f"## {kind}", *map(_document, models)]
    blocks += ["## Documents of commands that fail", *map(_document, FAILURES)]
    blocks += ["## Parts", *_parts()]
    return "\n\n".join(block.strip("\n") for block in blocks) + "\n"


def _document(model: type[Document]) -> str:
    schema = schema_of_model(model)
    assert schema.get("description"), f"{model.__name__} has no text"
    own = {key: each for key, each in schema["properties"].items() if key not in ("apiVersion", "kind")}
    return f"{schema['description']}\n\n{_table(own, schema.get('required', []))}"


def _parts() -> Iterator[str]:
    found: dict[str, Any] = {}
    for models in (*KINDS.values(), FAILURES):
        for model in models:
            for name, part in schema_of_model(model).get("$defs", {}).items():
                assert found.setdefault(name, part) == part, f"two different parts are called {name}"
    for name in sorted(found):
        assert found[name].get("description"), f"{name} has no text"
        yield f"### {name}"
        yield f"{found[name]['description']}\n\n{_table(found[name]['properties'], found[name].get('required', []))}"


def _table(properties: dict[str, Any], required: list[str]) -> str:
    rows = [
        f"| `{key}` | {_type(each)}{'' if key in required else ', can be absent'} | {each.get('description', '')} |"
        for key, each in properties.items()
    ]
    return "\n".join(["| key | value | meaning |", "|---|---|---|", *rows])


_NAMES = {"string": "text", "integer": "number", "boolean": "true or false", "null": "`null`"}


def _type(schema: dict[str, Any]) -> str:
    match schema:
        case {"$ref": str(reference)}:
            name = reference.rpartition("/")[2]
            return f"[{name}](#{name.lower()})"
        case {"enum": list(values)}:
            return " or ".join(f"`{each}`" for each in values)
        case {"const": value}:
            return f"`{str(value).lower() if isinstance(value, bool) else value}`"
        case {"anyOf": list(choices)}:
            return " or ".join(map(_type, choices))
        case {"type": "array", "items": dict(items)}:
            return f"list of {_type(items)}"
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"mapping to {_type(values)}"
        case {"type": "object"}:
            return "mapping"
        case {"type": str(name)}:
            return _NAMES[name]
    return "any value"
