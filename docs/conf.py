"""The site of the documentation: `make docs` writes it to build/docs with Sphinx, MyST and furo.

Sources are the Markdown pages as Git hosts show them, so the directory of sources is the repository. What Sphinx cannot
do with such pages by itself is in docgen/site: navigation from README.md, links to files that are no pages, words of the
search.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

project = "Tenantry"
author = "The authors of Tenantry"
root_doc = "docs/README"
include_patterns = ["README.md", "AGENTS.md", "CHANGELOG.md", "docs/*.md", "docs/*/*.md", "examples/*/*.md"]
exclude_patterns = [".*", "build", "tests", "tenantry", "**/node_modules"]  # not searched at all, which takes time

extensions = ["myst_parser", "docgen.site"]
myst_heading_anchors = 4  # the anchors that Git hosts give to headings
myst_enable_extensions: list[str] = []  # Git hosts know none of them

html_theme = "furo"
html_title = "Tenantry"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
html_search_scorer = str(ROOT / "docgen" / "site" / "scorer.js")
html_favicon = "_static/favicon.svg"
html_use_index = False
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_show_search_summary = False  # the summaries are fetched, which browsers refuse for pages opened from a disk
pygments_style = "friendly"
pygments_dark_style = "github-dark"
