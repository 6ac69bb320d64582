"""The JSON Schema as editors want it: it accepts the same files, and shows less noise while one is written.

The schema of teams' files is that of tenants.yaml without what belongs to the platform, with all that can be granted. It does not
know what is granted to whom; `tenantry validate` does.

Called by: what publishes a schema.
Never: changes what is accepted. Editors show titles, descriptions and examples, and offer what they find in types and enums.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, count
from typing import Any, get_args

from tenantry.fleet.json_schema import DIALECT, json_schema
from tenantry.grants.frames import BLOCKS, OF_NAMESPACES, OVERRIDES, PARTS, SELECTOR
from tenantry.grants.model import GRANTABLE

NOTHING = {"title": "nothing", "not": {"type": ["array", "boolean", "number", "object", "string"]}}
"""`null`, in a form that editors do not offer: it removes a value, and few people want that."""
_NOTHING = {"$ref": "#/$defs/Nothing"}
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_MOST_IN_A_TITLE = 3


def editor_schema() -> dict[str, Any]:
    """The schema of tenants.yaml."""
    return for_editors(json_schema())


def text_of(schema: Any, levels: int = 4, indent: str = "") -> str:
    """The schema as JSON, with a line for each key of the upper levels: of the file, of a definition, of its properties."""
    if not levels or not isinstance(schema, dict) or not schema:
        return json.dumps(schema, separators=(",", ":"))
    lines = (f"{indent} {json.dumps(key)}: {text_of(part, levels - 1, f'{indent} ')}" for key, part in schema.items())
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def for_editors(schema: dict[str, Any]) -> dict[str, Any]:
    """A copy of a schema of whole files that accepts the same."""
    made: dict[str, Any] = _prepared(schema)
    definitions: dict[str, Any] = {
        # ExtraNamespace -> extra namespace
        name: {"title": re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower(), **definition}
        for name, definition in made["$defs"].items()
    }
    made["$defs"] = {**definitions, "Nothing": NOTHING}
    # The title of a file is no name for what it has to hold, which editors offer for an empty file.
    needed = {key: made.pop(key) for key in ("required", "anyOf") if key in made}
    made["allOf"] = [{"title": "a whole file", **needed}]
    return _shared(made)


def _prepared(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_prepared(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema == {"type": "null"}:
        return dict(_NOTHING)
    made = {
        # Below these keys stand names, not keywords.
        # A documented key has its name as the title, which editors show above the text.
        key: {
            name: ({"title": name} if key == "properties" and "description" in below else {}) | _prepared(below)
            for name, below in part.items()
        }
        if key in _OF_NAMES
        else _prepared(part)
        for key, part in schema.items()
        if key not in ("enum", "const", "default", "examples", "not")
    }
    made |= {key: schema[key] for key in ("enum", "const", "default", "examples", "not") if key in schema}
    made = _without_null(_without_null_option(made))
    for key in ("anyOf", "oneOf"):
        if key in made:
            made[key] = [_titled(option) for option in made[key]]
    if isinstance(text := made.get("description"), str):
        made |= _texts(text, made)
    return made


_OF_NAMES = ("$defs", "dependentSchemas", "properties")


def _without_null_option(schema: dict[str, Any]) -> dict[str, Any]:
    """A value or `null` as `oneOf`: for `anyOf` hovers show the texts of both. Only what says its types surely takes no `null`."""
    options = schema.get("anyOf", [])
    if (
        len(options) != 2
        or _NOTHING not in options
        or not all(option.keys() & {"$ref", "anyOf", "enum", "type"} for option in options)
    ):
        return schema
    rest = {key: part for key, part in schema.items() if key != "anyOf"}
    return {**rest, "oneOf": options}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """`null` among the types or the words of a schema as an alternative, which is not offered."""
    if isinstance(kinds := schema.get("type"), list) and "null" in kinds:
        rest = [kind for kind in kinds if kind != "null"]
        value = {**schema, "type": rest[0] if len(rest) == 1 else rest}
    elif None in schema.get("enum", ()):
        value = {**schema, "enum": [word for word in schema["enum"] if word is not None]}
    else:
        return schema
    shown: dict[str, Any] = {key: value.pop(key) for key in ("description", "default") if key in value}
    return {**shown, "oneOf": [value, dict(_NOTHING)]}


def _titled(option: dict[str, Any]) -> dict[str, Any]:
    """An alternative with its name, which editors show instead of the nearest title above it; a plain value needs none."""
    if option.keys() & {"title", "$ref", "type", "enum", "const"} or not option:
        return option
    return {"title": _title(option), **option}


def _title(option: dict[str, Any]) -> str:
    if required := option.get("required"):
        return f"with {' and '.join(required[:_MOST_IN_A_TITLE])}"
    for key in ("oneOf", "anyOf"):
        if key in option:
            return " or ".join(str(part.get("title", "mapping")) for part in option[key][:_MOST_IN_A_TITLE])
    return "another"


def _texts(text: str, schema: dict[str, Any]) -> dict[str, str]:
    """A description without marks, and one in Markdown if it differs: one line for each paragraph, with the default."""
    paragraphs = [" ".join(part.split()) for part in _LINK.sub(r"\1", text).split("\n\n")]
    if "default" in schema and "Default" not in text and schema["default"] not in ("", None):
        default = schema["default"]
        paragraphs.append(f"Default: `{str(default).lower() if isinstance(default, bool) else default}`.")
    markdown = "\n\n".join(paragraphs)
    plain = markdown.replace("`", "")
    return {"description": plain, "markdownDescription": markdown} if plain != markdown else {"description": plain}


# --- what stands in several places ------------------------------------------------------------------------------------

_SHORTEST = 60
"""Characters of a property for which a reference is shorter."""


def _shared(whole: dict[str, Any]) -> dict[str, Any]:
    """The schema, in which each long property that stands in several places is a definition, named after its key."""
    places = [
        (holder, key, json.dumps(part, sort_keys=True))
        for holder in _holders(whole)
        for key, part in holder["properties"].items()
    ]
    counts = Counter(text for _, _, text in places)
    definitions, names = whole["$defs"], dict[str, str]()
    for holder, key, text in places:
        if counts[text] > 1 and len(text) >= _SHORTEST:
            if text not in names:
                free = chain([key], (f"{key}{number}" for number in count(2)))
                names[text] = next(name for name in free if name not in definitions)
                definitions[names[text]] = holder["properties"][key]
            holder["properties"][key] = {"$ref": f"#/$defs/{names[text]}"}
    return whole


def _holders(schema: Any) -> list[dict[str, Any]]:
    """All schemas with properties."""
    below = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    own = [schema] if isinstance(schema, dict) and isinstance(schema.get("properties"), dict) else []
    return [*own, *chain.from_iterable(map(_holders, below))]


# --- the files of teams -------------------------------------------------------------------------------------------------


def included_schema() -> dict[str, Any]:
    """What an included file can say if everything that can be granted is granted."""
    whole, settings = json_schema(), get_args(GRANTABLE)
    definitions = whole["$defs"]
    _keep(definitions["Tenant"], {*PARTS, SELECTOR, OVERRIDES, *BLOCKS, *settings})
    _keep(definitions["TenantOverride"], {"when", *PARTS, *BLOCKS, *settings})
    _keep(definitions["ExtraNamespace"], {"name", *(set(settings) & {*OF_NAMESPACES})})
    definitions["TenantOwner"]["properties"]["role"] |= {"enum": ["view", "edit"]}
    del definitions["App"]["properties"]["waves"]
    tenants = whole["properties"]["tenants"]
    return for_editors(
        {
            "$schema": DIALECT,
            "title": "included files of Tenantry",
            "type": "object",
            "properties": {"tenants": tenants},
            "required": ["tenants"],
            "additionalProperties": False,
            "$defs": _used(tenants, definitions),
        }
    )


def _keep(definition: dict[str, Any], keys: set[str]) -> None:
    """Leave the properties that the file may set."""
    definition["properties"] = {key: part for key, part in definition["properties"].items() if key in keys}


def _used(schema: Any, definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The definitions that a schema refers to, itself or by others, in their order."""
    used: set[str] = set()
    waiting = [schema]
    while waiting:
        for name in _references(waiting.pop()):
            if name not in used:
                used.add(name)
                waiting.append(definitions[name])
    return {name: definition for name, definition in definitions.items() if name in used}


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(reference := schema.get("$ref"), str):
            yield reference.removeprefix("#/$defs/")
        for value in schema.values():
            yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)
