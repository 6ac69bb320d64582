"""The JSON Schema of tenants.yaml for editors and other programs, derived from the model.

It covers keys and single values. `tenantry validate` checks how they relate to each other, such as which keys exclude each other.
Editors show titles, descriptions and examples, and offer what they find in types and enums.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from tenantry import model
from tenantry.flux.conformance import part_of_spec
from tenantry.model import tenancy
from tenantry.model.scalars import SHARE, NumberOrShare
from tenantry.model.strict import IN_PART, or_unfilled
from tenantry.rollout.model import REST

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NOTHING = {"$ref": "#/$defs/Nothing"}
"""`null`, in a form that editors do not offer: it removes a value, and few people want that."""
_NOTHING = {"title": "nothing", "not": {"type": ["array", "boolean", "number", "object", "string"]}}


def json_schema() -> dict[str, Any]:
    """The schema of the whole document. It is deterministic: equal models give equal text."""
    schema: dict[str, Any] = _with_wholes(model.Document.model_json_schema(schema_generator=_Generator))
    documented = field_texts()
    for name, definition in schema["$defs"].items():
        _complete(definition, name, documented)
    _complete(schema, "Document", documented)
    _let_complete(schema)
    needed = [key for key in schema.pop("required") if key != "clusters"]  # pieces of the file can hold all of them
    schema["allOf"] = [whole_file({"required": needed})]
    for name, words in SHORT_FORMS.items():
        schema["$defs"][name] = {"anyOf": [{"enum": list(words)}, schema["$defs"][name]]}
    for name, text in SHORT_TEXTS.items():
        schema["$defs"][name] = {"anyOf": [text, schema["$defs"][name]]}
    schema["$defs"]["Nothing"] = _NOTHING
    return {"$schema": DIALECT, "title": "tenants.yaml of Tenantry", **schema}


def whole_file(needed: dict[str, Any]) -> dict[str, Any]:
    """What a file has to hold; editors offer the nearest title for an empty file, and that of the file is no name for it."""
    return {"title": "a whole file", **needed}


SHORT_FORMS = {"PodSecurity": get_args(tenancy.PodSecurityLevel)}
"""Models for which a word may stand."""
SHORT_TEXTS = {
    "Include": {"type": "string", "minLength": 1},
    "RolloutWave": {"type": "string", "pattern": f"^({REST}|{SHARE})$", "examples": ["10%", REST]},
    "Tolerate": TypeAdapter(NumberOrShare).json_schema(),
}
"""Models for which a text may stand."""


class _Generator(GenerateJsonSchema):
    """Without titles, which would only repeat the names; with the keys of mappings checked."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  # pydantic's signature
        return False

    def model_schema(self, schema: Any) -> dict[str, Any]:
        made = super().model_schema(schema)
        made.pop("title", None)
        return made

    def dict_schema(self, schema: Any) -> dict[str, Any]:
        """Pydantic writes only a pattern of keys, which would let all other keys pass unchecked."""
        made = super().dict_schema(schema)
        keys = self.generate_inner(schema["keys_schema"])
        for value in made.pop("patternProperties", {}).values():
            made |= {"propertyNames": {key: keys[key] for key in ("pattern", "maxLength") if key in keys}}
            made |= {"additionalProperties": value}
        return made


