"""Directories of published files.

Files that are as they should be are not written again: publishing what has not changed changes nothing for Flux.
"""

from collections.abc import Mapping
from pathlib import Path

from tenantry.sandbox.layout import write_private


def publish(files: Mapping[str, bytes], target: Path) -> None:
    """Make the directory hold exactly these files, written in this order; unchanged files are not written."""
    for name, data in files.items():
        path = target / name
        if not path.is_file() or path.read_bytes() != data:
            write_private(path, data)
    # Backwards, so that a directory comes after what was in it.
    for path in sorted(target.rglob("*"), reverse=True):
        if path.is_dir():
            _remove_empty(path)
        elif path.relative_to(target).as_posix() not in files:
            path.unlink()


def _remove_empty(directory: Path) -> None:
    if not any(directory.iterdir()):
        directory.rmdir()
