"""A mark of removal belongs to a name: no edit takes it to another one."""

from __future__ import annotations

from pathlib import Path

from tenantry.edit.editor import Editor
from tenantry.edit.subjects.marks import MARKS
from tenantry.edit.subjects.moving import move_app
from tenantry.edit.subjects.names import Kind
from tenantry.edit.subjects.renaming import rename
from tests.table import table

FLEET = """\
environments: {dev: {management: hub}}
clusters:
  hub: {environments: [dev]}
  edge: {state: removing, environments: [dev]}
platform:
  addons:
    dns: {state: offboarding, source: {git: {url: https://git.example.com/a}}}
tenants:
  rocky:
    state: removing
    namespaces: {jobs: {state: offboarding}}
    overrides: {clusters: {edge: {state: removing, role: edit}}}
    apps:
      db: {state: removing, helm: {values: {state: removing}}}
      web: {state: paused, kustomize: {path: ./web}}
  movy: {state: removing, apps: {web: {kustomize: {path: ./web}}}}
"""


def opened(directory: Path) -> Editor:
    file = directory / "tenants.yaml"
    file.write_text(FLEET)
    return Editor.open(file)


@table(
    "kind, old, new, taken",
    [
        (Kind.APP, "rocky/db", "postgres", ["tenants.rocky.apps.postgres.state: removing"]),
        (Kind.APP, "rocky/web", "site", []),
        (Kind.ADDON, "dns", "coredns", ["platform.addons.coredns.state: offboarding"]),
        (
            Kind.CLUSTER,
            "edge",
            "edge-1",
            ["clusters.edge-1.state: removing", "tenants.rocky.overrides.clusters.edge-1.state: removing"],
        ),
        (
            Kind.TENANT,
            "rocky",
            "rocky-2",
            [
                "tenants.rocky-2.state: removing",
                "tenants.rocky-2.apps.db.state: removing",
                "tenants.rocky-2.namespaces.jobs.state: offboarding",
                "tenants.rocky-2.overrides.clusters.edge.state: removing",
            ],
        ),
    ],
)
def test_a_rename_takes_no_mark_along(tmp_path: Path, kind: Kind, old: str, new: str, taken: list[str]) -> None:
    editor = opened(tmp_path)
    notes = [note for note in rename(editor, kind, old, new).notes if note.startswith("left out ")]
    assert notes == [f"left out {each}, which announced the removal of the old name only" for each in taken]
    for each in taken:
        path = tuple(each.partition(": ")[0].split("."))
        assert not editor.files_with(path)
    after = editor.read(editor.main).decode()
    assert sum(after.count(f"state: {mark}") for mark in MARKS) == 8 - len(taken)
    assert "state: paused" in after
    assert "jobs" in editor.names("tenants", new if kind is Kind.TENANT else "rocky", "namespaces")


def test_an_app_that_moves_takes_no_mark_along(tmp_path: Path) -> None:
    editor = opened(tmp_path)
    edit = move_app(editor, "rocky/db", "movy")
    assert (
        "left out tenants.movy.apps.db.state: removing, which announced the removal of the old name only" in edit.notes
    )
    assert editor.value(("tenants", "movy", "apps", "db")) == {"helm": {"values": {"state": "removing"}}}