def or_nothing(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema, or `null`. Of `anyOf` hovers show the texts of both; only what says its types surely takes no `null`."""
    how = "oneOf" if schema.keys() & {"$ref", "anyOf", "enum", "type"} else "anyOf"
    if schema and not schema.keys() & {"title", "$ref", "type", "enum", "const"}:
        schema = {"title": "a value", **schema}  # else editors show the nearest title above it
    return {how: [schema, NOTHING]}


def _with_wholes(schema: Any) -> Any:
    """A copy in which a part of an entry is described as the whole is: both have the same keys."""
    if isinstance(schema, list):
        return [_with_wholes(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if schema == {"type": "null"}:
        return dict(NOTHING)
    match schema.get("anyOf"):
        case [value, {"type": "null"}]:
            beside = {key: part for key, part in schema.items() if key != "anyOf"}
            return {**_with_wholes(beside), **or_nothing(_with_wholes(value))}
    copied = {key: _with_wholes(value) for key, value in schema.items() if not key.endswith(IN_PART)}
    if isinstance(reference := copied.get("$ref"), str):
        copied["$ref"] = reference.removesuffix(IN_PART)
    return copied


def _complete(definition: dict[str, Any], name: str, documented: dict[tuple[str, str], str]) -> None:
    """Add what pydantic does not know, and the texts below fields; drop defaults that say nothing."""
    described = models()[name]
    definition["title"] = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()  # ExtraNamespace -> extra namespace
    if "description" in definition:
        definition |= _texts(definition["description"], {})
    names = {field.alias or attribute: attribute for attribute, field in described.model_fields.items()}
    for key, value in definition["properties"].items():
        if not isinstance(value.get("default"), str | bool | int):
            value.pop("default", None)
        if text := documented.get((declared_by(described, names[key]).__name__, names[key])):
            value |= {"title": key, **_texts(text, value)}
    if of_flux := flux_keys(described):
        for key, part in of_flux.items():
            if key in described.model_fields:
                definition["properties"][key] |= _fillable(part)
            else:
                definition["properties"][key] = _removable(part)
        definition["additionalProperties"] = False
    if described is model.Environment:
        # One that extends another is checked when it is whole; as written it may remove by `null` what it inherits.
        namespace, variables = (definition["properties"][key] for key in ("namespace", "variables"))
        variables["additionalProperties"] = or_nothing(variables["additionalProperties"])
        for part in (namespace, variables):
            value = {key: part.pop(key) for key in ("type", "additionalProperties", "propertyNames") if key in part}
            part |= or_nothing(value)


_COMPLETED = {
    *("Tenant", "App", "Source", "Git", "Oci", "HelmRepository", "Bucket", "Cluster"),
    *("Credentials", "Config", "Alert", "Provider", "Receiver", "ObjectsChart", "ChartPlace"),
}
"""What templates, tenants and overrides complete together. Which keys the whole requires, `tenantry validate` checks."""


def _let_complete(schema: dict[str, Any]) -> None:
    """Let a part of an entry lack what makes it whole, and remove by `null` what another part says."""
    definitions = schema["$defs"]
    for name in _COMPLETED:
        definitions[name].pop("required", None)
    for part in definitions["ObjectsChart"]["properties"].values():
        for option in part.get("anyOf", part.get("oneOf", ())):
            for mark in option.get("allOf", ()):
                mark.pop("required", None)
    _let_remove(definitions)


_SHOWN = ("title", "description", "markdownDescription")


def _let_remove(definitions: dict[str, Any]) -> None:
    """Let `null` remove an entry of a mapping of a tenant or a cluster, and a key of a cluster."""
    tenant, cluster = (definitions[name]["properties"] for name in ("Tenant", "Cluster"))
    for part in (*tenant.values(), *cluster.values()):
        if (entries := part.get("additionalProperties")) and not _takes_null(entries):
            part["additionalProperties"] = or_nothing(entries)
    for key, part in cluster.items():
        if not _takes_null(part):
            shown = {text: part.pop(text) for text in _SHOWN if text in part}
            cluster[key] = shown | or_nothing(part)


def _takes_null(schema: dict[str, Any]) -> bool:
    return NOTHING in (*schema.get("anyOf", ()), *schema.get("oneOf", ()))


def flux_keys(block: type[model.Model]) -> dict[str, Any]:
    """The keys of a model that are Flux's own and the author's to set, each with its JSON Schema; all may be `null`."""
    if issubclass(block, model.PostBuild):
        kind, part = block.part_of
        of_part = part_of_spec(kind)["properties"][part]["properties"]
        return {key: of_part[key] for key in of_part if key not in block.model_fields}
    if not issubclass(block, model.FluxBlock):
        return {}
    keys = part_of_spec(block.flux_kind)["properties"]
    for name in block.owned:
        parent, _, key = name.rpartition(".")
        (keys[parent]["properties"] if parent else keys).pop(key, None)
    for kind, names in block.parts.items():
        keys |= {key: part for key, part in part_of_spec(kind)["properties"].items() if key in names}
    checked = block.model_fields.keys() - block.choices().keys()
    return {key: part for key, part in keys.items() if key not in checked}


def _removable(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of Flux's for a value that `null` removes, and whose texts may hold placeholders."""
    return or_nothing(_fillable(schema, _removable))


def _fillable(
    schema: dict[str, Any], inner: Callable[[dict[str, Any]], dict[str, Any]] | None = None
) -> dict[str, Any]:
    """A schema of Flux's in which texts may hold placeholders.

    Args: inner: what to make of the values of mappings; not of those in lists, where `null` removes nothing.
    """
    inner = inner or _fillable
    schema = dict(schema)
    if "properties" in schema:
        schema["properties"] = {key: inner(part) for key, part in schema["properties"].items()}
    if isinstance(schema.get("additionalProperties"), dict):
        schema["additionalProperties"] = inner(schema["additionalProperties"])
    if isinstance(schema.get("items"), dict):
        schema["items"] = _fillable(schema["items"])
    return or_unfilled(schema)


def declared_by(described: type[BaseModel], field: str) -> type:
    """The class that says what a field is; an inherited one that is declared anew has its own text, or none."""
    origin = getattr(described, "derived_from", None)
    described = origin if origin and field in origin.model_fields else described
    return next(base for base in described.__mro__ if field in inspect.get_annotations(base))


@cache
def models() -> dict[str, type[model.Model]]:
    """Every model by its name, whichever module it is written in."""
    return {subclass.__name__: subclass for subclass in subclasses(model.Model)}


@cache
def field_texts() -> dict[tuple[str, str], str]:
    """The texts that stand below the fields of the model, by class and field."""
    return texts_below_fields(models().values())


_M = TypeVar("_M", bound=BaseModel)


def subclasses(base: type[_M]) -> Iterator[type[_M]]:
    """The class and all that are derived from it."""
    yield base
    for subclass in base.__subclasses__():
        yield from subclasses(subclass)


def texts_below_fields(classes: Iterable[type]) -> dict[tuple[str, str], str]:
    """The texts that stand below fields, by class and field; read from the source, because Python drops them.

    Pydantic's `use_attribute_docstrings` would read it whenever a class is made, which takes longer than a command.
    """
    documented: dict[tuple[str, str], str] = {}
    modules = {inspect.getmodule(cls) for cls in classes}
    for node in (node for module in modules if module for node in ast.parse(inspect.getsource(module)).body):
        body = node.body if isinstance(node, ast.ClassDef) else []
        for field, text in pairwise(body):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=key)), ast.Expr(value=ast.Constant(value=str(content))):
                    assert isinstance(node, ast.ClassDef)
                    documented[node.name, key] = inspect.cleandoc(content)
    return documented


