"""An entry for a list that is not there replaces what holds without the list, so it is refused with the whole list to type."""

from __future__ import annotations

import pytest

from tenantry.edit.editor import Editor
from tenantry.edit.paths import END, parse_path
from tenantry.edit.subjects.placing import require_list
from tenantry.messages.errors import Refused
from tests.table import table
from tests.unit.texts import FRAME

DNS = "{clusters: {all: true}, source: {helm: {url: https://charts.example.com}}, helm: {chart: dns, version: 1.x}}"
APPS = (
    "sources: {m: {git: {url: https://git.example.com/a, ref: {branch: main}}}}, apps: {web: {kustomize: {source: m}}}"
)
FLEET = (
    FRAME.replace("platform: {", f"platform: {{addons: {{dns: {DNS}}}, ")
    + f"defaults: {{clusters: {{all: true, exclude: [edge]}}}}\ntenants:\n  rocky: {{{APPS}}}\n"
    + f"  movy: {{clusters: {{labels: {{tier: edge}}}}, {APPS}}}\n  tina: {{clusters: {{names: [hub]}}, {APPS}}}\n"
)


@table(
    "path, new, fix",
    [
        ("tenants.rocky.clusters.names[]", "edge", "tenantry set tenants.rocky.clusters '{names: [hub, edge]}'"),
        ("tenants.movy.clusters.names[]", "hub", "tenantry set tenants.movy.clusters '{names: [edge, hub]}'"),
        (
            "tenants.movy.apps.web.clusters.names[]",
            "hub",
            "tenantry set tenants.movy.apps.web.clusters '{names: [edge, hub]}'",
        ),
        (
            "platform.addons.dns.clusters.names[]",
            "edge",
            "nothing to do; to name them: tenantry set platform.addons.dns.clusters '{names: [hub, edge]}'",
        ),
        ("tenants.rocky.environments[]", "prod", "tenantry set tenants.rocky.environments '[dev, prod]'"),
        ("tenants.tina.clusters.names[]", "edge", ""),
        ("clusters.edge.environments[]", "prod", ""),
        ("tenants.nobody.clusters.names[]", "edge", ""),
        ("defaults.clusters.names[]", "edge", ""),
    ],
)
def test_a_list_that_is_not_there_is_not_begun_by_an_entry(
    tmp_path_factory: pytest.TempPathFactory, path: str, new: str, fix: str
) -> None:
    file = tmp_path_factory.mktemp("fleet") / "tenants.yaml"
    file.write_text(FLEET)
    *holder, end = parse_path(path)
    assert end == END
    if not fix:
        require_list(Editor.open(file), tuple(holder), new)
        return
    with pytest.raises(Refused) as refused:
        require_list(Editor.open(file), tuple(holder), new)
    assert refused.value.fix == fix
    assert f"'{new}' alone would replace" in refused.value.message
