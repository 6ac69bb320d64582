"""Files as Flux takes them from a source: regular files only, without those that its ignore rules exclude.

Symlinks are left out, as Flux does. They could point to files of this machine, whose content would appear in a difference.
"""

from __future__ import annotations

import gzip
import os
import shutil
import stat
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

from tenantry.manifests.model import NotFetched, NotRendered
from tenantry.manifests.programs import kept, run

MOST_FILES = 100_000
MOST_BYTES = 1024**3
TOO_LARGE = f"it contains more than {MOST_FILES} files or {MOST_BYTES // 2**20} MiB"
_MOST_AT_ONCE = 2**20
"""The most bytes of an archive in memory: its long names and extended headers can claim any size."""

_VCS = (".git/", ".gitignore", ".gitmodules", ".gitattributes")
_DEFAULT = (
    "*.jpg", "*.jpeg", "*.gif", "*.png", "*.wmv", "*.flv", "*.tar.gz", "*.zip", ".github/", ".circleci/", ".travis.yml",
    ".gitlab-ci.yml", "appveyor.yml", ".drone.yml", "cloudbuild.yaml", "codeship-services.yml", "codeship-steps.yml",
    "**/.goreleaser.yml", "**/.sops.yaml", "**/.flux.yaml",
)  # fmt: skip
"""What Flux leaves out if neither `ignore` nor a file `.sourceignore` says otherwise. Source: fluxcd/pkg/sourceignore."""
_FILE = ".sourceignore"


def take(tree: Path, into: Path, ignore: str | None, git: tuple[str, ...]) -> None:
    """Copy the files of a tree that Flux would take. Args: ignore: the source's own rules. Raises: NotFetched; NotRendered."""
    own = ignore.splitlines() if ignore is not None else []
    default = () if own or any(tree.rglob(_FILE)) else _DEFAULT
    paths = _chosen(tree, [*_VCS, *default], own, git)
    _copy(((path, tree / path) for path in paths), into, shutil.copyfile)


def linked(directory: Path, into: Path) -> None:
    """A copy whose files are hard links: replace a file there, never write into it."""
    files = (Path(parent) / name for parent, _, names in os.walk(directory) for name in names)
    _copy(((str(file.relative_to(directory)), file) for file in files), into, _link)


def copied(root: Path, chosen: Iterable[Path], into: Path) -> None:
    """Copy files and directories of a tree to the same places in another, without Git's own. Raises: NotFetched."""
    files = {str(file.relative_to(root)): file for path in chosen for file in _files(path)}
    _copy(
        ((name, file) for name, file in files.items() if ".git" not in PurePosixPath(name).parts), into, shutil.copyfile
    )


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    for parent, directories, names in os.walk(path):
        directories[:] = [directory for directory in directories if directory != ".git"]
        yield from (Path(parent) / name for name in names)


def directory_in(root: Path, path: str) -> Path:
    """A directory of a source, as Flux takes its path: a leading slash does not count, and `..` stops at the root.

    Raises: NotRendered: there is none.
    """
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part == "..":
            parts = parts[:-1]
        elif part not in ("/", "."):
            parts.append(part)
    directory = root.joinpath(*parts)
    if not os.path.isdir(directory):  # noqa: PTH112 (it knows no names that are too long)
        raise NotRendered(f"the source has no directory '{path}'")
    return directory


def unpack(archive: Path, into: Path) -> None:
    """Unpack a .tgz. Raises: NotFetched: it is broken, too large, or names files outside of the directory."""
    taken = 0
    try:
        with _Bounded(archive, "rb") as unzipped, tarfile.open(fileobj=unzipped, mode="r:") as opened:
            for count, member in enumerate(opened):
                taken += member.size
                if count > MOST_FILES or taken > MOST_BYTES:
                    raise NotFetched(f"the archive contains more than {MOST_FILES} files or {MOST_BYTES // 2**20} MiB")
                if member.isfile() and (content := opened.extractfile(member)):
                    target = into / _inside(member.name)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with target.open("wb") as file:
                        shutil.copyfileobj(content, file)
    except (tarfile.TarError, zlib.error, OSError, EOFError, ValueError, RecursionError) as broken:
        raise NotFetched(f"the archive cannot be unpacked: {broken}") from None


class _Bounded(gzip.GzipFile):
    """Hands out a bounded number of bytes, also of headers, which no count of files shows."""

    _taken = 0

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= _MOST_AT_ONCE:
            raise NotFetched(f"the archive has a header of more than {_MOST_AT_ONCE // 2**20} MiB")
        self._taken += size
        if self._taken > 2 * MOST_BYTES:
            raise NotFetched(f"the archive contains more than {2 * MOST_BYTES // 2**20} MiB, with its headers")
        return super().read(size)


def _inside(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise NotFetched("the archive names files outside of its directory")
    return path


def _chosen(tree: Path, low: Iterable[str], high: Iterable[str], git: tuple[str, ...]) -> Iterator[str]:
    """Git itself reads the rules: those of the source win over the files in the tree, those over Flux's defaults."""
    with tempfile.TemporaryDirectory(prefix="tenantry-") as temporary:
        empty, rules = Path(temporary, "empty"), Path(temporary, "rules")
        rules.write_text("\n".join(low))
        variables = {"HOME": temporary, "GIT_CONFIG_NOSYSTEM": "1", **kept("TMPDIR")}
        run([*git, "init", "--quiet", "--bare", "--template=", str(empty)], tree, variables)
        settings = (f"--git-dir={empty}", "--work-tree=.", "-c", "core.fsmonitor=false")
        order = (f"--exclude-from={rules}", f"--exclude-per-directory={_FILE}", *(f"--exclude={each}" for each in high))
        listed = run([*git, *settings, "ls-files", "--others", "-z", *order, "--", "."], tree, variables)
    for path in filter(None, listed.decode(errors="surrogateescape").split("\0")):
        # A repository within the tree, such as a submodule, is listed as a directory.
        yield from _below(tree, path) if path.endswith("/") else (path,)


def _below(tree: Path, path: str) -> Iterator[str]:
    for parent, directories, names in os.walk(tree / path):
        directories[:] = [directory for directory in directories if directory != ".git"]
        yield from (str((Path(parent) / name).relative_to(tree)) for name in names if name not in _VCS)


def _copy(files: Iterable[tuple[str, Path]], into: Path, copy: Callable[[Path, Path], object]) -> None:
    taken = 0
    for count, (path, file) in enumerate(files):
        about = file.lstat()
        if not stat.S_ISREG(about.st_mode):
            continue
        taken += about.st_size
        if count > MOST_FILES or taken > MOST_BYTES:
            raise NotFetched(TOO_LARGE)
        target = into / path
        target.parent.mkdir(parents=True, exist_ok=True)
        copy(file, target)


def _link(file: Path, target: Path) -> None:
    try:
        os.link(file, target)
    except OSError:  # another file system
        shutil.copyfile(file, target)