# --- what editors show ------------------------------------------------------------------------------------------------

_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")


def _texts(text: str, schema: dict[str, Any]) -> dict[str, str]:
    """A description without marks, and one in Markdown if it differs: one line for each paragraph, with the default."""
    paragraphs = [" ".join(part.split()) for part in _LINK.sub(r"\1", text).split("\n\n")]
    if "default" in schema and "Default" not in text and schema["default"] not in ("", None):
        default = schema["default"]
        paragraphs.append(f"Default: `{str(default).lower() if isinstance(default, bool) else default}`.")
    markdown = "\n\n".join(paragraphs)
    plain = markdown.replace("`", "")
    return {"description": plain, "markdownDescription": markdown} if plain != markdown else {"description": plain}


_SHORTEST = 60
"""Characters of a property for which a reference is shorter."""


def text_of(schema: dict[str, Any]) -> str:
    """The schema as JSON. Long properties that stand in several places become definitions, which saves a seventh of the text."""
    schema = deepcopy(schema)
    places: dict[str, list[tuple[dict[str, Any], str]]] = {}
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            for key, value in part.get("properties", {}).items():
                places.setdefault(json.dumps(value, sort_keys=True), []).append((part["properties"], key))
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    definitions = schema["$defs"]
    for text, holders in places.items():
        if len(holders) > 1 and len(text) >= _SHORTEST:
            name = f"{holders[0][1]}-{len(definitions)}"
            definitions[name] = holders[0][0][holders[0][1]]
            for properties, key in holders:
                properties[key] = {"$ref": f"#/$defs/{name}"}
    return _lines(schema)


def _lines(schema: Any, levels: int = 4, indent: str = "") -> str:
    """With a line for each key of the upper levels: of the file, of a definition, of its properties."""
    if not levels or not isinstance(schema, dict) or not schema:
        return json.dumps(schema, separators=(",", ":"))
    lines = (f"{indent} {json.dumps(key)}: {_lines(part, levels - 1, f'{indent} ')}" for key, part in schema.items())
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
