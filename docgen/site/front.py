"""The address of the site's directory leads to its front page."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

_INDEX = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Tenantry</title>
<meta http-equiv="refresh" content="0; url={page}">
<a href="{page}">Documentation of Tenantry</a>
</html>
"""


def write_index(app: Sphinx, failure: Exception | None) -> None:
    """Write index.html, unless the build failed or writes something else than HTML."""
    if failure is None and app.builder.format == "html":
        page = app.builder.get_target_uri(app.config.root_doc)
        (Path(app.outdir) / "index.html").write_text(_INDEX.format(page=page), encoding="utf-8")
