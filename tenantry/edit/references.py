"""Refuses edits of what other parts of a file refer to: anchors, aliases, tags, and keys written with `? `."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from tenantry.edit.tree import Entry, Node
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import format_path

if TYPE_CHECKING:
    from tenantry.edit.document import Document

_BY_HAND = "edit the file by hand there"


def check_way(document: Document, way: list[tuple[Node, Entry]], path: Path) -> None:
    """Raises: Refused: a mapping or list on the way to a path stands for others too, or is an alias of another."""
    for node, entry in way:
        check_holder(document, node, path)
        if entry.explicit:
            _refuse(document, entry.start, path, "its key is written with '? '")


def check_holder(document: Document, node: Node, path: Path) -> None:
    """Raises: Refused: an edit in this mapping or list would be one elsewhere too."""
    if node.kind == "alias":
        _refuse(document, node.start, path, f"'*{node.text}' stands here for a value that is written elsewhere")
    if node.anchor and _is_used(document, node.anchor):
        _refuse(document, node.start, path, f"the edit would change every '*{node.anchor}' too")
    if node.tag:
        _refuse(document, node.start, path, "the value has a tag")
    if node.bare:
        _refuse(document, node.start, path, "this mapping in a list lacks its braces")


def check_untouched(document: Document, value: Node, path: Path) -> None:
    """Raises: Refused: a value that is replaced or removed refers to another, or another refers to it."""
    for node in value.nodes():
        if node.kind == "alias":
            _refuse(document, node.start, path, f"'*{node.text}' stands here for a value that is written elsewhere")
        if node.anchor and _is_used(document, node.anchor):
            _refuse(document, node.start, path, f"'*{node.anchor}' elsewhere refers to this value")
        if node.tag:
            _refuse(document, node.start, path, "the value has a tag")


def _is_used(document: Document, anchor: str) -> bool:
    return any(node.kind == "alias" and node.text == anchor for node in document.root.nodes())


def _refuse(document: Document, at: int, path: Path, why: str) -> NoReturn:
    raise Refused(f"{document.place(at)}: '{format_path(path)}' cannot be edited by command: {why}", _BY_HAND)
