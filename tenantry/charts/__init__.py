"""The Helm charts that come with Tenantry, and the files of any chart.

`objects` installs what the plan puts into its values: the baselines of tenants on remote clusters. `bootstrap --chart` writes it
into a directory, and the sandbox serves it. Nothing here reads a fleet.
"""

from pathlib import Path

OBJECTS = Path(__file__).resolve().parent / "objects"


def files_of(folder: Path) -> dict[str, bytes]:
    """The content of a folder's files by their path in it; empty if there is no such folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
