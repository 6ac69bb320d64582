"""The files of a chart, and its copy in a directory of a repository."""

from __future__ import annotations

from pathlib import Path

from tenantry.messages.errors import Refused


def files_of(folder: Path) -> dict[str, bytes]:
    """The content of a folder's files by their path in it; empty if there is no such folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def copy(chart: Path, target: Path) -> tuple[str, ...]:
    """Make a directory contain exactly the chart's files. Returns: those that were written.

    Raises: Refused: it has files that the chart does not have, or a file cannot be written.
    """
    wanted, present = files_of(chart), files_of(target)
    if foreign := sorted(present.keys() - wanted.keys()):
        message = (
            f"{target} has files that are not the chart's ({', '.join(foreign[:3])}{', ...' if foreign[3:] else ''})"
        )
        raise Refused(message, "name another directory, or remove these files: Helm would install templates among them")
    changed = tuple(name for name, data in wanted.items() if present.get(name) != data)
    try:
        for name in changed:
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wanted[name])
    except OSError as error:
        raise Refused(f"{error.filename} cannot be written: {error.strerror}", "name another directory") from None
    return changed
