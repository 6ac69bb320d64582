"""The places of a fleet's files where the name of something stands, and whether a name is declared.

The walk follows the model's types through plain data, so it works for data of any shape: what has the wrong structure is skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path as FilePath
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from tenantry.edit.editor import Editor
from tenantry.edit.subjects.names import NAMES, If, Kind, Named, Target, target_named
from tenantry.flux import references as of_flux
from tenantry.kube.names import PLATFORM, addon_named, dns_label_problem
from tenantry.messages.errors import UNKNOWN_NAME, Path, Refused
from tenantry.messages.text import closest, listed
from tenantry.model import Document, FluxBlock, Model


class Reference(NamedTuple):
    """A place where a name stands. form: what it is there; written: the text there, such as `platform/dns`."""

    path: Path
    target: Target
    form: Literal["value", "entry", "key"]
    written: str
    removed: If


def references(data: dict[str, Any]) -> Iterator[Reference]:
    """All names in the data of a file, main or included."""
    yield from _of_model(Document, data, ())


def references_to(editor: Editor, target: Target) -> list[tuple[FilePath, Reference]]:
    """Where a name stands, in which files."""
    return [
        (file, reference)
        for file, document in editor.documents.items()
        for reference in references(document.data)
        if reference.target == target
    ]


# --- whether a name is declared -----------------------------------------------------------------------------------------


def existing(editor: Editor, kind: Kind, text: str) -> Target:
    """What an argument names, if the file declares it. Raises: Refused."""
    target = target_named(kind, text)
    _require_owner(editor, target)
    require(editor, target)
    return target


def new(editor: Editor, kind: Kind, text: str) -> Target:
    """What an argument names, if the file does not declare it yet. Raises: Refused: the name is taken, or not valid."""
    target = target_named(kind, text)
    if problem := dns_label_problem(target.name):
        raise Refused(f"name '{target.name}' {problem}", "choose another name")
    _require_owner(editor, target)
    if files := editor.files_with(target.path):
        where = f" in {files[-1]}" if files[-1] != editor.main else ""
        raise Refused(f"{target} exists already{where}", "choose another name")
    return target


def require(editor: Editor, target: Target) -> None:
    """Raises: Refused: the file does not declare the target."""
    known = editor.names(*target.path[:-1])
    if target.name not in known:
        near = closest(target.name, known)
        whose = f" of {str(target).partition(' of ')[2]}" if target.owner else ""
        those = f"declared: {', '.join(known[:8])}{', ...' if len(known) > 8 else ''}" if known else "none is declared"
        added = ", or add it: tenantry add tenant " + target.name if target.kind is Kind.TENANT else ""
        raise Refused(
            f"there is no {target.kind.word} '{target.name}'{whose}; {those}",
            f"did you mean '{near}'?" if near else f"correct the name{added}",
            code=UNKNOWN_NAME,
        )


def _require_owner(editor: Editor, target: Target) -> None:
    if target.owner and target.owner != PLATFORM:
        require(editor, Target(Kind.TENANT, target.owner))


def file_named(editor: Editor, name: FilePath) -> FilePath:
    """The file of the fleet that a path names. Raises: Refused: it is none of them."""
    for file in editor.documents:
        if file.resolve() == name.resolve():
            return file
    raise Refused(
        f"{name} is not one of the fleet's files: {listed(editor.documents)}",
        f"create it with the line 'tenants: {{}}' or 'clusters: {{}}', and name it under 'include:' of {editor.main}",
    )


# --- the walk -----------------------------------------------------------------------------------------------------------


class Field(NamedTuple):
    """A key of a model: its name in the file, the model and the attribute that declare it, and its type."""

    key: str
    declared: tuple[type[Model], str]
    type: Any


@cache
def fields_of(model: type[Model]) -> tuple[Field, ...]:
    """The keys of a model, with the topmost class that declares each: an entry of the table counts for its subclasses."""
    return tuple(
        Field(
            info.alias or name,
            (next(base for base in reversed(model.__mro__) if name in getattr(base, "__annotations__", ())), name),
            info.annotation,
        )
        for name, info in model.model_fields.items()
    )


@cache
def parts_of(annotation: Any) -> tuple[Any, ...]:
    """The types that a type chooses between, without `None` and what only restricts values."""
    if get_origin(annotation) is Annotated:
        return parts_of(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return tuple(part for choice in get_args(annotation) for part in parts_of(choice))
    return () if annotation is type(None) else (annotation,)


def _target(kind: Kind, name: str, at: Path) -> Target:
    """What a name at a path means: in the platform's part, apps are add-ons."""
    if kind is Kind.APP and (addon := addon_named(name)) is not None:
        return Target(Kind.ADDON, addon)
    of_template = at[:2] == ("templates", "tenants")  # what a template names is no tenant's
    platform = not of_template and at[:1] != ("tenants",)
    if kind is Kind.ADDON or (platform and kind is Kind.APP):
        return Target(Kind.ADDON, addon_named(name) or name)
    if not kind.is_owned:
        return Target(kind, name)
    return Target(kind, name, PLATFORM if platform else f"template:{at[2]}" if of_template else str(at[1]))


def _of_model(model: type[Model], value: Any, at: Path) -> Iterator[Reference]:
    if not isinstance(value, dict):
        return
    for field in fields_of(model):
        if field.key in value:
            place = (*at, field.key)
            named = NAMES.get(field.declared)
            if named and not _is_whole(field.type, value[field.key]):
                yield from _names(value[field.key], named, place)
            yield from _below(field.type, value[field.key], place)
    if issubclass(model, FluxBlock):
        yield from _of_block(model, value, at)


def _is_whole(annotation: Any, value: Any) -> bool:
    """Whether a name is written as a mapping with keys of its own, which have a model."""
    return isinstance(value, dict) and not any(get_origin(part) is dict for part in parts_of(annotation))


def _below(annotation: Any, value: Any, at: Path) -> Iterator[Reference]:
    for part in parts_of(annotation):
        if get_origin(part) is dict and isinstance(value, dict):
            for key, inner in value.items():
                yield from _below(get_args(part)[1], inner, (*at, key))
        elif get_origin(part) is list and isinstance(value, list):
            for index, inner in enumerate(value):
                yield from _below(get_args(part)[0], inner, (*at, index))
        elif isinstance(part, type) and issubclass(part, Model):
            yield from _of_model(part, value, at)


def _names(value: Any, named: Named, at: Path) -> Iterator[Reference]:
    """The names in a value: itself, the entries of a list, or the keys of a mapping."""
    if isinstance(value, str):
        yield Reference(at, _target(named.kind, value, at), "value", value, named.removed)
    elif isinstance(value, list):
        for index, name in enumerate(value):
            if isinstance(name, str):
                yield Reference((*at, index), _target(named.kind, name, at), "entry", name, named.removed)
    elif isinstance(value, dict):
        for name in value:
            yield Reference((*at, name), _target(named.kind, name, at), "key", name, named.removed)


def _of_block(model: type[FluxBlock], block: dict[str, Any], at: Path) -> Iterator[Reference]:
    """The sources that a Git source includes."""
    for path, name in of_flux.included_sources(model.flux_kind, block):
        yield Reference((*at, *path), _target(Kind.SOURCE, name, at), "value", name, If.REFUSE)
