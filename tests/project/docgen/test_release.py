"""What `make release` builds."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import tenantry
from docgen.release import ROOT, NoRelease, bill_of_materials, build_twice, checksums, run, version


def test_checksums_name_each_file_once_as_sha256sum_reads_them(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("b")
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "SHA256SUMS").write_text("of before")
    a, b = (hashlib.sha256(text).hexdigest() for text in (b"a", b"b"))
    (tmp_path / "SHA256SUMS").write_text(text := checksums(tmp_path))
    assert text == f"{a}  a.txt\n{b}  b.txt\n"
    assert run(["sha256sum", "--check", "SHA256SUMS"], tmp_path) == "a.txt: OK\nb.txt: OK\n"


def test_the_bill_of_materials_is_the_same_again_and_names_what_users_install() -> None:
    text = bill_of_materials(ROOT)
    assert text == bill_of_materials(ROOT)
    names = {component["name"] for component in json.loads(text)["components"]}
    assert {"pulumi", "pulumi-kubernetes", "pydantic", "httpx2", "dulwich"} <= names
    assert not {"pytest", "ruff", "mypy"} & names


def test_a_release_is_a_commit(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("committed")
    run(["git", "init", "--quiet"], tmp_path)
    run(["git", "add", "."], tmp_path)
    run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "a"], tmp_path)
    (tmp_path / "file").write_text("changed")
    with pytest.raises(NoRelease, match=r"these files are not committed:\s+M file"):
        build_twice(tmp_path, tmp_path / "dist")
    assert not (tmp_path / "dist").exists()


def test_what_fails_is_named_with_what_it_prints(tmp_path: Path) -> None:
    with pytest.raises(NoRelease, match=r"`git log` ends with 128:\nfatal: not a git repository"):
        run(["git", "log"], tmp_path)


def test_the_distributions_and_their_dependency_have_one_version() -> None:
    sandbox = (ROOT / "sandbox" / "pyproject.toml").read_text()
    assert f'version = "{version(ROOT)}"' in sandbox
    assert f'"tenantry=={version(ROOT)}"' in sandbox
    assert tenantry.__version__ == version(ROOT)
