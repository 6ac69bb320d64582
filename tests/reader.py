"""Somebody who follows a page of the documentation, command by command."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tenantry.cli.app import run
from tests.blocks import ROOT, Block, is_shown
from tests.documented_projects import PROJECTS

_TENANTRY = re.compile(r"(?:\.venv/bin/)?tenantry\b")
_REST = re.compile(r"""(?:[^|<>&;'"]|'[^']*'|"[^"]*")*?(?=\s\d?[|<>])""")
SAFE = ("cd", "git", "while", ".ci/review")
"""First words of other commands that the fast tests run: nothing here contacts a cluster or another machine."""


class Difference(NamedTuple):
    """What a page shows, and what the command printed instead."""

    block: Block
    command: str
    shown: str
    printed: str


class Reader:
    """Somebody who follows a page, command by command, in a project of their own."""

    runs = "here"
    """Which blocks are run: those whose comment says so."""

    def __init__(self, root: Path, captured: Callable[[], tuple[str, str]]) -> None:
        """Args: captured: what this process has printed since it was last asked, to stdout and to stderr."""
        self.begun: dict[str, Path] = {}
        self.differences: list[Difference] = []
        self.root, self.here, self.captured, self.projects = root, root, captured, 0

    def follow(self, block: Block) -> None:
        if project := block.notes.get("starts"):
            self.start(project)
        if file := block.notes.get("writes"):
            (self.here / file).parent.mkdir(parents=True, exist_ok=True)
            (self.here / file).write_text(block.text, encoding="utf-8")
        if file := block.notes.get("merges"):
            _merge(self.here / file, block.text)
        if file := block.notes.get("patches"):
            _patch(self.here / file, block.text)
        if block.runs == self.runs:
            self.run(block)

    def start(self, project: str) -> None:
        """Begin with a new project, whose files are committed, and the commit is origin/main too."""
        committed, changed = PROJECTS[project]
        self.projects += 1
        self.here = root = self.root / f"{self.projects}"
        if kept := self.begun.get(project):
            shutil.copytree(kept, root, symlinks=True)
        else:
            root.mkdir()
            committed(root)
            _commit(root)
            self.begun[project] = shutil.copytree(root, self.root / f"kept-{project}", symlinks=True)
        changed(root)
        os.chdir(root)

    def run(self, block: Block) -> None:
        commands = list(block.commands())
        for at, (command, shown) in enumerate(commands):
            code, printed = self.printed(command)
            place = f"{block.place}: $ {command}\n{printed}"
            skipped = not shown or command.startswith("make ") or "example" in block.notes
            if not skipped and not is_shown(shown, printed):
                self.differences.append(Difference(block, command, shown, printed))
            expected = int(block.notes.get("exits", 0)) if at == len(commands) - 1 else 0
            assert code == expected or (code == 1 and re.search(r"tenantry (diff|status)", command)), (
                f"{place}\nends with {code}"
            )

    def printed(self, command: str) -> tuple[int, str]:
        """The exit code of a command, and what it prints. Tenantry itself runs in this process, which is quick."""
        if command.startswith("make "):
            return shell(f"make -C {ROOT} --dry-run --no-print-directory {command[5:]} >/dev/null")
        own = _TENANTRY.match(command)
        assert own or command.split()[0] in SAFE, f"{command}: say above the block who runs it"
        if command.startswith("cd "):
            os.chdir(command[3:])
            return 0, ""
        if not own or re.search(r"&&|;|\$\(|\\\n", command):
            return shell(command)
        head = _REST.match(command)
        words = head.group() if head else command
        self.captured()
        code = run(shlex.split(words)[1:])
        out, err = self.captured()
        rest = command[len(words) :]
        if rest.strip():
            _, out = shell(f"cat {rest.replace('2>/dev/null', '')}", out)
        return code, out + ("" if "2>/dev/null" in rest else err)


def _commit(root: Path) -> None:
    for command in (
        "init --quiet --template= --initial-branch main",
        "add --all",
        "commit --quiet --allow-empty --message Base",
        "update-ref refs/remotes/origin/main HEAD",
    ):
        subprocess.run(["git", "-C", str(root), *command.split()], check=True)


def _merge(file: Path, text: str) -> None:
    old = yaml.safe_load(file.read_text(encoding="utf-8"))
    file.write_text(yaml.safe_dump(_merged(old, yaml.safe_load(text)), sort_keys=False))


def _merged(old: Any, new: Any, key: str = "") -> Any:
    """What somebody makes of a file who adds a block of a page to it."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old | {name: _merged(old.get(name), value, name) for name, value in new.items()}
    return [*old, *new] if key == "overrides" and old else new


def _patch(file: Path, text: str) -> None:
    """Put the lines with `+` in place of those with `-`; lines with neither must stand around them."""
    old, new = (
        "".join(line[1:] for line in text.splitlines(keepends=True) if line[0] in signs) for signs in (" -", " +")
    )
    before = file.read_text(encoding="utf-8")
    assert before.count(old) == 1, f"{file} has {before.count(old)} times:\n{old}"
    file.write_text(before.replace(old, new), encoding="utf-8")


def shell(command: str, stdin: str = "") -> tuple[int, str]:
    done = subprocess.run(["bash", "-c", command], input=stdin, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout + done.stderr
