"""Removals take the overrides along that say nothing without what goes, and leave every byte beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.edit.editor import Editor
from tenantry.edit.entries import remove
from tenantry.messages.errors import Refused

DB = "      db: {helm: {source: charts, chart: db}}\n"
OF_DB = "      - {when: {environments: [dev]}, apps: {db: {helm: {version: 1.x}}}}\n"
OF_BOTH = "      - {when: {environments: [dev]}, apps: {web: {helm: {version: 1.x}}%s}}\n"
EDGE = "  edge: {environments: [dev]}\n"
OF_EDGE = "      - {when: {clusters: {names: [edge]}}, state: removing}\n"
OF_EDGE_IN_DEV = "      - {when: {environments: [dev], clusters: {names: [edge]}}, quota: {pods: 1}}\n"
OF_SEVERAL = "      - {when: {clusters: {names: [hub%s]}}, quota: {pods: 2}}\n"
BUT_EDGE = "      - {when: {clusters: {all: true%s}}, quota: {pods: 3}}\n"
FLEET = f"""\
apiVersion: tenantry/v1
environments:
  dev: {{management: hub}}
clusters:
  hub: {{environments: [dev]}}
{EDGE}tenants:
  rocky:
    clusters: {{all: true}}
    sources: {{charts: {{helm: {{url: https://charts.example.com}}}}}}
    apps:
      web: {{helm: {{source: charts, chart: web}}}}
{DB}    overrides:
{OF_DB}{OF_BOTH % ", db: {helm: {version: 2.x}}"}{OF_EDGE}{OF_EDGE_IN_DEV}{OF_SEVERAL % ", edge"}{BUT_EDGE % ", exclude: [edge]"}"""


@pytest.mark.parametrize(
    ("kind", "name", "changes"),
    [
        ("app", "rocky/db", [(DB, ""), (OF_DB, ""), (", db: {helm: {version: 2.x}}", "")]),
        (
            "cluster",
            "edge",
            [(EDGE, ""), (OF_EDGE, ""), (OF_EDGE_IN_DEV, ""), ("[hub, edge]", "[hub]"), (", exclude: [edge]", "")],
        ),
    ],
)
def test_an_override_goes_with_what_it_is_about(
    kind: str, name: str, changes: list[tuple[str, str]], tmp_path: Path
) -> None:
    file = tmp_path / "tenants.yaml"
    file.write_text(FLEET)
    with pytest.raises(Refused, match="is in use"):
        remove(Editor(file), kind, name)
    editor = Editor(file)
    remove(editor, kind, name, cascade=True)
    expected = FLEET
    for old, new in changes:
        assert expected.count(old) == 1
        expected = expected.replace(old, new)
    assert editor.read(file).decode() == expected
