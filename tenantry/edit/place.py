"""In which file of a fleet a path is declared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath

from tenantry.edit.document import Document
from tenantry.fleet.frames import PARTS, SELECTOR
from tenantry.messages.errors import Path

_OF_TEAMS = (*PARTS, SELECTOR)
"""Keys of a tenant that its included file can always declare."""


def declaring(main: FilePath, documents: Mapping[FilePath, Document], path: Path) -> Document:
    """The file that declares a path; where none does, the one that should.

    That is the one that declares most of the path. If several do, a tenant's apps and what belongs to them go to the file
    that its team owns, and everything else goes to the main file.
    """
    depths = {file: document.depth(path) for file, document in documents.items()}
    most = max(depths.values())
    deepest = [file for file, depth in depths.items() if depth == most]
    if most < 2 or (main in deepest and not _is_of_team(path)):
        return documents[main]
    return documents[next((file for file in deepest if file != main), main)]


def _is_of_team(path: Path) -> bool:
    return path[:1] == ("tenants",) and len(path) > 2 and path[2] in _OF_TEAMS
