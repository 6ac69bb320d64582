"""An example for every section: a piece of tenants.yaml, which a small fleet completes.

`examples/<Model>.yaml` shows every key of its section. Only the tests load them.
"""

from __future__ import annotations

import shutil
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import yaml

from docgen.reference.kinds import named_types
from docgen.reference.sections import Section, hints, key_of, sections, text_of
from tenantry.fleet.merge import Layer, merge
from tenantry.kube.yaml_text import document
from tenantry.model import Document, Model
from tenantry.model.strict import OneOf, resolved

_HERE = Path(__file__).parent
EXAMPLES = _HERE / "examples"
BASE = _HERE / "base"
"""The fleet that examples are pieces of."""


def gaps() -> list[str]:
    """What the reference lacks, each as a sentence that says where to write it; empty when it is complete."""
    return [*_without_text(), *_without_example(), *_without_section()]


def example_of(section: Section) -> str:
    """The text of a section's example; empty if it has no example."""
    file = EXAMPLES / f"{section.model.__name__}.yaml"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def write_fleet(section: Section, directory: Path) -> Path:
    """Complete a section's example to a fleet, in a directory that is not there yet. Returns: its file."""
    shutil.copytree(BASE, directory)
    file = directory / "tenants.yaml"
    base, example = (document(text) for text in (file.read_text(encoding="utf-8"), example_of(section)))
    platform = example.get("platform", {})
    if any("chart" in each for each in (platform, *platform.get("overrides", ()))):
        del base["platform"]["chart"]  # a chart from Git instead of one from a repository of charts
    merged = merge([Layer((), base), Layer((), example)])
    file.write_text(yaml.safe_dump(merged, sort_keys=False), encoding="utf-8")
    return file


def _without_text() -> Iterator[str]:
    for section in sections():
        model = section.model
        for field in section.fields:
            if not text_of(model, field):
                place = f"'{section.path}'" if section.path else "the top level"
                where = f"'{key_of(model, field)}' of {place} ({model.__name__}.{field} in {model.__module__})"
                yield f"key {where} has no text: write one below the field"
    for name, _, text in named_types():
        if not text:
            yield f"type '{name}' has no text: write one below it, in tenantry.scalars or the model"


def _without_example() -> Iterator[str]:
    for section in sections():
        name = section.model.__name__
        text = example_of(section)
        if not text:
            yield f"section '{section.path}' has no example: write docgen/reference/examples/{name}.yaml"
            continue
        shown = set(_shown(Document, document(text)))
        for field in section.fields:
            if (section.model, field) not in shown and not _is_instead(section, field, shown):
                key = key_of(section.model, field)
                yield f"the example of section '{section.path}' does not show '{key}': add it to {name}.yaml"


def _is_instead(section: Section, field: str, shown: set[tuple[type[Model], str]]) -> bool:
    """Whether the example shows another key of a choice that the file has once."""
    one_of = section.model.one_of if issubclass(section.model, OneOf) and "<" not in section.path else ()
    return field in one_of and any((section.model, other) in shown for other in one_of)


def _without_section() -> Iterator[str]:
    names = {section.model.__name__ for section in sections()}
    for file in sorted(EXAMPLES.glob("*.yaml")):
        if file.stem not in names:
            yield f"no part of the file is a '{file.stem}' (any more): remove docgen/reference/examples/{file.name}"


def _shown(annotation: Any, value: Any) -> Iterator[tuple[type[Model], str]]:
    """The fields that data of some type sets, through all it holds."""
    origin, args = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Model):
        for field in annotation.model_fields:
            if isinstance(value, dict) and (key := key_of(annotation, field)) in value:
                yield annotation, field
                yield from _shown(hints(annotation)[field], value[key])
    elif origin is dict and isinstance(value, dict):
        for each in value.values():
            yield from _shown(args[1], each)
    elif origin is list and isinstance(value, list):
        for each in value:
            yield from _shown(args[0], each)
    elif origin is Annotated:
        yield from _shown(resolved(annotation), value)
    elif origin in (Union, types.UnionType):
        for arg in args:
            yield from _shown(arg, value)
