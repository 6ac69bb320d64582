"""The navigation of the site, from links of README.md files."""

from __future__ import annotations

from pathlib import Path

from docgen.site.navigation import tree


def test_a_page_belongs_to_the_first_index_that_links_to_it(tmp_path: Path) -> None:
    pages = {
        "docs/README.md": "[Top](top.md)\n## Start\n[Top](top.md#x) [Overview](../README.md) [w](http://a.md)\n"
        "## More\n[ADR](adr/README.md)",
        "docs/adr/README.md": "[One](0001.md) [Top](../top.md)\n\n```text\n[none](none.md)\n```\n",
        "README.md": "[file](tenants.yaml) [Example](examples/a/README.md) [All](docs/README.md)",
        "examples/a/README.md": "## Nothing",
    }
    for name, text in pages.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert tree(tmp_path, "docs/README") == {
        "docs/README": {"": ["docs/top"], "Start": ["README"], "More": ["docs/adr/README"]},
        "docs/adr/README": {"": ["docs/adr/0001"]},
        "README": {"": ["examples/a/README"]},
        "examples/a/README": {},
    }
