"""Reads files at a commit with Git's plumbing. The repository, its index and its work tree do not change."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tenantry.messages.errors import Refused

_SECONDS = 120
_OURS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY")
"""What a hook of Git sets for a repository of its own choice; ours is the one around the fleet's file."""
_LINK = "120000"


class Repository:
    """The repository that contains a directory. Raises: Refused: no repository or no Git was found."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.prefix = self._text("rev-parse", "--show-prefix")
        """The directory as seen from the top, with a slash behind it; "" for the top itself."""

    def commit(self, revision: str) -> str | None:
        """The full hash of a revision; None: Git does not find such a commit."""
        if not revision or revision.startswith("-"):
            return None
        ended = self.run("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        return ended.stdout.decode().strip() if ended.returncode == 0 else None

    def merge_base(self, commit: str) -> str | None:
        """The merge base of HEAD and a commit; None: this clone knows none."""
        ended = self.run("merge-base", "HEAD", commit)
        return ended.stdout.decode().strip() if ended.returncode == 0 else None

    def names(self) -> list[str]:
        """Branches and tags, for completion."""
        return self._text("for-each-ref", "--format=%(refname:short)").splitlines()

    @property
    def top(self) -> Path:
        """The directory of the whole work tree."""
        return Path(self._text("rev-parse", "--show-toplevel"))

    def former_paths(self, commit: str, name: str) -> tuple[str, ...]:
        """Where a file of the directory may be at a commit that has no such file, seen from the top.

        A path that Git takes for the file's own before it was moved comes first, then all files of the same name.
        """
        moved = self.run("diff", "--find-renames", "--diff-filter=R", "--name-status", "-z", commit)
        parts = moved.stdout.decode(errors="replace").split("\0") if moved.returncode == 0 else []
        renamed = (old for _, old, new in zip(*(iter(parts),) * 3, strict=False) if new == f"{self.prefix}{name}")
        there = self.run("ls-tree", "-r", "-z", "--full-tree", "--name-only", commit)
        paths = there.stdout.decode(errors="replace").split("\0") if there.returncode == 0 else []
        return tuple(dict.fromkeys((*renamed, *(each for each in paths if each.rpartition("/")[2] == name))))

    def _text(self, *arguments: str) -> str:
        return self.checked(self.run(*arguments)).decode().removesuffix("\n")

    def checked(self, ended: subprocess.CompletedProcess[bytes]) -> bytes:
        """The command's output. Raises: Refused: it failed; with Git's own message."""
        if ended.returncode:
            if b"not a git repository" in ended.stderr:
                raise Refused(
                    f"{self.directory} is not in a Git repository", "name a file or a directory to compare with"
                )
            said = ended.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {ended.returncode}"]
            fix = "run it inside a clone, or name a file or a directory to compare with"
            raise Refused(f"git in '{self.directory}': {said[0].removeprefix('fatal: ')}", fix)
        return ended.stdout

    def run(self, *arguments: str, index: Path | None = None, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a command in the directory, and return its result even if it fails."""
        variables = {name: value for name, value in os.environ.items() if name not in _OURS}
        variables |= {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"} | ({"GIT_INDEX_FILE": str(index)} if index else {})
        settings = ("-c", "core.sparseCheckout=false", "-c", "core.fsmonitor=false")
        command = ("git", *settings, *arguments)
        try:
            return subprocess.run(
                command,
                cwd=self.directory,
                env=variables,
                input=stdin,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
        except FileNotFoundError:
            raise Refused("the command 'git' is not installed", "install Git, or name a file or a directory") from None
        except subprocess.TimeoutExpired:
            raise Refused(f"git {arguments[0]} took longer than {_SECONDS} s", "name a file or a directory") from None


class Checkout:
    """Write part of a commit below a temporary directory as `git checkout` would, with a separate index."""

    def __init__(self, repository: Repository, commit: str, into: Path) -> None:
        self.directory = into / "tree" / repository.prefix
        """What stands for the repository's directory."""
        self._repository = repository
        self._into = into
        self._do("read-tree", commit)
        listed = self._do("ls-files", "-z", "--stage", "--", ".").split(b"\0")
        self._links = any(entry.startswith(_LINK.encode()) for entry in listed)

    def take(self, patterns: Iterable[str]) -> None:
        """Write the files below the directory that match glob patterns, and possibly others."""
        # The patterns do not match the targets of symlinks, so if there are symlinks everything is written.
        specs = [":(glob)."] if self._links else [f":(glob){_wider(pattern)}" for pattern in patterns]
        if not specs:
            return
        found = self._do("ls-files", "-z", "--", *specs)
        self._do("checkout-index", "-z", "--stdin", "--force", f"--prefix={self._into / 'tree'}/", stdin=found)

    def _do(self, *arguments: str, stdin: bytes = b"") -> bytes:
        ended = self._repository.run(*arguments, index=self._into / "index", stdin=stdin)
        return self._repository.checked(ended)


def _wider(pattern: str) -> str:
    """Convert a Python glob to a Git pattern that matches at least the same files: brackets and backslashes differ."""
    plain, bracket = "", False
    for position, char in enumerate(pattern):
        if bracket:
            bracket = char != "]"
        elif char == "[" and "]" in pattern[position + 2 :]:
            plain, bracket = f"{plain}?", True
        else:
            plain += "?" if char in "[\\" else char
    return plain
