"""Files that are there in full or not at all, and how much room they take."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


def replace_text(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old text or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    Path(name).replace(path)


def replace_link(link: Path, target: str) -> None:
    """Point a link elsewhere without a moment at which there is none."""
    draft = link.with_name(f"{link.name}.new")
    draft.unlink(missing_ok=True)
    draft.symlink_to(target)
    draft.replace(link)


def size(directory: Path) -> int:
    """The bytes under a directory."""
    return sum(_sizes(directory))


def exceeds(directory: Path, limit: int) -> bool:
    """Whether there are more bytes than that under a directory; looks no further than it has to."""
    total = 0
    return any((total := total + each) > limit for each in _sizes(directory))


def _sizes(directory: Path) -> Iterator[int]:
    """Other processes may write there meanwhile, so what has gone counts as nothing."""
    try:
        entries = list(os.scandir(directory))
    except FileNotFoundError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _sizes(Path(entry.path))
        else:
            try:
                yield entry.stat(follow_symlinks=False).st_size
            except FileNotFoundError:
                continue
