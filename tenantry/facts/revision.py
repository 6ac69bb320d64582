"""The fleet to compare with: the same file at a Git commit, or another file, read and planned by this version's rules."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from tenantry.fleet.fleet import Fleet
from tenantry.load import load_fleet
from tenantry.messages.errors import InvalidFleet, Problem, Refused
from tenantry.source.parse import GIT, MAX_BYTES, read

_SECONDS = 120
_KEPT = re.compile(
    r"GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM)"
)
"""Which of Git's variables it gets: where the user's own settings are, such as `safe.directory`. Others choose another repository,
as those of a hook do, or a program to run.
"""
_CLOSED = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_SETTINGS = tuple(
    part
    for setting in (
        *("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.attributesFile=/dev/null"),
        *("core.untrackedCache=false", "diff.external=", "maintenance.auto=false", "gc.auto=0"),
    )
    for part in ("-c", setting)
)
_LINK, _FILES = "120000", ("100644", "100755", "100664")
"""Modes of a tree."""
_LONGEST = 4096
"""The longest target of a symlink, in bytes."""
_AT_A_TIME = 500


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

    def _text(self, *arguments: str) -> str:
        return self.checked(self.run(*arguments)).decode().removesuffix("\n")

    def checked(self, ended: subprocess.CompletedProcess[bytes]) -> bytes:
        """The command's output. Raises: Refused: it failed; with Git's own message."""
        if ended.returncode:
            if b"not a git repository" in ended.stderr:
                raise Refused(
                    f"{self.directory} is not in a Git repository", "name a file or a directory to compare with"
                )
            lines = ended.stderr.decode(errors="replace").strip().splitlines() or [f"exit code {ended.returncode}"]
            fix = "run it inside a clone, or name a file or a directory to compare with"
            raise Refused(f"git in '{self.directory}': {lines[0].removeprefix('fatal: ')}", fix)
        return ended.stdout

    def run(self, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a command in the directory, and return its result even if it fails."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith("GIT_") or _KEPT.fullmatch(name)
        }
        variables = {**kept, **_CLOSED, "LC_ALL": "C"}
        command = ("git", "--no-pager", *_SETTINGS, *arguments)
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


class _Entry(NamedTuple):
    """A file of a commit. path: seen from the top."""

    mode: str
    object: str
    size: int
    path: str


class Checkout:
    """Writes part of a commit below a temporary directory, byte for byte as it was committed."""

    def __init__(self, repository: Repository, commit: str, into: Path) -> None:
        self._tree = into / "tree"
        self.directory = self._tree / repository.prefix
        """What stands for the repository's directory."""
        self._repository = repository
        listed = repository.checked(repository.run("ls-tree", "-r", "-z", "-l", "--full-tree", commit))
        below = (entry for entry in _entries(listed) if entry.path.startswith(repository.prefix))
        self._entries = {entry.path.removeprefix(repository.prefix): entry for entry in below if _is_plain(entry.path)}
        self._links = any(entry.mode == _LINK for entry in self._entries.values())

    def take(self, patterns: Iterable[str]) -> None:
        """Write the files below the directory that match glob patterns, and possibly others."""
        # Here a `*` stands for slashes too, so `**/` is only what may also be nothing.
        forms = [str(PurePosixPath(pattern)).replace("**/", "*") for pattern in patterns]
        # The patterns do not match the targets of symlinks, so if there are symlinks everything is written.
        taken = [
            entry
            for path, entry in self._entries.items()
            if forms and (self._links or any(fnmatchcase(path, form) for form in forms))
        ]
        if taken:
            # Where the repository ends: a symlink that leads out of it is refused.
            (self._tree / GIT).mkdir(parents=True, exist_ok=True)
            self._write(taken)

    def _write(self, taken: list[_Entry]) -> None:
        """Files first, so that none is written through a symlink."""
        files = [entry for entry in taken if entry.mode in _FILES]
        for entry in [file for file in files if file.size > MAX_BYTES]:
            os.truncate(self._made(entry, b""), entry.size)  # refused by its size, whatever it holds
        links = [entry for entry in taken if entry.mode == _LINK and entry.size < _LONGEST]
        for entry, content in self._contents([*(file for file in files if file.size <= MAX_BYTES), *links]):
            target = self._tree / entry.path
            if entry.mode != _LINK:
                self._made(entry, content)
            elif not os.path.lexists(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(os.fsdecode(content))

    def _made(self, entry: _Entry, content: bytes) -> Path:
        target = self._tree / entry.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        return target

    def _contents(self, entries: list[_Entry]) -> Iterator[tuple[_Entry, bytes]]:
        """The bytes of each. Git is asked for some at a time: a commit may hold more than fits into memory."""
        for first in range(0, len(entries), _AT_A_TIME):
            part = entries[first : first + _AT_A_TIME]
            asked = "".join(f"{entry.object}\n" for entry in part).encode()
            rest = memoryview(self._repository.checked(self._repository.run("cat-file", "--batch", stdin=asked)))
            for entry in part:
                # `<object> blob <size>`, the content, and a line's end; in place of all that `<object> missing`.
                head = len(f"{entry.object} blob {entry.size}\n")
                if bytes(rest[:head]) != f"{entry.object} blob {entry.size}\n".encode():
                    raise Refused(
                        f"this clone lacks the content of '{entry.path}'",
                        "fetch all of it: git fetch --refetch --no-filter",
                    )
                yield entry, bytes(rest[head : head + entry.size])
                rest = rest[head + entry.size + 1 :]


def _entries(listed: bytes) -> Iterator[_Entry]:
    for line in listed.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, _, object, size = about.decode().split()
        yield _Entry(mode, object, int(size) if size.isdigit() else 0, os.fsdecode(path))


def _is_plain(path: str) -> bool:
    """Whether a path is one that Git itself would write: trees that were made by hand can hold others."""
    parts = path.split("/")
    return not any(part in ("", ".", "..") or part.lower() == GIT for part in parts)


_SHORT = 7


@dataclass(frozen=True, slots=True)
class Base:
    """name: what messages call it; commit: its full hash, "" for a file; fleet: the file there; None: it does not exist."""

    name: str
    commit: str = ""
    fleet: Fleet | None = field(default=None, compare=False, repr=False)


def load_base(file: Path, base: str, *, merge_base: bool = False) -> Base:
    """The fleet of `file` as it is at `base`: a commit of its repository, another file, or a directory with such a file.

    Args:   merge_base: use the merge base of HEAD and `base`.
    Raises: InvalidFleet: problems of the base, with places in the base; Refused: the base does not exist.
    """
    if not base:
        raise Refused("BASE is empty", "name a Git revision, a file or a directory; without BASE it is HEAD")
    path, repository, commit = Path(base), None, None
    if not base.startswith(("./", "../", "/")):
        try:
            repository = Repository(file.absolute().parent)
        except Refused:
            if not path.exists():
                raise
        commit = repository.commit(base) if repository else None
    if repository and commit:
        if path.exists():
            message = f"'{base}' is both a commit and a file or directory"
            raise Refused(message, f"write './{base}' for the path, or a longer name such as 'refs/heads/{base}'")
        return _from_commit(repository, file.name, base, commit, merge_base=merge_base)
    if path.exists():
        if merge_base:
            message = f"{path} is not a commit, so it has no merge base"
            raise Refused(message, "name a Git revision, or leave --merge-base out")
        other = path / file.name if path.is_dir() else path
        return Base(str(other), fleet=load_fleet(other))
    message = f"'{base}' is neither a commit that this clone knows nor a file or directory"
    raise Refused(message, f"fetch it (git fetch origin {base.removeprefix('origin/')}), or correct the name")


def _from_commit(repository: Repository, file: str, revision: str, commit: str, *, merge_base: bool) -> Base:
    name = f"{revision} ({commit[:_SHORT]})"
    if merge_base:
        parted = repository.merge_base(commit)
        if parted is None:
            message = f"HEAD and {name} have no commit in common, in this clone"
            raise Refused(message, "fetch the whole history: git fetch --unshallow")
        revision, commit = parted[:_SHORT], parted
        name = f"{revision}, where HEAD branched off from {name}"
    with tempfile.TemporaryDirectory(prefix="tenantry-") as temporary:
        checkout = Checkout(repository, commit, Path(temporary))
        directory, shown = f"{checkout.directory}/", f"{revision}:{repository.prefix}"
        with _located_in(directory, shown):
            main = checkout.directory / file
            checkout.take([file.replace("*", "?").replace("[", "?")])  # a pattern that matches it, and possibly more
            if not main.is_file():
                return Base(name, commit)
            checkout.take(_included(main))
            fleet = load_fleet(main)
            fleet.source.rename(lambda file: file.replace(directory, shown))
            return Base(name, commit, fleet)


def _included(main: Path) -> Iterator[str]:
    """The patterns of a file, without invalid ones, which the check of the file reports."""
    patterns = read(main).data.get("include")
    for entry in patterns if isinstance(patterns, list) else ():
        of_entry = (entry.get("tenants"), entry.get("files")) if isinstance(entry, dict) else (entry,)
        for pattern in of_entry:
            if isinstance(pattern, str) and pattern and not {"/", ".."} & {*Path(pattern).parts}:
                yield pattern


@contextmanager
def _located_in(directory: str, name: str) -> Iterator[None]:
    """Let messages name files as Git does, `revision:path`, instead of by their temporary path."""

    def named(text: str) -> str:
        return text.replace(directory, name)

    def renamed(problem: Problem) -> Problem:
        place = replace(problem.location, file=named(problem.location.file)).within(problem.location.text)
        notes = tuple(named(note) for note in problem.notes)
        return replace(problem, location=place, message=named(problem.message), notes=notes, fix=named(problem.fix))

    try:
        yield
    except InvalidFleet as invalid:
        raise InvalidFleet(map(renamed, invalid.diagnostics)) from None
    except Refused as refused:
        raise Refused(named(refused.message), named(refused.fix), code=refused.code) from None
