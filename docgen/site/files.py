"""A link to a file of the repository that is no page, such as tenants.yaml, leads to a page that shows the file.

So a link works in a Git host's view of the Markdown file, and on a site that is opened from a disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.util import ClassNotFound
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

_PREFIX = "files/"
_LINKED = "tenantry_linked_files"
"""Where Sphinx keeps, beside what it read, which page links to which files."""


class LinkedFiles(SphinxTransform):
    """MyST makes a download of such a link; this makes it a link to the page that shows the file."""

    default_priority = 500

    def apply(self, **_: Any) -> None:
        linked = []
        for node in list(self.document.findall(addnodes.download_reference)):
            target = os.path.normpath(Path(self.env.docname).parent / node["reftarget"])
            if node["reftarget"].startswith("/"):
                target = os.path.normpath(node["reftarget"].lstrip("/"))
            linked.append(target)
            up = os.path.relpath(_PREFIX + target, Path(self.env.docname).parent)
            reference = nodes.reference("", "", *node.children, refuri=f"{up}.html", classes=["file"])
            node.replace_self(reference)
        self.env.metadata[self.env.docname][_LINKED] = linked


def pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """A page for each linked file: its name, what the template needs, the template."""
    linked = {each for metadata in app.env.metadata.values() for each in metadata.get(_LINKED, ())}
    for path in sorted(linked):
        shown = f"<h1><code>{path}</code></h1>{_highlighted(Path(app.srcdir) / path)}"
        yield _PREFIX + path, {"title": path, "body": shown}, "page.html"


def _highlighted(file: Path) -> str:
    try:
        lexer = get_lexer_for_filename(file.name)
    except ClassNotFound:
        lexer = TextLexer()
    text = highlight(file.read_text(encoding="utf-8"), lexer, HtmlFormatter(cssclass="highlight"))
    return f'<div class="highlight-default notranslate">{text}</div>'
