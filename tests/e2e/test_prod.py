"""An environment whose target is a directory: `pulumi up` without any cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml

from tests.e2e.project import Project

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def prod(sandbox: Project) -> Iterator[Project]:
    """The project after the first `up` of prod."""
    sandbox.make_stack("prod")
    sandbox.up("prod").ok()
    yield sandbox
    if sandbox.has_resources("prod"):
        sandbox.destroy("prod").ok()


def test_prod_is_written_to_a_directory(prod: Project) -> None:
    files = (prod.root / "rendered" / "prod").rglob("*.yaml")
    written = [yaml.safe_load(file.read_text()) for file in files]
    planned = list(yaml.safe_load_all(prod.tenantry("render", "--environment", "prod").ok().out))
    assert sorted(written, key=_place) == sorted(planned, key=_place)


def _place(manifest: dict[str, dict[str, str]]) -> tuple[str, ...]:
    metadata = manifest["metadata"]
    return str(manifest["apiVersion"]), str(manifest["kind"]), metadata.get("namespace", ""), metadata["name"]


def test_a_second_up_of_prod_changes_nothing(prod: Project) -> None:
    prod.up("prod", "--expect-no-changes").ok()


def test_destroying_prod_removes_its_files(prod: Project) -> None:
    prod.destroy("prod").ok()
    assert not list((prod.root / "rendered" / "prod").rglob("*.yaml"))
