"""The navigation follows the links of README.md files, so that a page is listed once, for readers of files and of the site.

docs/README.md lists its pages below the headings of its sections; a README.md among them lists what it links to, and so on.
A page that no README.md links to is an error of the build, and so is a link to a page that does not exist.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from sphinx.application import Sphinx

from docgen.markdown import prose

Sections = Mapping[str, list[str]]
"""Pages without their suffix, relative to the repository, by the heading above their links."""

_LINK = re.compile(r"\]\((?!https?:)([^)#\s]+\.md)(?:#[^)]*)?\)")


def tree(root: Path, front: str) -> dict[str, Sections]:
    """What each README.md lists. A page belongs to the first that links to it."""
    found: dict[str, Sections] = {}
    listed, waiting = {front}, [front]
    for page in waiting:
        found[page] = {}
        for heading, linked in _links(root, page):
            if linked not in listed:
                listed.add(linked)
                found[page] = {**found[page], heading: [*found[page].get(heading, []), linked]}
                waiting += [linked] if linked.endswith("README") else []
    return found


def add_toctrees(app: Sphinx, docname: str, source: list[str]) -> None:
    """Append to a README.md what it lists, where only the navigation shows it."""
    listed = tree(Path(app.srcdir), app.config.root_doc).get(docname, {})
    is_front = docname == app.config.root_doc
    for heading, pages in listed.items():
        caption = f":caption: {heading}\n" if is_front and heading else ""
        entries = "\n".join(f"/{page}" for page in pages)
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n{caption}\n{entries}\n```\n"


def _links(root: Path, page: str) -> Iterator[tuple[str, str]]:
    """Each linked page with the heading above it."""
    heading = ""
    for line in prose((root / f"{page}.md").read_text(encoding="utf-8")).splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ").strip()
        for link in _LINK.findall(line):
            path = os.path.normpath(PurePosixPath(page).parent / link)
            yield heading, path.removesuffix(".md")
