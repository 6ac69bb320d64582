"""What a project's files say about its state and its provider."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.stacks.backend import backend_of, creates_by_adopting, is_self_managed
from tests.table import table


def test_the_users_backend_wins_over_the_projects(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: fleet\nbackend: {url: s3://states}\n")
    assert backend_of(tmp_path, {"PULUMI_BACKEND_URL": "file:///x"}) == "file:///x"
    assert backend_of(tmp_path, {}) == "s3://states"
    (tmp_path / "Pulumi.yaml").write_text("- ]")
    assert backend_of(tmp_path, {}) == ""


@table(
    ("backend", "expected"),
    [("file:///x", True), ("s3://b", True), ("postgres://h/d", True), ("https://api.pulumi.com", False), ("", False)],
)
def test_only_pulumi_cloud_is_managed(backend: str, *, expected: bool) -> None:
    assert is_self_managed(backend) is expected


@pytest.mark.parametrize(
    ("version", "expected"), [("4.25.0", True), ("4.28.1", True), ("4.29.0", False), ("5.0.0", False), ("", False)]
)
def test_a_provider_that_is_new_or_unknown_has_to_be_told_to_adopt(
    tmp_path: Path, version: str, *, expected: bool
) -> None:
    (tmp_path / "Pulumi.yaml").write_text("runtime: {name: python, options: {virtualenv: .venv}}\n")
    if version:
        (tmp_path / f".venv/lib/python3.12/site-packages/pulumi_kubernetes-{version}.dist-info").mkdir(parents=True)
    assert creates_by_adopting(tmp_path) is expected
