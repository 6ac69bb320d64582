"""An environment whose target is a directory: `pulumi up` without any cluster."""

from __future__ import annotations

import pytest
import yaml

from tests.e2e.project import Project

pytestmark = pytest.mark.e2e


def test_prod_is_written_to_a_directory(sandbox: Project) -> None:
    sandbox.pulumi("stack", "select", "--create", "prod").ok()
    sandbox.pulumi("up", "--stack", "prod", "--yes", "--skip-preview").ok()
    files = (sandbox.root / "rendered" / "prod").rglob("*.yaml")
    written = [yaml.safe_load(file.read_text()) for file in files]
    planned = list(yaml.safe_load_all(sandbox.tenantry("render", "--environment", "prod").ok().out))
    assert sorted(written, key=_place) == sorted(planned, key=_place)


def _place(manifest: dict[str, dict[str, str]]) -> tuple[str, ...]:
    metadata = manifest["metadata"]
    return str(manifest["apiVersion"]), str(manifest["kind"]), metadata.get("namespace", ""), metadata["name"]


def test_a_second_up_of_prod_changes_nothing(sandbox: Project) -> None:
    sandbox.pulumi("up", "--stack", "prod", "--yes", "--skip-preview", "--expect-no-changes").ok()


def test_destroying_prod_removes_its_files(sandbox: Project) -> None:
    sandbox.pulumi("destroy", "--stack", "prod", "--yes", "--skip-preview").ok()
    assert not list((sandbox.root / "rendered" / "prod").rglob("*.yaml"))
