"""A fetched repository is taken as it was committed: its attributes run no filter of the user's own configuration."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tenantry.manifests import git as fetching
from tenantry.manifests.cache import Cache
from tenantry.manifests.cage import OPEN
from tenantry.manifests.git import GitSources
from tenantry.manifests.model import Options

SAVED = "name: $Id$\r\n"


@pytest.fixture(autouse=True)
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the user's filters and hooks would write; Git may use directories here."""
    mark, program, settings = tmp_path / "ran", tmp_path / "program", tmp_path / "settings"
    program.write_text(f"#!/bin/sh\necho ran >> {mark}\necho changed\n")
    program.chmod(0o755)
    attributes = tmp_path / "attributes"
    attributes.write_text("* filter=x\n")
    settings.write_text(
        f'[protocol]\n allow = always\n[filter "x"]\n smudge = {program}\n required = true\n'
        f"[core]\n autocrlf = true\n attributesFile = {attributes}\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setattr(fetching, "_SAFE", tuple(each.replace("=never", "=always") for each in fetching._SAFE))
    return mark


def repository(root: Path, **submodules: Path) -> str:
    """A repository with a file that each kind of filter would change. Returns: its commit."""
    root.mkdir()
    plain = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always", "-C", str(root))
    theirs = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}

    def git(*arguments: str) -> str:
        command = ("git", *plain, *arguments)
        return subprocess.run(command, env=theirs, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "--quiet", "--initial-branch=main", "--template=")
    (root / "web.yaml").write_text(SAVED, newline="")
    for name, source in submodules.items():
        git("submodule", "--quiet", "add", str(source), name)
    git("add", "web.yaml")
    git("commit", "--quiet", "--message", "first")
    (root / ".gitattributes").write_text("* filter=x ident text\n")
    git("add", ".gitattributes")
    git("commit", "--quiet", "--message", "attributes")
    return git("rev-parse", "HEAD")


def taken(tmp_path: Path, spec: dict[str, object], commit: str) -> Path:
    into = tmp_path / "into"
    into.mkdir()
    options = Options(cache=tmp_path / "cache", programs={"git": ("git",)}, cage=OPEN)
    GitSources(options, Cache(tmp_path / "cache"))._checkout(spec, commit, commit, into)
    return into


def test_no_filter_runs(tmp_path: Path, mark: Path) -> None:
    commit = repository(tmp_path / "theirs")
    into = taken(tmp_path, {"url": str(tmp_path / "theirs")}, commit)
    assert (into / "web.yaml").read_bytes() == SAVED.encode()
    assert not mark.exists()


def test_no_filter_runs_in_submodules(tmp_path: Path, mark: Path) -> None:
    repository(tmp_path / "inner")
    commit = repository(tmp_path / "outer", sub=tmp_path / "inner")
    into = taken(tmp_path, {"url": str(tmp_path / "outer"), "recurseSubmodules": True}, commit)
    assert (into / "sub" / "web.yaml").read_bytes() == SAVED.encode()
    assert not mark.exists()
