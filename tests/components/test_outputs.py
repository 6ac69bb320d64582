"""What other programs learn from a fleet's components, and what they wait for when they use it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pulumi
import pytest

from components import Fleet
from components.config import ClusterTarget
from components.run import Run
from tests.components.recording import Recording, record
from tests.unit.texts import FRAME, planned

EXAMPLE = Path(__file__).parents[2] / "examples" / "component"
PLAN = planned(
    FRAME
    + """tenants:
  rocky:
    clusters: {names: [hub]}
    sources: {m: {git: {url: "https://git.example.com/rocky", ref: {branch: main}}}}
    apps: {web: {kustomize: {source: m}}}
"""
)


def test_a_tenant_has_outputs_and_who_uses_one_depends_on_all_its_objects() -> None:
    seen: dict[str, Any] = {}

    def build() -> None:
        rocky = Fleet("dev", run=Run(plan=PLAN, target=ClusterTarget())).tenants["rocky"]
        for part in (rocky, rocky.placements["hub"]):
            for name in ("namespaces", "apps", "objects", "accounts"):
                getattr(part, name).apply(lambda value, key=(part._type, name): seen.update({key: value}))
        rocky.clusters.apply(lambda value: seen.update(clusters=value))
        pulumi.CustomResource("kubernetes:core/v1:ConfigMap", "after", {"data": rocky.namespaces})

    recording = record(build)
    own = {each.logical_name for each in PLAN.objects if each.owner.tenant}
    tenant = {name: seen["tenantry:index:Tenant", name] for name in ("namespaces", "apps", "objects")}
    assert tenant == {"namespaces": ["rocky"], "apps": ["web"], "objects": len(own)}
    assert seen["tenantry:index:Placement", "namespaces"] == ["rocky"]
    assert seen["tenantry:index:Tenant", "accounts"] == ["rocky/rocky"]
    assert seen["clusters"] == ["hub"]
    (after,) = (each for each in recording.objects if each.key.name == "after")
    assert {each.name for each in after.depends_on} == own


def test_a_program_can_export_tenants_as_they_are() -> None:
    def build() -> None:
        pulumi.export("tenants", Fleet("dev", run=Run(plan=PLAN, target=ClusterTarget())).tenants)

    rocky = record(build).outputs["tenants"]["rocky"]
    assert (rocky["namespaces"], rocky["accounts"], rocky["placements"]["hub"]["apps"]) == (
        ["rocky"],
        ["rocky/rocky"],
        ["web"],
    )


def test_the_example_of_another_program_waits_for_a_tenant(monkeypatch: pytest.MonkeyPatch) -> None:
    import runpy

    monkeypatch.chdir(EXAMPLE)

    def program() -> None:
        runpy.run_path("__main__.py")

    recording: Recording = record(program, config={"tenantry:target": "directory"})
    (note,) = (each for each in recording.registered if each.key.type == "pulumi:index:Stash")
    assert {each.name for each in note.depends_on} == {
        each.key.name
        for each in recording.objects
        if each.key.name.startswith(("rocky", "kamaji/rocky", "kamaji/edge-rocky"))
    }
    assert recording.exports["tenants"].keys() == {"rocky"}
