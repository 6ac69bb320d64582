"""Patterns of files."""

from __future__ import annotations

from glob import glob
from pathlib import Path

import pytest

from tenantry.source import include
from tenantry.source.include import TooManyFiles, matching

FILES = ("a.yaml", "b.yml", ".hidden.yaml", "t/a.yaml", "t/u/a.yaml", "t/.git/a.yaml", "t/[x].yaml", "é/a.yaml")


@pytest.fixture(autouse=True)
def _files(tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()


@pytest.mark.parametrize(
    "pattern",
    [
        "*",
        "*.yaml",
        "*.y*ml",
        "t/*.yaml",
        "t/a.yaml",
        "t",
        "?.yaml",
        "[!b].yaml",
        "t/[[]x].yaml",
        "*/*/*",
        "**/a.yaml",
        "**",
        "**/u/*",
        "t/**/a.yaml",
        ".*",
        "t/.git/*",
        ".hidden.yaml",
        "gone/*",
        "gone.yaml",
        "a.yaml/*",
        "[a-",
        "é/*",
    ],
)
def test_a_pattern_takes_what_pythons_own_glob_takes(pattern: str, tmp_path: Path) -> None:
    expected = sorted(glob(pattern, root_dir=tmp_path, recursive=True))  # noqa: PTH207  # what it is compared with
    assert expected == matching(pattern, tmp_path)


@pytest.mark.parametrize("pattern", ["./t/./a.yaml", "t//a.yaml", "**/**/t/a.yaml"])
def test_a_file_has_one_path_however_it_is_asked_for(pattern: str, tmp_path: Path) -> None:
    assert ["t/a.yaml"] == matching(pattern, tmp_path)


def test_stars_for_directories_enter_no_link_that_might_lead_back(tmp_path: Path) -> None:
    (tmp_path / "t/back").symlink_to("..")
    assert ["a.yaml", "t/a.yaml", "t/u/a.yaml", "é/a.yaml"] == matching("**/a.yaml", tmp_path)
    assert ["t/back/a.yaml", "t/u/a.yaml"] == matching("t/*/a.yaml", tmp_path)


@pytest.mark.parametrize("pattern", ["*/" * 20 + "x", "*/" * 40 + "x", "x/" * 40 + "x"])
def test_a_pattern_without_end_is_refused_where_links_lead_back(
    pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(include, "MAX_ENTRIES", 1000)
    for name in ("x", "y"):
        (tmp_path / name).symlink_to(".")
    with pytest.raises(TooManyFiles):
        matching(pattern, tmp_path)
