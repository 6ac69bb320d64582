"""The chart as a directory of a Git repository."""

from __future__ import annotations

from pathlib import Path

from tenantry.charts.archive import files_of
from tenantry.messages.errors import Refused


def copy(chart: Path, target: Path) -> tuple[str, ...]:
    """Make a directory contain exactly the chart's files. Returns: those that were written.

    Raises: Refused: it has files that the chart does not have, or a file cannot be written.
    """
    wanted, there = files_of(chart), files_of(target)
    if others := sorted(there.keys() - wanted.keys()):
        message = (
            f"{target} has files that are not the chart's ({', '.join(others[:3])}{', ...' if others[3:] else ''})"
        )
        raise Refused(message, "name another directory, or remove these files: Helm would install templates among them")
    changed = tuple(name for name, data in wanted.items() if there.get(name) != data)
    try:
        for name in changed:
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wanted[name])
    except OSError as error:
        raise Refused(f"{error.filename} cannot be written: {error.strerror}", "name another directory") from None
    return changed
