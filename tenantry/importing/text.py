"""A draft as the text of tenants.yaml, which reads back as the same data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap
from typing import Any

from tenantry.edit.values import Style, depth_of, flow, key_text
from tenantry.importing.model import Path
from tenantry.messages.text import printable

_WIDTH = 100
"""The longest line on which a whole mapping or list stands."""
_ROOMY = ("environments", "clusters", "tenants")
_ONE_LINE = dict.fromkeys(("git", "oci", "helm", "bucket", "ref", "source", "clusters", "kubeconfig"), 2) | {"when": 3}
"""How deep a mapping below a key may be to stand on its line; below all others: 1."""
_STYLE = Style()

Comments = Mapping[Path, Iterable[str]]


def header(sources: Iterable[str]) -> list[str]:
    """The comment at the top of the file."""
    return [
        "Written by `tenantry import` from:",
        *(f"  {source}" for source in sources),
        "Values are those that were found. Comments mark what needs a decision; see docs/import.md.",
    ]


def text_of(data: Mapping[str, Any], head: Iterable[str] = (), comments: Comments | None = None) -> str:
    """The text. head: a comment at the top; comments: those at places in the data."""
    lines = ["# yaml-language-server: $schema=tenants.schema.json", *(f"# {printable(each)}" for each in head)]
    for key, value in data.items():
        if not isinstance(value, str):
            lines.append("")
        lines += _entry(key, value, 0, (key,), comments or {})
    return "\n".join(lines) + "\n"


def _entry(key: str, value: Any, indent: int, path: Path, comments: Comments) -> Iterator[str]:
    margin = " " * indent
    for each in comments.get(path, ()):
        yield from (
            f"{margin}# {line}" for line in wrap(printable(each), max(40, _WIDTH - indent - 2), break_on_hyphens=False)
        )
    name = f"{margin}{key_text(key, _STYLE)}:"
    if isinstance(value, str) and _is_block(value):
        yield from _block(name, value, indent + 2)
    elif not isinstance(value, dict | list) or not value or _fits(name, value, path, comments):
        yield f"{name} {flow(value, _STYLE)}"
    elif isinstance(value, dict):
        yield name
        for below, each in value.items():
            yield from _entry(below, each, indent + 2, (*path, below), comments)
    else:
        yield name
        for index, each in enumerate(value):
            yield from _item(each, indent + 2, (*path, index), comments)


def _item(value: Any, indent: int, path: Path, comments: Comments) -> Iterator[str]:
    margin = " " * indent
    if isinstance(value, dict) and value and not _fits(f"{margin}-", value, path, comments):
        lines = [line for key, each in value.items() for line in _entry(key, each, indent + 2, (*path, key), comments)]
        yield f"{margin}- {lines[0][indent + 2 :]}"
        yield from lines[1:]
    elif isinstance(value, str) and _is_block(value):
        yield from _block(f"{margin}-", value, indent + 2)
    else:
        yield f"{margin}- {flow(value, _STYLE)}"


def _fits(name: str, value: Any, path: Path, comments: Comments) -> bool:
    """Whether a mapping or list stands on the line of its key: small ones do, so that a file shows more at a glance."""
    if (
        any(comment[: len(path)] == path for comment in comments)
        or len(path) < 2
        or (len(path) == 2 and path[0] in _ROOMY)
    ):
        return False
    if isinstance(value, dict) and depth_of(value) > _ONE_LINE.get(str(path[-1]), 1):
        return False
    if isinstance(value, list) and any(isinstance(each, dict | list) and depth_of(each) > 1 for each in value):
        return False
    text = flow(value, _STYLE)
    return "\n" not in text and len(name) + 1 + len(text) <= _WIDTH and _scalars_in(value) <= 4


def _scalars_in(value: Any) -> int:
    """How many values a part of the file holds that are no mappings and no lists."""
    if isinstance(value, dict):
        return sum(map(_scalars_in, value.values()))
    return sum(map(_scalars_in, value)) if isinstance(value, list) else 1


def _is_block(text: str) -> bool:
    """Whether a text of several lines can stand below its key as it is, also with spaces at the end of its lines.

    The edit commands write such a text in quotes. What import reads was written by others, and has to stay readable.
    """
    lines = text.split("\n")
    return (
        len(lines) > 1
        and bool(lines[0].strip())
        and not lines[0].startswith(" ")
        and all(line.isprintable() and "\ufeff" not in line and (not line or line.strip()) for line in lines)
    )


def _block(name: str, text: str, indent: int) -> Iterator[str]:
    body = text.rstrip("\n")
    ending = len(text) - len(body)
    yield f"{name} |{'-' if ending == 0 else '' if ending == 1 else '+'}"
    for line in body.split("\n") + [""] * max(0, ending - 1):
        yield f"{' ' * indent}{line}" if line else ""
