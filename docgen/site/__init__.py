"""What the site of the documentation needs beyond Sphinx: navigation from README.md, pages for linked files, words to search for.

Sphinx loads it as an extension, named in docs/conf.py. It changes what is shown and never a page's source.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from docgen.site import files, front, navigation, search


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", navigation.add_toctrees)
    app.add_transform(files.LinkedFiles)
    app.add_transform(search.SearchWords)
    app.connect("html-collect-pages", files.pages)
    app.connect("build-finished", front.write_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
