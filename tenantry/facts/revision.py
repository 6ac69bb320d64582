"""The fleet to compare with: the same file at a Git commit, or another file, read and planned by this version's rules."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tenantry.facts.git import Checkout, Repository
from tenantry.fleet.fleet import Fleet
from tenantry.load import load_fleet
from tenantry.messages.errors import InvalidFleet, Problem, Refused
from tenantry.source.parse import read

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
        place = replace(problem.location, file=named(problem.location.file)).within(problem.location.lines)
        notes = tuple(named(note) for note in problem.notes)
        return replace(problem, location=place, message=named(problem.message), notes=notes, fix=named(problem.fix))

    try:
        yield
    except InvalidFleet as invalid:
        raise InvalidFleet(map(renamed, invalid.diagnostics)) from None
    except Refused as refused:
        raise Refused(named(refused.message), named(refused.fix), code=refused.code) from None
