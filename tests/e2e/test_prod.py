"""The repository's production, on a sandbox of its own: it starts, and is as the file says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.project import Project, make_project, sandboxed

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def prod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    project = make_project(Path(tmp_path_factory.mktemp("prod") / "project"))
    _, *addresses = re.findall(r"variables: (\{git: .*\})\n", project.fleet.read_text())
    (of_dev,) = re.findall(r"variables: (\{git: .*sandbox\.test.*\})\n", project.fleet.read_text())
    project.edit(*addresses, of_dev)  # the sandbox serves what dev fetches
    with sandboxed(project):
        project.start("prod")
        yield project


def test_production_comes_up(prod: Project) -> None:
    prod.deploy("prod")
    apps = json.loads(prod.tenantry("status", "--environment", "prod", "--output", "json").ok().out)["apps"]
    assert {app["status"] for app in apps} == {"ready"}
