"""The words by which readers look for a page, beside those that are on it.

A comment below a heading lists them: `<!-- search: roll back, rollback, undo -->`. Git hosts do not show it, and the site's search
leads from each of them to the section, before any page that merely has the word.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

_COMMENT = re.compile(r"<!-- search: (.+?) -->", re.DOTALL)


class SearchWords(SphinxTransform):
    """Each such comment becomes entries of the index, which the search knows."""

    default_priority = 500

    def apply(self, **_: object) -> None:
        for comment in list(self.document.findall(nodes.raw)):
            if found := _COMMENT.fullmatch(comment.astext().strip()):
                words = [word.strip() for word in found[1].split(",")]
                entries = [("single", word, _section(comment), "main", None) for word in words]
                comment.replace_self(addnodes.index(entries=entries))


def _section(node: nodes.Node) -> str:
    """The anchor of the section that a node is in."""
    while not isinstance(node, nodes.section):
        node = node.parent
    anchor: str = node["ids"][0]
    return anchor
