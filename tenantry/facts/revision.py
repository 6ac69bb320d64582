"""The fleet to compare with: the same file at a Git commit, or another file, read and planned by this version's rules."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from tenantry.facts.git import Checkout, Repository
from tenantry.fleet.fleet import Fleet
from tenantry.load import load_fleet
from tenantry.messages.errors import NO_FILE, InvalidFleet, Problem, Refused
from tenantry.plan.plan import Plan
from tenantry.source.parse import read

_SHORT = 7
_MERGE_BASE = "..."


@dataclass(frozen=True, slots=True)
class Base:
    """name: what messages call it; commit: its full hash, "" for a file; exists: whether the file exists there.

    fleet: the file there; plans: by environment.
    """

    name: str
    commit: str = ""
    exists: bool = True
    fleet: Fleet | None = field(default=None, compare=False, repr=False)
    plans: Mapping[str, Plan] = field(default_factory=dict)


def load_base(
    file: Path, base: str, planner: Callable[[Fleet], Mapping[str, Plan]], *, merge_base: bool = False
) -> Base:
    """The plans of `file` as it is at `base`: a commit of its repository, another file, or a directory with such a file.

    `commit:path` is a file at a commit under another path, as for `git show`: seen from the top of the repository, or
    from the directory of `file` if it begins with `./` or `../`.

    Args:   planner: which of the fleet's plans; merge_base: use the merge base of HEAD and `base`, as `base...` does.
    Raises: InvalidFleet: problems of the base, with places in the base; Refused: the base does not exist.
    """
    merge_base, base = merge_base or base.endswith(_MERGE_BASE), base.removesuffix(_MERGE_BASE)
    if not base:
        raise Refused("BASE is empty", "name a Git revision, a file or a directory; without BASE it is HEAD")
    path = Path(base)
    if base.startswith(("./", "../", "/")):
        if not path.exists():
            raise Refused(f"{path}: no such file or directory", "name one that exists, or a Git revision", code=NO_FILE)
        return _from_path(file, path, planner, merge_base=merge_base)
    try:
        repository = Repository(file.absolute().parent)
    except Refused:
        if path.exists():
            return _from_path(file, path, planner, merge_base=merge_base)
        raise
    commit = repository.commit(base)
    if commit is None and path.exists():
        return _from_path(file, path, planner, merge_base=merge_base)
    if commit is None and ":" in base:
        return _from_other_path(repository, base, planner, merge_base=merge_base)
    if commit is None:
        if base == "HEAD":
            raise Refused("the repository has no commit yet", "commit first, or name a file or a directory")
        message = f"'{base}' is neither a commit that this clone knows nor a file or directory"
        if base.startswith(("HEAD", "@")):
            raise Refused(message, "name a commit that is there: git log --oneline")
        raise Refused(message, f"fetch it (git fetch origin {base.removeprefix('origin/')}), or correct the name")
    if path.exists():
        message = f"'{base}' is both a commit and a file or directory"
        raise Refused(message, f"write './{base}' for the path, or a longer name such as 'refs/heads/{base}'")
    return _from_commit(repository, file.name, base, commit, planner, merge_base=merge_base)


def _from_other_path(
    repository: Repository, base: str, planner: Callable[[Fleet], Mapping[str, Plan]], *, merge_base: bool
) -> Base:
    revision, _, path = base.partition(":")
    revision = revision.removesuffix(_MERGE_BASE)
    commit = repository.commit(revision)
    if commit is None:
        message = f"'{revision}' in '{base}' is not a commit that this clone knows"
        raise Refused(message, "fetch it, or correct the name; BASE:PATH names a file at a commit")
    from_here = path.startswith(("./", "../"))
    inner = os.path.normpath(f"{repository.prefix}{path}" if from_here else path)
    if not path or inner.startswith(("../", "/")) or inner in (".", ".."):
        raise Refused(
            f"'{path}' in '{base}' is not a file of the repository",
            "write the path as Git shows it: main:fleet/tenants.yaml",
        )
    from_commit = _from_commit(Repository(repository.top), inner, revision, commit, planner, merge_base=merge_base)
    if not from_commit.exists:
        raise Refused(f"{from_commit.name} has no file '{inner}'", f"see `git ls-tree -r --name-only {revision}`")
    return from_commit


def _from_path(file: Path, path: Path, planner: Callable[[Fleet], Mapping[str, Plan]], *, merge_base: bool) -> Base:
    if merge_base:
        raise Refused(
            f"{path} is not a commit, so it has no merge base", "name a Git revision, or leave --merge-base out"
        )
    base = path / file.name if path.is_dir() else path
    fleet = load_fleet(base)
    return Base(str(base), fleet=fleet, plans=planner(fleet))


def _from_commit(
    repository: Repository,
    path: str,
    revision: str,
    commit: str,
    planner: Callable[[Fleet], Mapping[str, Plan]],
    *,
    merge_base: bool,
) -> Base:
    """Args: path: of the file, seen from the repository's directory."""
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
            main = checkout.directory / path
            checkout.take([_literally(path)])
            if not main.is_file():
                return Base(name, commit, exists=False)
            above = "".join(f"{_literally(part)}/" for part in PurePosixPath(path).parent.parts)
            checkout.take([f"{above}{pattern}" for pattern in _included(main)])
            fleet = load_fleet(main)
            plans = planner(fleet)
            fleet.source.rename(lambda file: file.replace(directory, shown))
            return Base(name, commit, fleet=fleet, plans=plans)


def _included(main: Path) -> Iterator[str]:
    """The patterns of a file, without invalid ones, which the check of the file reports."""
    patterns = read(main).data.get("include")
    for entry in patterns if isinstance(patterns, list) else ():
        for pattern in (
            (entry.get("tenants"), entry.get("clusters"), entry.get("files")) if isinstance(entry, dict) else (entry,)
        ):
            if (
                isinstance(pattern, str)
                and pattern
                and not Path(pattern).is_absolute()
                and ".." not in Path(pattern).parts
            ):
                yield pattern


def _literally(name: str) -> str:
    """A file's name as a pattern that matches it, and possibly more."""
    return name.replace("*", "?").replace("[", "?")


@contextmanager
def _located_in(directory: str, name: str) -> Iterator[None]:
    """Let messages name files as Git does, `revision:path`, instead of by their temporary path."""

    def named(text: str) -> str:
        return text.replace(directory, name)

    def renamed(problem: Problem) -> Problem:
        place = replace(problem.location, file=named(problem.location.file)).within(problem.location.lines)
        notes = tuple(named(note) for note in problem.notes)
        return replace(problem, location=place, message=named(problem.message), notes=notes, fix=named(problem.fix))

    try:
        yield
    except InvalidFleet as invalid:
        raise InvalidFleet(map(renamed, invalid.diagnostics)) from None
    except Refused as refused:
        raise Refused(named(refused.message), named(refused.fix), code=refused.code) from None
