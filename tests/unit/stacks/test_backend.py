"""What a project's files say about its state."""

from __future__ import annotations

from pathlib import Path

from tenantry.stacks.file import backend_of, is_self_managed
from tests.table import table


def test_the_users_backend_wins_over_the_projects(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: fleet\nbackend: {url: s3://states}\n")
    assert backend_of(tmp_path, {"PULUMI_BACKEND_URL": "file:///x"}) == "file:///x"
    assert backend_of(tmp_path, {}) == "s3://states"
    (tmp_path / "Pulumi.yaml").write_text("name: fleet\n")
    assert backend_of(tmp_path, {}) == ""


@table(
    ("backend", "expected"),
    [("file:///x", True), ("s3://b", True), ("postgres://h/d", True), ("https://api.pulumi.com", False), ("", False)],
)
def test_only_pulumi_cloud_is_managed(backend: str, *, expected: bool) -> None:
    assert is_self_managed(backend) is expected
