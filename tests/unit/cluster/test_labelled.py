"""What labels on a management cluster say is what the file says, as far as live objects can say it."""

from __future__ import annotations

from typing import Any

from tenantry.cluster.labelled import labelled
from tenantry.cluster.standing import needs_of, parts_of
from tests.unit.memory import Memory, hold
from tests.unit.texts import planned, rocky

TEXT = rocky(
    """\
    web: {kustomize: {source: manifests}, dependsOn: [db]}
    db: {kustomize: {source: manifests}}
    shop: {helm: {source: charts, chart: shop, version: 1.x}, dependsOn: [cache]}
    cache: {helm: {source: charts, chart: cache, version: 1.x}}
    """,
    "clusters: {all: true}\nnamespaces: {jobs: {}}",
)
ADDONS = TEXT.replace(
    "platform: {",
    """\
platform:
  addons:
    dns:
      clusters: {all: true}
      source: {helm: {url: "https://tools.example.com"}}
      helm: {chart: dns, version: 1.x}
      namespaces: {dns: {}}
    mesh:
      clusters: {all: true}
      source: {git: {url: "https://git.example.com/a", ref: {branch: main}}}
      kustomize: {path: .}
    certs:
      clusters: {all: true}
      source: {git: {url: "https://git.example.com/a", ref: {branch: main}}}
      kustomize: {path: .}
      dependsOn: [mesh]
  """,
).replace("version: 0.1.0}}}", "version: 0.1.0}}")


def test_labels_tell_apps_their_chains_and_what_they_wait_for_as_the_file_does() -> None:
    memory, expected = Memory(), planned(ADDONS)
    hold(memory, expected)
    with memory.client() as client:
        found = labelled(client, "dev")
    assert found.left_out == ()
    assert found.plan.management == "hub"
    identities: list[list[Any]] = [
        sorted((app.tenant, app.cluster, app.name, app.id) for app in plan.apps) for plan in (found.plan, expected)
    ]
    assert identities[0] == identities[1]
    assert len(identities[0]) == 14
    assert needs_of(found.plan) == needs_of(expected)
    assert {*parts_of(found.plan, found.plan.apps)} == {*parts_of(expected, expected.apps)}
