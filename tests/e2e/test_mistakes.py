"""What a user sees of `pulumi preview` when something is wrong: one message that says what to do, and nothing changes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.e2e.clusters import Cluster
from tests.e2e.project import Project, Result

pytestmark = pytest.mark.e2e

EXCERPT = re.compile(r" +[0-9]* \| ")
"""A line of the file below a problem, or the carets below that."""


@pytest.fixture
def mended(fleet: Project) -> Iterator[Project]:
    """The project, whose files are as they were when the test is over."""
    files = [fleet.fleet, fleet.root / "Pulumi.dev.yaml"]
    texts = [file.read_text() for file in files]
    yield fleet
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)


def refused(result: Result) -> str:
    """The message of a run that ended before it registered anything."""
    assert result.code == 1, result.text
    assert "Traceback" not in result.text
    shown = result.text.partition("Diagnostics:")[0].splitlines()
    assert [line for line in shown if "kubernetes:" in line and "refresh" not in line] == [], result.text
    return result.text


def test_a_broken_file_is_refused_with_every_place(mended: Project, hub: Cluster) -> None:
    before = hub.fleet_objects()
    mended.edit("source: manifests, path: ./db", "source: manifest, path: ../db")
    mended.edit(
        "labels: {tier: edge, region: eu-west}\n    variables: {domain: edge-1",
        "label: {}\n    variables: {domain: edge-1",
    )
    text = refused(mended.up())
    expected = mended.tenantry("validate")
    assert expected.code == 2
    # The command also shows the lines of the file, which a program's log does not.
    message = "\n".join(line for line in expected.text.splitlines()[1:] if not EXCERPT.match(line)).strip()
    assert "tenants.yaml:" in message
    assert "".join(message.split()) in "".join(text.split())
    assert hub.fleet_objects() == before
