"""A Git repository with a fleet and our pipelines, and a change on a branch."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from tests.forge import Forge
from tests.pipeline import FILES, REPOSITORY, Pipeline

FLEET = """\
apiVersion: tenantry/v1
environments:
  prod: {management: hub-prod, after: test, protected: true}
  test: {management: hub-test}
clusters:
  hub-prod: {environments: [prod]}
  hub-test: {environments: [test]}
tenants:
  rocky:
    clusters: {all: true}
    quota: {pods: 10}
    sources: {m: {git: {url: "https://git.example.com/rocky", ref: {branch: main}}}}
    apps: {web: {kustomize: {source: m, path: ./web}}}
"""


def git(root: Path, *arguments: str) -> str:
    """Run git as nobody in particular."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    variables = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ("git", *identity, *arguments)
    return subprocess.run(command, cwd=root, env=variables, check=True, capture_output=True, text=True).stdout.strip()


def publish(root: Path, *paths: str) -> str:
    """Make a directory a repository whose main branch is on its server. Returns: the commit."""
    for name in FILES:
        (root / name).symlink_to(REPOSITORY / name)
    if not (root / ".venv").exists():
        install(root, REPOSITORY / ".venv" / "bin")
    git(root, "init", "--quiet", "--initial-branch", "main", ".")
    git(root, "add", *paths)
    git(root, "commit", "--quiet", "--message", "The fleet")
    git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(root, "checkout", "--quiet", "-b", "change")
    return git(root, "rev-parse", "HEAD")


def install(root: Path, binaries: Path) -> None:
    """Give a repository these programs, as `make setup` does."""
    (root / ".venv").mkdir()
    (root / ".venv" / "bin").symlink_to(binaries)


def commit(root: Path, file: str, old: str, new: str) -> str:
    """Commit a change of a file; what is changed has to be there once. Returns: the commit."""
    text = (root / file).read_text()
    assert text.count(old) == 1
    (root / file).write_text(text.replace(old, new))
    git(root, "commit", "--quiet", "--all", "--message", "A change")
    return git(root, "rev-parse", "HEAD")


def programs(root: Path, **bodies: str) -> Path:
    """Give a repository programs of its own in `.venv/bin`: shell scripts that first note their call. Returns: the notes."""
    binaries, notes = root / ".venv" / "bin", root.with_name("calls")
    (root / ".venv").mkdir(exist_ok=True)
    binaries.mkdir()
    for name, body in bodies.items():
        (binaries / name).write_text(f'#!/usr/bin/env bash\necho "{name} $*" >> {notes}\n{body}\n')
        (binaries / name).chmod(0o755)
    notes.touch()
    return notes


def pull_request(repository: str = "ops/fleet") -> dict[str, Any]:
    """The event of a pull request from a branch of a repository."""
    request = {"number": 12, "head": {"repo": {"full_name": repository}}}
    return {"event_name": "pull_request", "base_ref": "main", "event": {"pull_request": request}}


def push(*, by_hand: bool = False) -> dict[str, Any]:
    """The event of a merge into main, or of a run that somebody starts."""
    return {"event_name": "workflow_dispatch" if by_hand else "push", "event": {}}


def pipeline(root: Path, forge: Forge, event: dict[str, Any]) -> Pipeline:
    """The workflows of a repository without clusters."""
    return Pipeline(root, forge, dict(os.environ), event)
