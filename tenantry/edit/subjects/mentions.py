"""Where a name stands in texts and comments, which a rename leaves alone: people want to look at them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tenantry.edit.document import Document
from tenantry.edit.subjects.draft import Draft
from tenantry.edit.subjects.references import Target, references
from tenantry.edit.tree import Node, comments
from tenantry.messages.errors import Path
from tenantry.messages.placeholders import with_stand_ins
from tenantry.messages.text import listed

_MOST = 6


def mentions(draft: Draft, target: Target) -> list[str]:
    """A note with the lines of the fleet's files where a name still stands as a word, without placeholders."""
    word = re.compile(rf"(?<![\w-]){re.escape(target.name)}(?![\w-])")
    places = [
        place.rpartition(":")[0]
        for document in draft.documents.values()
        for place in map(document.place, sorted(_found(document, word, target)))
    ]
    unique = list(dict.fromkeys(places))
    return [f"'{target.name}' still stands in text, which is left as it is: {listed(unique, _MOST)}"] if unique else []


def _found(document: Document, word: re.Pattern[str], target: Target) -> Iterator[int]:
    start, end = _scope(document, target)
    names = {each.path for each in references(document.data)}
    for path, node, is_key in _scalars(document.root, ()):
        if (
            not is_key
            and path not in names
            and start <= node.start < end
            and word.search(with_stand_ins(node.text, "_"))
        ):
            yield node.start
    for comment in comments(document.text, document.root.nodes(), start, end):
        if word.search(comment[0]):
            yield comment.start()


def _scope(document: Document, target: Target) -> tuple[int, int]:
    """The part of a file in which a name means the target: the whole file, or its tenant."""
    if not target.owner:
        return 0, len(document.text)
    at = ("tenants", target.owner)
    if document.depth(at) < len(at):
        return 0, 0
    entry = document.entry(at)
    return entry.start, entry.end


def _scalars(node: Node, path: Path) -> Iterator[tuple[Path, Node, bool]]:
    """The scalars of a tree with their paths; whether each is a key."""
    if node.kind == "scalar":
        yield path, node, False
    for index, entry in enumerate(node.entries):
        part = index if entry.key is None else entry.key.text
        if entry.key is not None:
            yield (*path, part), entry.key, True
        yield from _scalars(entry.value, (*path, part))
